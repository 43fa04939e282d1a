/** The amount that a balance must rise from. */
import type { Address } from 'viem';
import { ExecutorFault, type ExecutionContext } from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import { fromBaseUnits, isDecimal } from '../../domain/money.ts';
import { readBalance, readBlock, type EvmConnection } from './client.ts';
import type { BalanceObserveConfig } from './config.ts';
import { RPC_FAULTS } from './errors.ts';

/**
 * As it is stored in the node's output: the block as a string, the amount in units of the asset.
 */
export interface Baseline {
  readonly baseline_block: string;
  readonly baseline_amount: string;
}

/**
 * What earlier looks have stored: nothing, the block to count from, or also what the address held
 * then.
 */
export type Stored = { readonly baseline_block?: string; readonly baseline_amount?: string };

/** What is stored, as far as it can be read. */
export function storedBaseline(output: JsonObject | undefined): Stored {
  const { baseline_block, baseline_amount } = output ?? {};
  if (typeof baseline_block !== 'string' || !/^(0|[1-9][0-9]*)$/.test(baseline_block)) return {};
  if (typeof baseline_amount !== 'string' || !isDecimal(baseline_amount)) return { baseline_block };
  return { baseline_block, baseline_amount };
}

/** Whether it can be counted from. */
export function isWhole(stored: Stored): stored is Baseline {
  return stored.baseline_block !== undefined && stored.baseline_amount !== undefined;
}

export interface BaselineQuestion {
  readonly config: BalanceObserveConfig;
  readonly context: ExecutionContext;
  readonly decimals: number;
  /** The newest block that is deep enough to be believed. */
  readonly settled: bigint;
  readonly stored: Stored;
}

/**
 * The next that is to be stored of a baseline that is not whole yet. It is the config's own amount;
 * else what the address held at the newest block of the first look, deep enough or not, or at the
 * last block before the movement was created. Which block that is, is only known once a later one
 * is deep enough, and what it held only once it is so itself: an older block would count what was
 * paid between the two as new. Throws the `rejected` fault `BASELINE_UNAVAILABLE` when the endpoint
 * no longer keeps the balances of that block.
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

/** The block to count from; null while it cannot be told. */
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
    throw new ExecutorFault(
      'rejected',
      'BASELINE_UNAVAILABLE',
      `the endpoint does not keep balances at block ${of.block}; give config.baseline_amount`,
    );
  }
}

/** Milliseconds since 1970, from the first 48 bits of a UUIDv7. */
function createdAt(movementId: string): bigint {
  if (!/^[0-9a-f]{8}-[0-9a-f]{4}-7/i.test(movementId)) {
    throw new ExecutorFault(
      'rejected',
      'BASELINE_UNAVAILABLE',
      'the movement id tells no time of creation; give config.baseline_amount',
    );
  }
  return BigInt(`0x${movementId.slice(0, 8)}${movementId.slice(9, 13)}`);
}

/**
 * The last block that was surely made before `time`: block times are whole seconds, so one of the
 * same second counts as after. Block 0 when there is none; null while `newest` is itself before,
 * since others may follow.
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
