/**
 * Who sent a request. The order keeps a flood of unsigned or badly signed requests from costing the
 * database a write: headers, key, clock, signature, and only then the nonce, which a bad signature
 * therefore never uses up.
 */
import { createSecretKey, randomBytes, timingSafeEqual } from 'node:crypto';
import { agentNamespace, type Caller } from '../../domain/roles.ts';
import type { SignedRequest } from '../app.ts';
import { signatureOf } from './canonical.ts';
import { readCredentials } from './credentials.ts';
import type { KeyRing } from './key-ring.ts';
import type { NonceDesk } from './nonce-desk.ts';
import { AuthenticationError } from './refusal.ts';

export interface AuthenticatorOptions {
  readonly keys: KeyRing;
  readonly nonces: NonceDesk;
  /** How far a timestamp may be from this process's clock, either way, in seconds. */
  readonly maxSkewSeconds: number;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** Answers the caller, or throws an {@link AuthenticationError}; a database fault passes through. */
export function createAuthenticator(options: AuthenticatorOptions): (request: SignedRequest) => Promise<Caller> {
  const { keys, nonces, maxSkewSeconds, now = Date.now } = options;
  // An unknown key costs what a known one does, so that time does not tell them apart.
  const nobody = createSecretKey(randomBytes(32));
  return async ({ method, target, headers, body }) => {
    const { keyId, timestamp, nonce, signature } = readCredentials(headers);
    const secret = await keys.secretOf(keyId);
    const expected = signatureOf(secret ?? nobody, { method, path: target.path, query: target.query, body, timestamp, nonce });
    const fits = timingSafeEqual(expected, signature);
    if (secret === null) throw new AuthenticationError('key_unknown');
    if (Math.abs(Math.floor(now() / 1000) - Number(timestamp)) > maxSkewSeconds) {
      throw new AuthenticationError('timestamp_out_of_range', keyId);
    }
    if (!fits) throw new AuthenticationError('signature_mismatch', keyId);
    const taken = await nonces.take({ key_id: keyId, nonce });
    if (taken === null) throw new AuthenticationError('key_revoked', keyId);
    if (!taken.fresh) throw new AuthenticationError('nonce_replayed', keyId);
    const { client_id, role, authority_key } = taken;
    return { client_id, key_id: keyId, role, ...(authority_key === null ? {} : { namespace: agentNamespace(authority_key) }) };
  };
}
