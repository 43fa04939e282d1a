/** The errors with which Coinbase refuses, in its two forms (docs/coinbase-facts.md, 13). */
import type { WireAnswer } from '../format.ts';
import type { RefusalKind } from '../refusal.ts';

/** Where no source shows Coinbase's id, the id here starts with `unproven`, and proves nothing. */
const REFUSALS: Readonly<Record<RefusalKind, readonly [id: string, text: string]>> = {
  key_unknown: ['authentication_error', 'Invalid auth'],
  signature: ['authentication_error', 'Invalid auth'],
  clock: ['authentication_error', 'request timestamp expired'],
  nonce: ['authentication_error', 'request timestamp expired'],
  permission: ['invalid_scope', 'Invalid scope'],
  endpoint_unknown: ['not_found', 'Not found'],
  parameter_missing: ['param_required', 'Missing parameter'],
  parameter_invalid: ['validation_error', 'Unable to validate POST/PUT'],
  unknown_asset: ['validation_error', 'Unable to validate POST/PUT'],
  // Recorded on a send; whether another network is refused or replaced is unproven (21).
  unknown_network: ['internal_server_error', 'An internal error has occurred.'],
  unknown_account: ['not_found', 'Not found'],
  master_only: ['invalid_scope', 'Invalid scope'],
  suspended: ['unproven_suspended', 'Sends are suspended.'],
  held: ['unproven_held', 'Sends are on hold.'],
  address_unknown: ['validation_error', 'Please enter a valid email or bitcoin address'],
  address_not_listed: ['unproven_allowlist', 'The address is not on the allowlist.'],
  tag_missing: ['validation_error', 'Unable to validate POST/PUT'],
  below_minimum: ['validation_error', 'Invalid amount'],
  above_maximum: ['unproven_maximum', 'The amount is too large.'],
  precision: ['unproven_precision', 'The amount has too many decimals.'],
  fee_above_limit: ['unproven_fee', 'The fee is too high.'],
  quota: ['unproven_limit', 'The amount is above the limit of sends.'],
  insufficient_funds: [
    'unproven_funds',
    "You don't have enough funds in this account for this transaction. Please try again with a smaller amount.",
  ],
  not_found: ['not_found', 'Not found'],
};
/** The v3 calls have words of their own. */
const V3_REFUSALS: Partial<typeof REFUSALS> = {
  permission: ['PERMISSION_DENIED', 'Missing required scopes'],
  endpoint_unknown: ['NOT_FOUND', 'Not found'],
  parameter_missing: ['INVALID_ARGUMENT', 'Missing parameter'],
  parameter_invalid: ['INVALID_ARGUMENT', 'Invalid parameter'],
  not_found: ['NOT_FOUND', 'Not found'],
};
/** Of all other ids: 400. */
const STATUSES: Readonly<Record<string, number>> = {
  authentication_error: 401,
  unauthorized: 401,
  invalid_token: 401,
  revoked_token: 401,
  expired_token: 401,
  invalid_authentication_method: 401,
  two_factor_required: 402,
  invalid_scope: 403,
  PERMISSION_DENIED: 403,
  not_found: 404,
  NOT_FOUND: 404,
  rate_limit_exceeded: 429,
  resource_exhausted: 429,
  internal_server_error: 500,
};

/** An error of Coinbase, in the form in which such an id comes. */
export function wire(id: string, message: string): WireAnswer {
  const isV3 = id === 'unknown' || /^[A-Z_]+$/.test(id);
  return {
    status: STATUSES[id] ?? 400,
    body: isV3 ? { error: id, error_details: message, message } : { errors: [{ id, message }] },
  };
}

/** Coinbase's answer for a refusal of a path. */
export function refusal(kind: RefusalKind, detail: string, path: string): WireAnswer {
  const own = path.startsWith('/api/v3/') ? V3_REFUSALS[kind] : undefined;
  const [id, text] = own ?? REFUSALS[kind];
  return wire(id, detail === '' ? text : `${text} ${detail}`);
}
