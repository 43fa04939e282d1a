/** When a nonce that another transaction used means that a payment is missing. */
import { isDoneByOthers, type OpenClaim } from '../../../domain/lanes/duties.ts';

const OWN = `0x${'1'.repeat(64)}`;
const OTHER = `0x${'2'.repeat(64)}`;
const claim = (proven: boolean, node_ref: string | null): OpenClaim =>
  ({ proven, node_ref, versions: [{ tx_hash: null }, { tx_hash: OWN }] }) as unknown as OpenClaim;

test.each([
  ['by a transaction of another account', true, OTHER, true],
  ['by its own transaction', true, OWN, false],
  ['with the reference of a venue', true, 'payout-7', false],
  ['without a reference', true, null, false],
  ['by nothing that was seen', false, OTHER, false],
])('a node that was completed %s', (_how, proven, reference, expected) => {
  expect(isDoneByOthers(claim(proven, reference))).toBe(expected);
});
