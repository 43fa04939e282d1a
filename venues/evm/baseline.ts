/** Takes the baseline from which an increase of a balance is counted. */
import type { Address } from 'viem';
import { ExecutorFault, type ExecutionContext } from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import { fromBaseUnits, isDecimal } from '../../domain/money.ts';
import { rejected } from '../node-plan.ts';
import { readBalance, readBlock, type EvmConnection } from './client.ts';
import type { BalanceObserveConfig } from './config.ts';
import { RPC_FAULTS } from './errors.ts';

/** A baseline in the node's output: the block as a string, the amount in units of the asset. */
export interface Baseline {
  readonly baseline_block: string;
  readonly baseline_amount: string;
}

/** A baseline as far as it is stored: empty, only the block, or the block and its balance. */
export type Stored = { readonly baseline_block?: string; readonly baseline_amount?: string };

/** Returns the valid part of a stored baseline. */
export function storedBaseline(output: JsonObject | undefined): Stored {
  const { baseline_block, baseline_amount } = output ?? {};
  if (typeof baseline_block !== 'string' || !/^(0|[1-9][0-9]*)$/.test(baseline_block)) return {};
  if (typeof baseline_amount !== 'string' || !isDecimal(baseline_amount)) return { baseline_block };
  return { baseline_block, baseline_amount };
}

/** Returns whether both block and amount are stored. */
export function isWhole(stored: Stored): stored is Baseline {
  return stored.baseline_block !== undefined && stored.baseline_amount !== undefined;
}

export interface BaselineQuestion {
  readonly config: BalanceObserveConfig;
  readonly context: ExecutionContext;
  readonly decimals: number;
  /** The newest block that is deep enough for the required assurance. */
  readonly settled: bigint;
  readonly stored: Stored;
}

/**
 * Returns the next part to store of an incomplete baseline: the config's amount; else first the
 * block and later its balance. The block is the newest of the first observation, or the last before
 * the movement was created. The last block before a time is known only once a later block is deep
 * enough, and a block's balance counts only once that block is deep enough. An older block would
 * count earlier payments as new.
 *
 * @throws ExecutorFault `rejected` `BASELINE_UNAVAILABLE` when the endpoint no longer keeps the
 *   balances of that block.
 */
export async function takeBaseline(
  connection: EvmConnection,
  question: BaselineQuestion,
): Promise<Stored> {
  const { config, context, decimals, settled, stored } = question;
  if (config.baseline_amount !== undefined)
    return { baseline_block: settled.toString(), baseline_amount: config.baseline_amount };
  const block =
    stored.baseline_block === undefined
      ? await firstBlock(connection, config, context, settled)
      : BigInt(stored.baseline_block);
  if (block === null) return {};
  const baseline_block = block.toString();
  if (block > settled) return { baseline_block };
  const units = await balanceThen(connection, {
    owner: config.address,
    token: config.token_address ?? null,
    block,
  });
  return { baseline_block, baseline_amount: fromBaseUnits(units, decimals) };
}

/** Returns the block to count from; null while it is not known yet. */
async function firstBlock(
  connection: EvmConnection,
  { baseline }: BalanceObserveConfig,
  { movement_id }: ExecutionContext,
  settled: bigint,
): Promise<bigint | null> {
  if (baseline === 'first_observation') return (await readBlock(connection, 'latest')).number;
  return lastBlockBefore(connection, createdAt(movement_id), settled);
}

async function balanceThen(
  connection: EvmConnection,
  of: { readonly owner: Address; readonly token: Address | null; readonly block: bigint },
): Promise<bigint> {
  try {
    return await readBalance(connection, of);
  } catch (error) {
    if (!(error instanceof ExecutorFault) || error.code !== RPC_FAULTS.refused) throw error;
    throw rejected(
      'BASELINE_UNAVAILABLE',
      `the endpoint does not keep balances at block ${of.block}; set config.baseline_amount`,
    );
  }
}

/** Returns milliseconds since 1970, from the first 48 bits of a UUIDv7. */
function createdAt(movementId: string): bigint {
  if (!/^[0-9a-f]{8}-[0-9a-f]{4}-7/i.test(movementId)) {
    throw rejected(
      'BASELINE_UNAVAILABLE',
      'the movement id contains no creation time; set config.baseline_amount',
    );
  }
  return BigInt(`0x${movementId.slice(0, 8)}${movementId.slice(9, 13)}`);
}

/**
 * Returns the last block that was surely made before `time`: block times are whole seconds, so a
 * block of the same second counts as after. Returns block 0 if no block was made before, and null
 * while `newest` itself was made before `time`, since later blocks may be too.
 */
async function lastBlockBefore(
  connection: EvmConnection,
  time: bigint,
  newest: bigint,
): Promise<bigint | null> {
  const isBefore = async (block: bigint) =>
    ((await readBlock(connection, block)).timestamp + 1n) * 1000n <= time;
  if (await isBefore(newest)) return null;
  if (newest <= 0n) return newest;
  let before = 0n;
  let after = newest;
  while (after - before > 1n) {
    const middle = (before + after) / 2n;
    if (await isBefore(middle)) before = middle;
    else after = middle;
  }
  return before;
}
