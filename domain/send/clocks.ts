/**
 * Finds clocks that differ too much for a safe send. Nonces and time limits come from this host's
 * clock; a venue checks them against its own clock.
 */
import { specOf } from '../actions/built-in.ts';
import type { SignRequest } from '../executor.ts';
import { isObject, type JsonObject } from '../json.ts';
import type { ChainAssets } from '../plan/tokens.ts';

/** Largest difference in milliseconds; beyond it nothing new is sent. */
export const MOST_APART_MS = 60_000;

/** Smallest difference in milliseconds that counts in a judgement of a send; below it none does. */
const LEAST_APART_MS = 1_000;

/**
 * Error code of a node that waits before its send fence because clocks differ. The SQL function
 * `attention_of` reads this code.
 */
export const CLOCK_DIFFERENCE = 'CLOCK_DIFFERENCE';

/** The name of the database's clock, whose difference stops sends to all venues. */
export const DATABASE_CLOCK = 'database';

/**
 * Milliseconds that each clock is ahead of this host, for clocks that can stop sends; a clock that
 * could not be read is absent. Chains and exchange accounts are named by their venue keys.
 */
export type Differences = ReadonlyMap<string, number>;

/**
 * Which differences of a clock stop sends. `ahead`: for a chain only a block time ahead of this
 * host, since an idle chain makes no blocks. `never`: a developer's own chain, whose block times
 * run ahead when many blocks are made in a second.
 */
export type Counts = 'either' | 'ahead' | 'never';

/** A venue's clock: reads milliseconds since 1970, and states which differences count. */
export interface VenueClock {
  readonly read: (signal: AbortSignal) => Promise<number>;
  readonly counts: Counts;
}

export function counts(which: Counts, difference_ms: number): boolean {
  return which === 'either' || (which === 'ahead' && difference_ms > 0);
}

/**
 * Returns the clocks that a node's send depends on: those of its requirement, its chain and its
 * venue.
 */
export function clocksOfNode(
  { action_type, config }: { readonly action_type: string; readonly config: JsonObject },
  signs: SignRequest | null,
  chains: ChainAssets,
): readonly string[] {
  const chain = signs === null ? undefined : chainOf(signs);
  const bound = chains.find(({ chain_id }) => chain_id === chain);
  const { requires } = specOf(action_type);
  return [
    ...(requires === null ? [] : [requires.kind]),
    ...(bound === undefined ? [] : [bound.venue_key]),
    ...(typeof config['venue'] === 'string' ? [config['venue']] : []),
  ];
}

function chainOf({ kind, payload }: SignRequest): unknown {
  if (kind === 'evm_transaction') return payload['chain_id'];
  const { domain } = payload;
  return isObject(domain) ? domain['chainId'] : undefined;
}

/** Returns whether any clock differs too much; the venue decides which sends that stops. */
export function anyApart(differences: Differences): boolean {
  return [...differences.values()].some((ms) => Math.abs(ms) > MOST_APART_MS);
}

/**
 * Returns why nothing new may be sent, by these clocks and the database's; null when no clock
 * prevents it.
 */
export function clockProblem(differences: Differences, clocks: readonly string[]): string | null {
  const apart = [DATABASE_CLOCK, ...clocks].find(
    (clock) => Math.abs(differences.get(clock) ?? 0) > MOST_APART_MS,
  );
  if (apart === undefined) return null;
  const seconds = Math.round((differences.get(apart) ?? 0) / 1_000);
  const which = seconds > 0 ? 'ahead of' : 'behind';
  return `the clock of ${apart} is ${String(Math.abs(seconds))} seconds ${which} this host: nothing new is sent until they agree; correct the wrong clock`;
}

/**
 * Returns the whole seconds by which the database's clock was last measured behind this host's. A
 * send window is stored longer by so much: `send_not_after` is then not too early once the
 * database's clock is put right.
 */
export function behindSeconds(differences: Differences = new Map()): number {
  const behind_ms = -(differences.get(DATABASE_CLOCK) ?? 0);
  return behind_ms > LEAST_APART_MS ? Math.ceil(behind_ms / 1_000) : 0;
}

/**
 * Returns the milliseconds by which the database's clock is ahead of this process's, by a reading
 * that started at `before_ms`. Never less than it is: the time of the reading itself counts, too.
 */
export function aheadMs(database_ms: number, before_ms: number): number {
  const ahead_ms = database_ms - before_ms;
  return ahead_ms > LEAST_APART_MS ? ahead_ms : 0;
}
