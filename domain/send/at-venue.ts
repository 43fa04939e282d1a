/** Which UNKNOWN nodes have a send of which their executor last reported that the venue has it. */
import { SEND_UNDER_WAY, WITHDRAWAL_FEE_ABOVE_LIMIT } from '../attention-reasons.ts';
import type { NodeState } from '../states/node.ts';

/** Codes of a withdrawal's record that is there and is not as planned; the record has an id. */
export const PAID_OTHERWISE: readonly string[] = [
  WITHDRAWAL_FEE_ABOVE_LIMIT,
  'WITHDRAWAL_MISMATCH',
];
/** Codes of several records of one send; none of them is named. */
export const PAID_TWICE: readonly string[] = ['WITHDRAWAL_DUPLICATED', 'TRANSFER_DUPLICATED'];
/** Codes of a payment or credit that is there, with another amount than was sent. */
export const ARRIVED_OTHERWISE: readonly string[] = [
  'LEDGER_ROW_MISMATCH',
  'DEPOSIT_AMOUNT_MISMATCH',
];

/**
 * Codes of an UNKNOWN node whose send the venue has or has paid, so that it cannot be called
 * failed. The SQL function `is_at_venue` has the same list.
 */
export const AT_VENUE_CODES: readonly string[] = [
  SEND_UNDER_WAY,
  ...PAID_OTHERWISE,
  ...PAID_TWICE,
  ...ARRIVED_OTHERWISE,
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
