/** Decodes signed bytes and compares them with the act: only approved bytes are broadcast. */
import {
  isHex,
  keccak256,
  parseTransaction,
  recoverTransactionAddress,
  type Address,
  type Hash,
  type Hex,
  type TransactionSerializedEIP1559,
} from 'viem';
import type { EvmUnsignedTransaction, StoredTransaction } from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import { sameEvmAddress } from '../../platform/evm-address.ts';
import type { ChainAct } from './act.ts';
import type { EvmCall } from './call.ts';

/** Decoded signed bytes: their signer, nonce and call. */
export interface SignedTransaction {
  readonly raw_tx: Hex;
  readonly tx_hash: Hash;
  readonly from: Address;
  readonly nonce: number;
  readonly call: EvmCall;
}

export type SignedReading =
  | { readonly ok: true; readonly signed: SignedTransaction }
  | { readonly ok: false; readonly problem: string };

const wrong = (problem: string): SignedReading => ({ ok: false, problem });

interface Bytes {
  readonly raw_tx: string;
  readonly tx_hash: string;
  readonly from: string;
}

/**
 * Decodes `raw_tx` and proves that it is the act, signed by `from`, and that `tx_hash` is its hash.
 * `problem` never repeats the bytes: until broadcast they are a secret.
 */
export async function readSigned(
  bytes: Bytes,
  act: Pick<ChainAct, 'verify'>,
): Promise<SignedReading> {
  const read = await readBytes(bytes);
  if (!read.ok) return read;
  const verdict = act.verify(read.payload);
  return verdict.ok ? { ok: true, signed: read.signed } : wrong(verdict.problem);
}

/** Decodes and checks a stored version, which may be a cancelling zero-value transaction. */
export async function readVersion(
  stored: StoredTransaction,
  act: Pick<ChainAct, 'verify' | 'chain_id'>,
): Promise<SignedReading> {
  const reading =
    stored.kind === 'cancel'
      ? await readSelfTransfer(stored, act.chain_id)
      : await readSigned(stored, act);
  if (!reading.ok || reading.signed.nonce === stored.nonce) return reading;
  return wrong(`the bytes have nonce ${reading.signed.nonce} and not ${stored.nonce}`);
}

/**
 * Proves that the bytes move nothing: signed by `from`, sent to the same account, on this chain.
 */
async function readSelfTransfer(bytes: Bytes, chainId: number): Promise<SignedReading> {
  const read = await readBytes(bytes);
  if (!read.ok) return read;
  const { payload, signed } = read;
  if (payload.chain_id !== chainId)
    return wrong(`the transaction is for chain ${payload.chain_id}, not ${chainId}`);
  const nothing =
    sameEvmAddress(payload.to, signed.from) && payload.value === '0' && payload.data === '0x';
  return nothing ? { ok: true, signed } : wrong('the transaction must move nothing, but does');
}

async function readBytes(bytes: Bytes): Promise<
  | {
      readonly ok: true;
      readonly signed: SignedTransaction;
      readonly payload: EvmUnsignedTransaction & JsonObject;
    }
  | { readonly ok: false; readonly problem: string }
> {
  const no = (problem: string) => ({ ok: false, problem }) as const;
  const { raw_tx } = bytes;
  if (!isEip1559(raw_tx)) return no('the signed bytes are not an EIP-1559 transaction');
  const tx_hash = keccak256(raw_tx);
  if (tx_hash !== bytes.tx_hash.toLowerCase())
    return no('tx_hash is not the hash of the signed bytes');
  const parsed = await parse(raw_tx);
  if (parsed === null) return no('the signed bytes cannot be decoded');
  const { transaction, from } = parsed;
  if (!sameEvmAddress(from, bytes.from))
    return no(`the bytes are signed by ${from} and not by ${bytes.from}`);
  if ((transaction.accessList ?? []).length > 0) return no('the transaction has an access list');
  const { to, value = 0n, data = '0x' } = transaction;
  if (to == null) return no('the transaction creates a contract');
  const payload = {
    chain_id: transaction.chainId,
    to,
    value: String(value),
    data,
    gas: String(transaction.gas ?? 0n),
    max_fee_per_gas: String(transaction.maxFeePerGas ?? 0n),
    max_priority_fee_per_gas: String(transaction.maxPriorityFeePerGas ?? 0n),
  };
  const signed = {
    raw_tx,
    tx_hash,
    from,
    nonce: transaction.nonce ?? 0,
    call: { to, value, data },
  };
  return { ok: true, payload, signed };
}

function isEip1559(text: string): text is TransactionSerializedEIP1559 {
  return isHex(text) && text.startsWith('0x02');
}

async function parse(raw: TransactionSerializedEIP1559) {
  try {
    return {
      transaction: parseTransaction(raw),
      from: await signerOf(raw),
    };
  } catch {
    return null;
  }
}

/** Most transactions whose signers are kept. */
const KEPT = 1_000;
/** By the hash of the bytes: a payment is read again at each look, and this takes milliseconds. */
const signers = new Map<Hash, Address>();

async function signerOf(raw: TransactionSerializedEIP1559): Promise<Address> {
  const hash = keccak256(raw);
  const known = signers.get(hash);
  if (known !== undefined) return known;
  const signer = await recoverTransactionAddress({ serializedTransaction: raw });
  if (signers.size >= KEPT) signers.clear();
  signers.set(hash, signer);
  return signer;
}
