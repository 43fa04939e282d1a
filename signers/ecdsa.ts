/** ECDSA over secp256k1 as key services give it, in the one form that Ethereum takes. */
import { bytesToHex, numberToHex, recoverAddress, type Hex, type Signature } from 'viem';
import { sameEvmAddress } from '../platform/evm-address.ts';

/** The order of the curve's group. */
export const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
/** EIP-2: of the two values of s that are both right, chains take the low one. */
export const HIGHEST_S = CURVE_ORDER / 2n;

const SEQUENCE = 0x30;
const INTEGER = 0x02;

/**
 * r and s of a DER `SEQUENCE { INTEGER r, INTEGER s }`, both within the order of the curve; null
 * for everything else, one byte more included.
 */
export function readDerSignature(
  der: Uint8Array,
): { readonly r: bigint; readonly s: bigint } | null {
  // Two numbers of at most 33 bytes: the short form of a length is the only one.
  if (der[0] !== SEQUENCE || der[1] !== der.length - 2) return null;
  const r = readInteger(der, 2);
  const s = r === null ? null : readInteger(der, r.end);
  if (r === null || s === null || s.end !== der.length) return null;
  return isScalar(r.value) && isScalar(s.value) ? { r: r.value, s: s.value } : null;
}

function readInteger(
  der: Uint8Array,
  at: number,
): { readonly value: bigint; readonly end: number } | null {
  const [tag, length] = [der[at], der[at + 1]];
  if (tag !== INTEGER || length === undefined || length < 1 || length > 33) return null;
  const bytes = der.subarray(at + 2, at + 2 + length);
  const [first = 0, second = 0] = bytes;
  // Cut short, negative, or with a zero in front that nothing calls for.
  if (bytes.length !== length || first >= 0x80 || (length > 1 && first === 0 && second < 0x80))
    return null;
  return { value: BigInt(bytesToHex(bytes)), end: at + 2 + length };
}

const isScalar = (value: bigint): boolean => value > 0n && value < CURVE_ORDER;

/**
 * The signature in its low form with the recovery id under which it is `address`'s; null when it is
 * not by that address.
 */
export async function signatureOf(
  address: string,
  hash: Hex,
  { r, s }: { readonly r: bigint; readonly s: bigint },
): Promise<Signature | null> {
  const low = s > HIGHEST_S ? CURVE_ORDER - s : s;
  for (const yParity of [0, 1]) {
    const signature = { r: word(r), s: word(low), yParity };
    const by = await recoverAddress({ hash, signature }).catch(() => null);
    if (by !== null && sameEvmAddress(by, address)) return signature;
  }
  return null;
}

const word = (value: bigint): Hex => numberToHex(value, { size: 32 });
