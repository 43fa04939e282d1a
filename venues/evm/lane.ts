/** Reads a nonce lane on its chain: how far it is mined, and which transaction used a nonce. */
import type { Address, Hash } from 'viem';
import {
  ExecutorFault,
  hasBytes,
  type EvmUnsignedTransaction,
  type JournaledTransaction,
  type TransactionKind,
} from '../../domain/executor.ts';
import type { RaisedCaps } from '../../domain/lanes/caps.ts';
import type { Counted } from '../../domain/lanes/duties.ts';
import { broadcast, NO_STOPS, type AskStops } from './broadcast.ts';
import { finalizedNumber, readReceipt, type EvmConnection } from './client.ts';
import { RPC_FAULTS } from './errors.ts';
import { agreedFate } from './nonce-proof.ts';
import { offeredFees, toItself } from './versions.ts';

/**
 * Returns the account's transaction counts at the newest block and at `last`, the newest final one.
 */
export async function countLane(
  connection: EvmConnection,
  account: string,
): Promise<Counted & { readonly last: bigint }> {
  const address = account as Address;
  const [latest, last] = await Promise.all([
    connection.ask((client) => client.getTransactionCount({ address, blockTag: 'latest' })),
    finalizedNumber(connection),
  ]);
  if (last < 0n) return { latest, final: 0, last };
  const final = await connection
    .ask((client) => client.getTransactionCount({ address, blockNumber: last }))
    .catch((error: unknown) => {
      // The endpoint no longer keeps the state of that block. No nonce counts as final then, and
      // the nonce lane is still served.
      if (error instanceof ExecutorFault && error.code === RPC_FAULTS.refused) return 0;
      throw error;
    });
  return { latest: Math.max(latest, final), final, last };
}

/** Returns the mined version; null if enough endpoints report that no version is mined. */
export async function minedVersion(
  connection: EvmConnection,
  versions: readonly JournaledTransaction[],
): Promise<{
  readonly hash: Hash;
  readonly block: bigint;
  readonly kind: TransactionKind;
  /** False: it reverted, so it moved nothing. */
  readonly succeeded: boolean;
} | null> {
  for (const { tx_hash, kind } of versions) {
    const receipt = tx_hash === undefined ? null : await readReceipt(connection, tx_hash as Hash);
    if (receipt !== null)
      return {
        hash: receipt.transactionHash,
        block: receipt.blockNumber,
        kind,
        succeeded: receipt.status === 'success',
      };
  }
  return null;
}

/**
 * Returns the transaction other than these versions that used the nonce in a final block; null if
 * none is known.
 */
export async function usedElsewhereBy(
  connection: EvmConnection,
  account: string,
  {
    nonce,
    versions,
  }: { readonly nonce: number; readonly versions: readonly JournaledTransaction[] },
): Promise<Hash | null> {
  const fate = await agreedFate(connection, account as Address, nonce);
  if (fate.kind !== 'used') return null;
  return versions.some(({ tx_hash }) => tx_hash === fate.by) ? null : fate.by;
}

/**
 * Sends stored bytes: a zero-value transaction, or a payment whose block was reorganised away.
 * Returns null when the endpoint accepts or has the bytes; else the endpoint's message, or the
 * reason of the stop that holds the bytes back. The bytes were checked when they were signed.
 */
export async function sendVersion(
  connection: EvmConnection,
  transaction: JournaledTransaction,
  stops: AskStops = NO_STOPS,
): Promise<string | null> {
  if (!hasBytes(transaction)) return 'the transaction is not signed';
  const { raw_tx, tx_hash } = transaction;
  const bytes = { raw_tx: raw_tx as Hash, tx_hash: tx_hash as Hash };
  const outcome = await broadcast(connection, bytes, stops);
  if (outcome.kind === 'accepted') return null;
  return outcome.kind === 'held' ? outcome.held.why : outcome.message;
}

/**
 * Returns a zero-value transaction at market fees, for a nonce that no stored transaction uses.
 *
 * @throws ExecutorFault `server_error` `FEE_ABOVE_CAP` when the caps are below the market fees.
 */
export async function fillingOf(
  connection: EvmConnection,
  {
    address,
    nonce,
    raise,
  }: {
    readonly address: string;
    readonly nonce: number;
    readonly raise: RaisedCaps | null;
  },
): Promise<EvmUnsignedTransaction> {
  const plain = await toItself(connection, address as Address);
  const unpriced = {
    chain_id: connection.venue.chain_id,
    ...plain,
    max_fee_per_gas: '1',
    max_priority_fee_per_gas: '1',
  };
  const before = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n };
  const fees = await offeredFees(connection, { nonce, unsigned: unpriced, before, raise });
  return { ...unpriced, ...fees };
}
