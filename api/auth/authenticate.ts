/**
 * Who sent a request. The order keeps a flood of unsigned or badly signed requests from costing the
 * database a write: headers, key, clock, signature, and only then the nonce, which a bad signature
 * therefore never uses up.
 */
import { agentNamespace, type Caller } from '../../domain/roles.ts';
import type { SignedRequest } from '../http/signed-request.ts';
import type { RateWindow } from '../../store/request-nonces.ts';
import { canonicalString } from './canonical.ts';
import { readCredentials } from './credentials.ts';
import type { KeyRing } from './key-ring.ts';
import type { NonceDesk } from './nonce-desk.ts';
import { AuthenticationError } from './refusal.ts';
import { assertKnown, assertSigned } from './verify.ts';

export interface AuthenticatorOptions {
  readonly keys: KeyRing;
  readonly nonces: NonceDesk;
  /** Called with the request's place in its key's rate window, where that was counted. */
  readonly counted?: (caller: Caller, window: RateWindow) => void;
  /** How far a timestamp may be from this process's clock, either way, in seconds. */
  readonly maxSkewSeconds: number;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/**
 * Returns the caller, or throws an {@link AuthenticationError}; a database fault passes through.
 */
export function createAuthenticator(
  options: AuthenticatorOptions,
): (request: SignedRequest) => Promise<Caller> {
  const { keys, nonces, counted, maxSkewSeconds, now = Date.now } = options;
  return async ({ method, target, headers, body }) => {
    const { keyId, timestamp, nonce, signature } = readCredentials(headers);
    const secret = await keys.secretOf(keyId);
    const text = canonicalString({
      method,
      path: target.path,
      query: target.query,
      body,
      timestamp,
      nonce,
    });
    assertSigned({ keyId, secret, text, signature, timestamp }, { maxSkewSeconds, now: now() });
    const taken = await nonces.take({ key_id: keyId, nonce });
    if (taken === null) throw new AuthenticationError('key_revoked', keyId);
    if (!taken.fresh) throw new AuthenticationError('nonce_replayed', keyId);
    const { client_id, role, authority_key, window } = taken;
    const caller: Caller = {
      client_id,
      key_id: keyId,
      role,
      ...(authority_key === null ? {} : { namespace: agentNamespace(authority_key) }),
    };
    if (window != null) counted?.(caller, window);
    return caller;
  };
}

/**
 * Throws the {@link AuthenticationError} that an authenticator would, as far as it is known before
 * the body is read: of the headers, the key and the clock.
 */
export function createRecogniser({
  keys,
  maxSkewSeconds,
  now = Date.now,
}: Omit<AuthenticatorOptions, 'nonces' | 'counted'>): (
  headers: SignedRequest['headers'],
) => Promise<void> {
  return async (headers) => {
    const { keyId, timestamp } = readCredentials(headers);
    const secret = await keys.secretOf(keyId);
    assertKnown({ keyId, secret, timestamp }, { maxSkewSeconds, now: now() });
  };
}
