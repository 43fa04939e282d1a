/** Which address a signer should have and which it has. Pure: callers bring both values. */
import { readEvmAddress, type AddressReading } from '../platform/evm-address.ts';

export const IDENTITY_STATES = [
  'match',
  'mismatch',
  'unpinned',
  'unobserved',
  'not_applicable',
] as const;
export type IdentityState = (typeof IDENTITY_STATES)[number];

/**
 * Normalises an operator's pin or a runtime identity to its checksummed form. A pin with a wrong
 * checksum counts as malformed: it was mistyped.
 */
export function readIdentity(
  text: string,
):
  | { readonly ok: true; readonly address: string }
  | { readonly ok: false; readonly problem: 'malformed' | 'zero' } {
  const reading: AddressReading = readEvmAddress(text);
  if (reading.ok) return reading;
  return { ok: false, problem: reading.problem === 'zero' ? 'zero' : 'malformed' };
}

/**
 * The state that a signer's view shows. Only EVM signers have an identity; a pin or an observation
 * that is not a valid address never matches.
 */
export function identityState(signer: {
  readonly chain_family: string;
  readonly expected: string | null;
  readonly observed: string | null;
}): IdentityState {
  if (signer.chain_family !== 'evm') return 'not_applicable';
  if (signer.expected === null) return 'unpinned';
  if (signer.observed === null) return 'unobserved';
  const expected = readIdentity(signer.expected);
  const observed = readIdentity(signer.observed);
  return expected.ok && observed.ok && expected.address === observed.address ? 'match' : 'mismatch';
}
