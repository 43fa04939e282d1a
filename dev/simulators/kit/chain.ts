/** The node of a chain, and transfers of ERC-20 tokens on it. */
import {
  TransactionReceiptNotFoundError,
  createPublicClient,
  encodeFunctionData,
  erc20Abi,
  getAbiItem,
  http,
  type TransactionReceipt,
} from 'viem';
import type { Hex } from './hex.ts';

export const TRANSFER_EVENT = getAbiItem({ abi: erc20Abi, name: 'Transfer' });
/**
 * More than any ERC-20 transfer needs; an estimate would fail for a transfer that must revert.
 */
export const TRANSFER_GAS = 120_000n;

/** A client that caches nothing: a cached head would hide the block that is looked for. */
export function chainClient(
  rpcUrl: string,
  transport: { readonly retryCount: number; readonly timeout?: number } = {
    retryCount: 0,
    timeout: 5_000,
  },
) {
  return createPublicClient({ transport: http(rpcUrl, transport), cacheTime: 0 });
}
export type ChainClient = ReturnType<typeof chainClient>;

/** Null while the transaction is in no block. */
export async function receiptOf(
  client: ChainClient,
  hash: Hex,
): Promise<TransactionReceipt | null> {
  try {
    return await client.getTransactionReceipt({ hash });
  } catch (error) {
    if (error instanceof TransactionReceiptNotFoundError) return null;
    throw error;
  }
}

/** How a transaction ended. */
export interface Mined {
  readonly block: bigint;
  readonly succeeded: boolean;
}

/** Null while the transaction is in no block. */
export async function minedAs(client: ChainClient, hash: Hex): Promise<Mined | null> {
  const receipt = await receiptOf(client, hash);
  return receipt && { block: receipt.blockNumber, succeeded: receipt.status === 'success' };
}

/**
 * Sends exactly these bytes. "Already known" and "nonce too low" are usual for bytes sent before,
 * so the node's errors are ignored; only a receipt shows what became of them.
 */
export async function broadcast(client: ChainClient, raw: Hex): Promise<void> {
  await client.sendRawTransaction({ serializedTransaction: raw }).catch(() => undefined);
}

export function transferData(to: Hex, units: bigint): Hex {
  return encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, units] });
}
