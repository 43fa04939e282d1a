/**
 * Verifies a signer's answer without trusting it: exactly the requested bytes, signed by the
 * expected address. Call this before storing or sending signed bytes, whatever the signer backend
 * has checked.
 */
import {
  hashTypedData,
  keccak256,
  parseTransaction,
  recoverAddress,
  serializeTransaction,
  type Hex,
} from 'viem';
import type { EvmUnsignedTransaction } from '../domain/executor.ts';
import type { JsonObject } from '../domain/json.ts';
import { SignerFault, type SignedTransaction } from '../domain/signer.ts';
import { sameEvmAddress } from '../platform/evm-address.ts';
import { CURVE_ORDER, HIGHEST_S } from './ecdsa.ts';
import { evmTransaction } from './evm-transaction.ts';
import { readTypedData } from './typed-data.ts';

/**
 * Returns the bytes in lower case and their hash. The bytes are exactly the requested fields with
 * that nonce, in their only valid encoding, with a low-s signature by `address`.
 *
 * @throws SignerFault `SIGNER_ANSWER_INVALID`, which names the difference but contains nothing of
 * the bytes.
 */
export async function verifiedTransaction(
  request: {
    readonly unsigned: EvmUnsignedTransaction;
    readonly nonce: number;
    readonly address: string;
  },
  answer: string,
): Promise<SignedTransaction> {
  const wanted = evmTransaction(request.unsigned, request.nonce);
  const signature = signatureIn(answer);
  if (signature === null) throw invalid('the answer is not a signed EIP-1559 transaction');
  const raw_tx = serializeTransaction(wanted, signature);
  // The transaction is built again from the request: any other field, nonce or encoding gives other
  // bytes.
  if (raw_tx !== answer.toLowerCase())
    throw invalid('the signed transaction is not the requested one');
  await mustBeBy(request.address, keccak256(serializeTransaction(wanted)), signature);
  return { raw_tx, tx_hash: keccak256(raw_tx) };
}

/**
 * Returns the signature in lower case: 65 bytes by `address` over exactly this typed data.
 *
 * @throws SignerFault `SIGNER_ANSWER_INVALID`.
 */
export async function verifiedTypedData(
  request: { readonly payload: JsonObject; readonly address: string },
  answer: string,
): Promise<{ readonly signature: string }> {
  const parts = /^0x([0-9a-f]{64})([0-9a-f]{64})(1b|1c)$/.exec(answer.toLowerCase());
  if (parts === null) throw invalid('the answer is not a signature of 65 bytes');
  const [, r, s, v] = parts;
  const signature = { r: `0x${r ?? ''}`, s: `0x${s ?? ''}`, yParity: v === '1c' ? 1 : 0 } as const;
  await mustBeBy(request.address, hashTypedData(readTypedData(request.payload)), signature);
  return { signature: answer.toLowerCase() };
}

interface Split {
  readonly r: Hex;
  readonly s: Hex;
  readonly yParity: number;
}

function signatureIn(answer: string): Split | null {
  if (!/^0x02([0-9a-fA-F]{2})+$/.test(answer)) return null;
  try {
    const { r, s, yParity } = parseTransaction(answer as `0x02${string}`);
    return r === undefined || s === undefined || yParity === undefined ? null : { r, s, yParity };
  } catch {
    return null;
  }
}

async function mustBeBy(address: string, hash: Hex, { r, s, yParity }: Split): Promise<void> {
  if (BigInt(r) >= CURVE_ORDER || BigInt(s) > HIGHEST_S)
    throw invalid('the signature lacks the low s value that chains require');
  const by = await recoverAddress({ hash, signature: { r, s, yParity } }).catch(() => null);
  if (by === null || !sameEvmAddress(by, address))
    throw invalid('the signature is not by the address that was to sign');
}

function invalid(message: string): SignerFault {
  return new SignerFault('SIGNER_ANSWER_INVALID', message);
}
