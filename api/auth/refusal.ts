/**
 * Why a request is not authenticated. Callers learn only that the request is not authenticated;
 * log, metric and audit have the reason.
 */
import { ServiceError } from '../../domain/errors.ts';

export const REFUSAL_REASONS = [
  'header_missing',
  'header_repeated',
  'header_malformed',
  'key_unknown',
  'timestamp_out_of_range',
  'signature_mismatch',
  'nonce_replayed',
  'nonce_not_issued',
  'nonce_expired',
  'key_revoked',
  'session_unknown',
  'session_repeated',
  'session_cross_site',
] as const;
export type RefusalReason = (typeof REFUSAL_REASONS)[number];

/** Error `unauthenticated` with its reason, and with the key id if the key exists here. */
export class AuthenticationError extends ServiceError {
  readonly reason: RefusalReason;
  readonly keyId: string | null;
  constructor(reason: RefusalReason, keyId: string | null = null) {
    super('unauthenticated');
    this.reason = reason;
    this.keyId = keyId;
  }
}
