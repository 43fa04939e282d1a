/**
 * Normalises and compares addresses for the allowlist. Each payable address has exactly one normal
 * text.
 */

export const CHAIN_FAMILIES = ['evm', 'cex'] as const;
export type ChainFamily = (typeof CHAIN_FAMILIES)[number];

export type AddressProblem = 'malformed' | 'checksum' | 'zero' | 'reserved';
export type NormalAddress =
  | { readonly ok: true; readonly address: string }
  | { readonly ok: false; readonly problem: AddressProblem };

/**
 * Reads an EVM address, and checks a mixed-case address against its EIP-55 checksum. The caller
 * passes in the hash function, so that this folder stays pure.
 */
export type ReadEvmAddress = (
  text: string,
) =>
  | { readonly ok: true; readonly address: string }
  | { readonly ok: false; readonly problem: 'malformed' | 'checksum' | 'zero' };

/** Sentence ends that follow "the address …" in an error message. */
export const ADDRESS_PROBLEMS: Readonly<Record<AddressProblem, string>> = {
  malformed: 'is not a well-formed address',
  checksum: 'has mixed-case letters that do not match its checksum; some character is wrong',
  zero: 'is the zero address',
  reserved: 'is reserved for precompiled contracts; what is sent there is lost',
};

/** Matches addresses that are reserved for the chain itself, up to 0xffff; see EIP-1352. */
const RESERVED = /^0x0{36}[0-9a-f]{4}$/;
const EVM_LIKE = /^0x[0-9a-f]{40}$/i;
const HEX = /^0x[0-9a-f]{40,64}$/i;
/** Addresses of other families are case-sensitive, so their text is not changed. */
const OTHER = /^[\x21-\x7e]{1,256}$/;

/**
 * Returns the normal text of an address, or why the address has none. EVM addresses are in lower
 * case.
 */
export function normalAddress(
  family: ChainFamily,
  text: string,
  readEvm: ReadEvmAddress,
): NormalAddress {
  if (family === 'evm' || EVM_LIKE.test(text)) return evmAddress(text, readEvm);
  const fits = /^0x/i.test(text) ? HEX.test(text) : OTHER.test(text);
  if (!fits) return { ok: false, problem: 'malformed' };
  return { ok: true, address: /^0x/i.test(text) ? text.toLowerCase() : text };
}

function evmAddress(text: string, readEvm: ReadEvmAddress): NormalAddress {
  const reading = readEvm(text);
  if (!reading.ok) return reading;
  const address = reading.address.toLowerCase();
  return RESERVED.test(address) ? { ok: false, problem: 'reserved' } : { ok: true, address };
}

/** Number of characters at each end that people compare. Attackers imitate these characters. */
const SEEN = 4;

/** Returns whether two different addresses look alike to a person who compares only their ends. */
export function looksLike(a: string, b: string): boolean {
  const ends = (address: string): string => {
    const bare = address.replace(/^0x/i, '').toLowerCase();
    return `${bare.slice(0, SEEN)}…${bare.slice(-SEEN)}`;
  };
  return a !== b && ends(a) === ends(b);
}

/** Returns whether both texts are the same address. The case of hex digits does not matter. */
export function sameAddress(one: string, other: string): boolean {
  return sameCase(one) === sameCase(other);
}

/**
 * Returns hex addresses in lower case; addresses of other families are case-sensitive and stay the
 * same.
 */
function sameCase(address: string): string {
  return /^0x/i.test(address) ? address.toLowerCase() : address;
}
