/** Converts addresses to and from 32 bytes, the form in messages between chains. */
import type { Address, Hex } from 'viem';

/** Returns an address padded to 32 bytes, in lower case. */
export function padded(address: Address): Hex {
  return `0x${'0'.repeat(24)}${address.slice(2).toLowerCase()}`;
}

/** Returns the lower-case address in 32 bytes; null if the bytes are no padded address. */
export function unpaddedWord(word: Hex): Address | null {
  return /^0x0{24}[0-9a-f]{40}$/.test(word) ? `0x${word.slice(26)}` : null;
}

/** Returns a number as 32 bytes of calldata, in 64 hex digits without a prefix. */
export function wordOf(value: bigint): string {
  return value.toString(16).padStart(64, '0');
}
