/** Which UNKNOWN nodes have a send of which their executor last reported that the venue has it. */
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

/** Returns whether the executor of an UNKNOWN node last reported that the venue has its send. */
export function isAtVenue({
  state,
  error_code,
}: {
  readonly state: NodeState;
  readonly error_code: string | null;
}): boolean {
  return state === 'UNKNOWN' && saysAtVenue(error_code);
}

/** Returns whether a code is one of {@link AT_VENUE_CODES}, which silence does not replace. */
export function saysAtVenue(error_code: string | null | undefined): error_code is string {
  return AT_VENUE_CODES.includes(error_code ?? '');
}
