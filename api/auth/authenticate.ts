/**
 * Authenticates requests. The order of checks keeps a flood of unsigned or badly signed requests
 * from causing database writes: headers, key, clock, signature, and only then the nonce. A bad
 * signature therefore never uses up a nonce.
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
  /** Called with the request's position in its key's rate window, where requests are counted. */
  readonly counted?: (caller: Caller, window: RateWindow) => void;
  /** Maximum seconds between a timestamp and this process's clock, before or after. */
  readonly maxSkewSeconds: number;
  /** Current time in milliseconds since the epoch. */
  readonly now?: () => number;
}

/**
 * Returns a function that returns the caller, or throws an {@link AuthenticationError}; a database
 * fault passes through.
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
    const { client_id, role, authority_key, window, checked_at } = taken;
    const caller: Caller = {
      client_id,
      key_id: keyId,
      role,
      checked_at,
      ...(authority_key === null ? {} : { namespace: agentNamespace(authority_key) }),
    };
    if (window != null) counted?.(caller, window);
    return caller;
  };
}

/**
 * Returns a function that throws the {@link AuthenticationError} of an authenticator as far as
 * headers, key and clock show it, before the body is read.
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
