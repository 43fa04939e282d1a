/** Signed bytes, read back and compared with the plan: what is broadcast is what was approved. */
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
import type { JournaledTransaction } from '../../domain/executor.ts';
import { sameEvmAddress } from '../../platform/evm-address.ts';
import type { TransferPlan } from './plan.ts';
import { verifyEvmTransfer } from './verify-sign-request.ts';

/** A signed transaction that is exactly the planned transfer. */
export interface SignedTransfer {
  readonly raw_tx: Hex;
  readonly tx_hash: Hash;
  readonly from: Address;
  readonly nonce: number;
}

export type SignedReading =
  | { readonly ok: true; readonly signed: SignedTransfer }
  | { readonly ok: false; readonly problem: string };

const wrong = (problem: string): SignedReading => ({ ok: false, problem });

/**
 * Reads `raw_tx` and proves that it is the plan's transfer, signed by `from`, and that `tx_hash` is
 * its hash. `problem` never repeats the bytes: until broadcast they are a secret.
 */
export async function readSignedTransfer(
  bytes: { readonly raw_tx: string; readonly tx_hash: string; readonly from: string },
  plan: TransferPlan,
  decimals: number,
): Promise<SignedReading> {
  const { raw_tx } = bytes;
  if (!isEip1559(raw_tx)) return wrong('the signed bytes are no EIP-1559 transaction');
  const tx_hash = keccak256(raw_tx);
  if (tx_hash !== bytes.tx_hash.toLowerCase())
    return wrong('the hash is not that of the signed bytes');
  const parsed = await parse(raw_tx);
  if (parsed === null) return wrong('the signed bytes cannot be decoded');
  const { transaction, from } = parsed;
  if (!sameEvmAddress(from, bytes.from))
    return wrong(`the bytes are signed by ${from} and not by ${bytes.from}`);
  if ((transaction.accessList ?? []).length > 0) return wrong('the transaction has an access list');
  const payload = {
    chain_id: transaction.chainId,
    to: transaction.to ?? '',
    value: String(transaction.value ?? 0n),
    data: transaction.data ?? '0x',
    gas: String(transaction.gas ?? 0n),
    max_fee_per_gas: String(transaction.maxFeePerGas ?? 0n),
    max_priority_fee_per_gas: String(transaction.maxPriorityFeePerGas ?? 0n),
  };
  const verdict = verifyEvmTransfer({ kind: 'evm_transaction', payload }, { ...plan, decimals });
  return verdict.ok
    ? { ok: true, signed: { raw_tx, tx_hash, from, nonce: transaction.nonce ?? 0 } }
    : wrong(verdict.problem);
}

function isEip1559(text: string): text is TransactionSerializedEIP1559 {
  return isHex(text) && text.startsWith('0x02');
}

async function parse(raw: TransactionSerializedEIP1559) {
  try {
    return {
      transaction: parseTransaction(raw),
      from: await recoverTransactionAddress({ serializedTransaction: raw }),
    };
  } catch {
    return null;
  }
}

/** A journaled transaction whose bytes are stored, and so may have been sent. */
export type StoredTransaction = JournaledTransaction & {
  readonly raw_tx: string;
  readonly tx_hash: string;
};

export function hasBytes(transaction: JournaledTransaction): transaction is StoredTransaction {
  return transaction.raw_tx !== undefined && transaction.tx_hash !== undefined;
}
