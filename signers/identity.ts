/**
 * Compares the address that a signer should have with the address that it has. Pure: callers pass
 * both values.
 */
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
 * Returns an operator's pin or a live identity in checksummed form. A pin with a wrong checksum
 * counts as malformed, since it was mistyped.
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
 * Compares the address that the registry expects of a signer with the address that the signer
 * reports. Only EVM signers have an address; an invalid address never matches.
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
