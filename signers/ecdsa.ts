/**
 * Converts ECDSA signatures over secp256k1 from key services to the only form that Ethereum
 * accepts.
 */
import { bytesToHex, numberToHex, recoverAddress, type Hex, type Signature } from 'viem';
import { sameEvmAddress } from '../platform/evm-address.ts';

/** The order of the curve's group: r and s of a signature must be below it. */
export const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
/** EIP-2: of the two valid values of s, chains accept only the lower one. */
export const HIGHEST_S = CURVE_ORDER / 2n;

const SEQUENCE = 0x30;
const INTEGER = 0x02;

/**
 * Returns r and s of a DER `SEQUENCE { INTEGER r, INTEGER s }`, both below the order of the curve;
 * null for anything else, also for an extra byte.
 */
export function readDerSignature(
  der: Uint8Array,
): { readonly r: bigint; readonly s: bigint } | null {
  // Two numbers have at most 33 bytes each, so only the short form of a DER length is possible.
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
  // The number is cut short, negative, or has an unnecessary leading zero.
  if (bytes.length !== length || first >= 0x80 || (length > 1 && first === 0 && second < 0x80))
    return null;
  return { value: BigInt(bytesToHex(bytes)), end: at + 2 + length };
}

const isScalar = (value: bigint): boolean => value > 0n && value < CURVE_ORDER;

/**
 * Returns the low-s signature with the recovery id that gives `address`; null if another address
 * signed.
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
