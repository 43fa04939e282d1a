/**
 * Clocks that are too far apart to send by. Nonces and time limits come from our clock; a venue
 * judges them by its own.
 */
import { specOf } from '../actions/built-in.ts';
import type { SignRequest } from '../executor.ts';
import { isObject, type JsonObject } from '../json.ts';
import type { ChainAssets } from '../plan/tokens.ts';

/** Beyond this nothing new is sent. */
export const MOST_APART_MS = 60_000;

/** Marks a node that waits before its fence because clocks differ. */
export const CLOCK_DIFFERENCE = 'CLOCK_DIFFERENCE';

/** The clock whose difference stops sends to all venues. */
export const DATABASE_CLOCK = 'database';

/**
 * Milliseconds that each clock is ahead of this host, of those that stop sends; a clock that cannot
 * be read is not in it. Chains and accounts of exchanges are named by their venue keys.
 */
export type Differences = ReadonlyMap<string, number>;

/**
 * Which differences of a clock stop sends. `ahead`: of a chain only a block ahead of us counts,
 * since an idle one makes none. `never`: a developer's own chain, whose blocks run ahead when many
 * are made in a second.
 */
export type Counts = 'either' | 'ahead' | 'never';

/** A venue's clock: its milliseconds since 1970, and which differences count. */
export interface VenueClock {
  readonly read: (signal: AbortSignal) => Promise<number>;
  readonly counts: Counts;
}

export function counts(which: Counts, difference_ms: number): boolean {
  return which === 'either' || (which === 'ahead' && difference_ms > 0);
}

/** The clocks that a node's send depends on: of its requirements, its chain and its venue. */
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

/** Whether any clock is too far away; which sends that stops depends on their venues. */
export function anyApart(differences: Differences): boolean {
  return [...differences.values()].some((ms) => Math.abs(ms) > MOST_APART_MS);
}

/** Why nothing new may be sent by these clocks and the database's; null: no clock prevents it. */
export function clockProblem(differences: Differences, clocks: readonly string[]): string | null {
  const apart = [DATABASE_CLOCK, ...clocks].find(
    (clock) => Math.abs(differences.get(clock) ?? 0) > MOST_APART_MS,
  );
  if (apart === undefined) return null;
  const seconds = Math.round((differences.get(apart) ?? 0) / 1_000);
  const which = seconds > 0 ? 'ahead of' : 'behind';
  return `the clock of ${apart} is ${String(Math.abs(seconds))} seconds ${which} this host: nothing new is sent until they agree; set the clock that is wrong`;
}
