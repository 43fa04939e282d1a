/** The amount that a balance must rise from. */
import type { Address } from 'viem';
import { ExecutorFault, type ExecutionContext } from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import { fromBaseUnits, isDecimal } from '../../domain/money.ts';
import { readBalance, readBlock, type EvmConnection } from './client.ts';
import type { BalanceObserveConfig } from './config.ts';
import { RPC_FAULTS } from './errors.ts';

/** As it is stored in the node's output: the block as a string, the amount in units of the asset. */
export interface Baseline {
  readonly baseline_block: string;
  readonly baseline_amount: string;
}

/** What an earlier observe stored, or null before the first. */
export function storedBaseline(output: JsonObject | undefined): Baseline | null {
  const { baseline_block, baseline_amount } = output ?? {};
  if (typeof baseline_block !== 'string' || !/^(0|[1-9][0-9]*)$/.test(baseline_block)) return null;
  if (typeof baseline_amount !== 'string' || !isDecimal(baseline_amount)) return null;
  return { baseline_block, baseline_amount };
}

export interface BaselineQuestion {
  readonly config: BalanceObserveConfig;
  readonly context: ExecutionContext;
  readonly decimals: number;
  /** The newest block that is deep enough to be believed. */
  readonly settled: bigint;
}

/**
 * The baseline of a node that has none stored: the config's own amount, else the balance at the settled
 * block of now, or at the last block before the movement was created. Throws the `rejected` fault
 * `BASELINE_UNAVAILABLE` when the endpoint no longer keeps the balances of that block.
 */
export async function takeBaseline(connection: EvmConnection, question: BaselineQuestion): Promise<Baseline> {
  const { config, context, decimals, settled } = question;
  if (config.baseline_amount !== undefined) return { baseline_block: settled.toString(), baseline_amount: config.baseline_amount };
  const block =
    config.baseline === 'first_observation' ? settled : await lastBlockBefore(connection, createdAt(context.movement_id), settled);
  const units = await balanceThen(connection, { owner: config.address, token: config.token_address ?? null, block });
  return { baseline_block: block.toString(), baseline_amount: fromBaseUnits(units, decimals) };
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
    throw new ExecutorFault('rejected', 'BASELINE_UNAVAILABLE', 'the movement id tells no time of creation; give config.baseline_amount');
  }
  return BigInt(`0x${movementId.slice(0, 8)}${movementId.slice(9, 13)}`);
}

/**
 * The last block that was surely made before `time`: block times are whole seconds, so one of the same
 * second counts as after. Block 0 when there is none.
 */
async function lastBlockBefore(connection: EvmConnection, time: bigint, newest: bigint): Promise<bigint> {
  const isBefore = async (block: bigint) => ((await readBlock(connection, block)).timestamp + 1n) * 1000n <= time;
  if (newest <= 0n || (await isBefore(newest))) return newest;
  let before = 0n;
  let after = newest;
  while (after - before > 1n) {
    const middle = (before + after) / 2n;
    if (await isBefore(middle)) before = middle;
    else after = middle;
  }
  return before;
}
