/** Reads EVM addresses: one rule for signers' pins, destinations and tokens. */
import type { Address } from 'viem';
// Not from 'viem': all of viem takes twice as long to load, in every command line and test that
// reads an address.
import { getAddress, isAddress } from 'viem/utils';

const ZERO = `0x${'0'.repeat(40)}`;

export type AddressProblem = 'malformed' | 'checksum' | 'zero';

export type AddressReading =
  | { readonly ok: true; readonly address: Address }
  | { readonly ok: false; readonly problem: AddressProblem };

/**
 * Returns the checksummed form of `text`, or its problem: not `0x` and 40 hex digits (`malformed`),
 * mixed case that is not its EIP-55 checksum (`checksum`), or the zero address (`zero`).
 */
export function readEvmAddress(text: string): AddressReading {
  if (!isAddress(text, { strict: false })) return { ok: false, problem: 'malformed' };
  const address = getAddress(text.toLowerCase());
  if (address === ZERO) return { ok: false, problem: 'zero' };
  const digits = text.slice(2);
  const mixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
  return mixed && text !== address ? { ok: false, problem: 'checksum' } : { ok: true, address };
}

/**
 * Returns whether two texts are the same EVM address, ignoring case. False when either is not an
 * address.
 */
export function sameEvmAddress(a: string, b: string): boolean {
  return isAddress(a, { strict: false }) && a.toLowerCase() === b.toLowerCase();
}

/** Returns an address with its checksum; returns any other text unchanged. */
export function checksummed(text: string): string {
  return isAddress(text, { strict: false }) ? getAddress(text.toLowerCase()) : text;
}
