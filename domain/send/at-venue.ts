/**
 * Which sends cannot be called failed: the last answer says that the venue has it, or the last look
 * could not see it.
 */
import { SEND_UNDER_WAY, WITHDRAWAL_FEE_ABOVE_LIMIT } from '../attention-reasons.ts';
import type { NodeState } from '../states/node.ts';

/**
 * Codes of an exchange's record that is there and is not as planned, or of several of one send. An
 * answer with a record's id says that it was paid.
 */
export const PAID_OTHERWISE: readonly string[] = [
  WITHDRAWAL_FEE_ABOVE_LIMIT,
  'WITHDRAWAL_MISMATCH',
  'TRANSFER_MISMATCH',
  'WITHDRAWAL_DUPLICATED',
  'TRANSFER_DUPLICATED',
];
/** Codes of a payment or credit that is there, with another amount than was sent. */
export const ARRIVED_OTHERWISE: readonly string[] = [
  'LEDGER_ROW_MISMATCH',
  'DEPOSIT_AMOUNT_MISMATCH',
];
/**
 * Codes of a send that its executor has: it reported COMPLETED, and the claim was refused, or its
 * burn is mined, and what is attested is not that burn.
 */
const CLAIM_REFUSED: readonly string[] = [
  'ATTESTATION_MISMATCH',
  'ALREADY_CLAIMED',
  'CLAIM_MISSING',
];

/**
 * Codes of an UNKNOWN node whose send the venue has or has paid, so that it cannot be called
 * failed. The SQL function `is_at_venue` has the same list.
 */
export const AT_VENUE_CODES: readonly string[] = [
  SEND_UNDER_WAY,
  ...PAID_OTHERWISE,
  ...ARRIVED_OTHERWISE,
  ...CLAIM_REFUSED,
];

/**
 * Code of an answer for which the venue's history no longer reaches back far enough. It takes
 * nothing back of what an earlier answer has shown.
 */
export const HISTORY_TOO_OLD = 'HISTORY_TOO_OLD';

/**
 * Code of a look that cannot see the send: its venue key means another account, or another entry of
 * a bridge, than where it was sent. While that is the last word, no one can call the send failed,
 * since a retry would pay from another account what the first may have paid. Any later look that
 * has compared the entries replaces it ({@link hasCompared}). The SQL functions `unsettled_send`,
 * `apply_transition` and `apply_transfer_step` read this code.
 */
export const VENUE_ENTRY_CHANGED = 'VENUE_ENTRY_CHANGED';

/**
 * Codes of a look that may have ended before it compared the entries, so it does not replace that
 * code: no entry was found, or the node could not be read by the present ones. Or the process with
 * the keys did not answer, or means another account: its file may be the one that has changed. Or
 * the program itself broke. A new code that a look may throw before it compares belongs here.
 */
const COMPARED_NOTHING: readonly string[] = [
  'EXECUTOR_MISSING',
  'SIGNER_MISSING',
  'SIGNER_UNREACHABLE',
  'CONFIG_INVALID',
  'VENUE_NOT_BOUND',
  'CHAIN_NOT_CONFIGURED',
  'BRIDGE_ROUTE_MISSING',
  'TOKEN_ASSET_MISMATCH',
  'DESTINATION_TOKEN_MISSING',
  'BURN_UNKNOWN',
  'VENUE_MISMATCH',
  'EXECUTOR_UNREACHABLE',
  'EXECUTOR_TIMEOUT',
  'EXECUTOR_PROTOCOL_ERROR',
  'EXECUTOR_BROKE',
  'TOKEN_UNREADABLE',
];

/** Returns whether a look with this fault has compared the venue entry with that of the send. */
export function hasCompared({ code }: { readonly code: string }): boolean {
  return !COMPARED_NOTHING.includes(code);
}

/** Returns whether a person may call an UNKNOWN node failed, by what its last look has shown. */
export function mayHaveFailed({
  state,
  error_code,
}: {
  readonly state: NodeState;
  readonly error_code: string | null;
}): boolean {
  return state === 'UNKNOWN' && error_code !== VENUE_ENTRY_CHANGED && !saysAtVenue(error_code);
}

/** Returns whether a code is one of {@link AT_VENUE_CODES}, which silence does not replace. */
export function saysAtVenue(error_code: string | null | undefined): error_code is string {
  return AT_VENUE_CODES.includes(error_code ?? '');
}
