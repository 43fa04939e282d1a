/** Client of a chain's JSON-RPC endpoint, and ERC-20 transfers on that chain. */
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
 * Gas limit, more than any ERC-20 transfer needs. Fixed, since an estimate would fail for a
 * transfer that must revert.
 */
export const TRANSFER_GAS = 120_000n;

/**
 * Returns a client without a cache: a cached head would hide the block that the caller waits for.
 */
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

/** Returns null while the transaction is in no block. */
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

/** Result of a mined transaction. */
export interface Mined {
  readonly block: bigint;
  readonly succeeded: boolean;
}

/** Returns null while the transaction is in no block. */
export async function minedAs(client: ChainClient, hash: Hex): Promise<Mined | null> {
  const receipt = await receiptOf(client, hash);
  return receipt && { block: receipt.blockNumber, succeeded: receipt.status === 'success' };
}

/**
 * Sends exactly these bytes. "Already known" and "nonce too low" are usual for bytes sent before,
 * so the endpoint's errors are ignored; only a receipt shows the result.
 */
export async function broadcast(client: ChainClient, raw: Hex): Promise<void> {
  await client.sendRawTransaction({ serializedTransaction: raw }).catch(() => undefined);
}

export function transferData(to: Hex, units: bigint): Hex {
  return encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, units] });
}
