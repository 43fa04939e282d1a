/**
 * Ids by which Coinbase refuses a request before it does anything (docs/coinbase-facts.md, 13.1).
 * Every other id leaves the outcome unknown (13.2): ids "can be added and removed", and a server
 * error was recorded on sends.
 */
const KEY = 'EXCHANGE_KEY_REFUSED';
const INVALID = 'EXCHANGE_REFUSED';
const ACCOUNT = 'ACCOUNT_NOT_ALLOWED';

export const COINBASE_REFUSALS: Readonly<Record<string, string>> = {
  two_factor_required: KEY,
  param_required: INVALID,
  validation_error: INVALID,
  invalid_request: INVALID,
  personal_details_required: ACCOUNT,
  identity_verification_required: ACCOUNT,
  jumio_verification_required: ACCOUNT,
  jumio_face_match_verification_required: ACCOUNT,
  unverified_email: ACCOUNT,
  authentication_error: KEY,
  unauthorized: KEY,
  invalid_token: KEY,
  revoked_token: KEY,
  expired_token: KEY,
  invalid_authentication_method: KEY,
  invalid_scope: KEY,
  not_found: 'ACCOUNT_UNKNOWN',
  PERMISSION_DENIED: KEY,
};

/** Coinbase limits the key. It names no pause (17). */
export const COINBASE_RATE_LIMITS: readonly string[] = [
  'rate_limit_exceeded',
  'resource_exhausted',
];
