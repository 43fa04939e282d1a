/** Addresses as 32 bytes, as messages between chains encode them. */
import type { Address, Hex } from 'viem';

/** An address in 32 bytes, lower case. */
export function padded(address: Address): Hex {
  return `0x${'0'.repeat(24)}${address.slice(2).toLowerCase()}`;
}

/** The address of 32 bytes that hold one, lower case; null for anything else. */
export function unpaddedWord(word: Hex): Address | null {
  return /^0x0{24}[0-9a-f]{40}$/.test(word) ? `0x${word.slice(26)}` : null;
}

/** The 32 bytes of a number as calldata has them, in 64 hex digits without a prefix. */
export function wordOf(value: bigint): string {
  return value.toString(16).padStart(64, '0');
}
