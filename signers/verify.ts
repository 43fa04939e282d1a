/**
 * What a signer gave, judged without trusting it: the very bytes that were asked for, signed by the
 * address that was meant. Whoever stores or sends signed bytes calls this first, whatever the
 * backend has looked at itself.
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
 * The bytes in lower case and their hash. They are byte for byte the requested fields with that
 * nonce, in the one encoding there is, under a low-s signature by `address`.
 *
 * @throws SignerFault `SIGNER_ANSWER_INVALID` that says what differs and holds nothing of the
 *   bytes.
 */
export async function verifiedTransaction(
  asked: {
    readonly unsigned: EvmUnsignedTransaction;
    readonly nonce: number;
    readonly address: string;
  },
  given: string,
): Promise<SignedTransaction> {
  const wanted = evmTransaction(asked.unsigned, asked.nonce);
  const signature = signatureIn(given);
  if (signature === null) throw invalid('what was given is no signed EIP-1559 transaction');
  const raw_tx = serializeTransaction(wanted, signature);
  // Made anew from what was asked for: any other field, nonce or encoding gives other bytes.
  if (raw_tx !== given.toLowerCase())
    throw invalid('the signed transaction is not the one that was to be signed');
  await mustBeBy(asked.address, keccak256(serializeTransaction(wanted)), signature);
  return { raw_tx, tx_hash: keccak256(raw_tx) };
}

/**
 * The signature in lower case: 65 bytes by `address` over exactly this typed data.
 *
 * @throws SignerFault `SIGNER_ANSWER_INVALID`.
 */
export async function verifiedTypedData(
  asked: { readonly payload: JsonObject; readonly address: string },
  given: string,
): Promise<{ readonly signature: string }> {
  const parts = /^0x([0-9a-f]{64})([0-9a-f]{64})(1b|1c)$/.exec(given.toLowerCase());
  if (parts === null) throw invalid('what was given is no signature of 65 bytes');
  const [, r, s, v] = parts;
  const signature = { r: `0x${r ?? ''}`, s: `0x${s ?? ''}`, yParity: v === '1c' ? 1 : 0 } as const;
  await mustBeBy(asked.address, hashTypedData(readTypedData(asked.payload)), signature);
  return { signature: given.toLowerCase() };
}

interface Split {
  readonly r: Hex;
  readonly s: Hex;
  readonly yParity: number;
}

function signatureIn(given: string): Split | null {
  if (!/^0x02([0-9a-fA-F]{2})+$/.test(given)) return null;
  try {
    const { r, s, yParity } = parseTransaction(given as `0x02${string}`);
    return r === undefined || s === undefined || yParity === undefined ? null : { r, s, yParity };
  } catch {
    return null;
  }
}

async function mustBeBy(address: string, hash: Hex, { r, s, yParity }: Split): Promise<void> {
  if (BigInt(r) >= CURVE_ORDER || BigInt(s) > HIGHEST_S)
    throw invalid('the signature is not in the low form that chains take');
  const by = await recoverAddress({ hash, signature: { r, s, yParity } }).catch(() => null);
  if (by === null || !sameEvmAddress(by, address))
    throw invalid('the signature is not by the address that was to sign');
}

function invalid(message: string): SignerFault {
  return new SignerFault('SIGNER_ANSWER_INVALID', message);
}
