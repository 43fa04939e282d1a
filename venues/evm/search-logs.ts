/**
 * Searches for a log over any number of blocks. Each call searches for a limited time, and the next
 * call continues there. The next call repeats the blocks that were not final.
 */
import type { Hash } from 'viem';
import { isObject, type JsonObject } from '../../domain/json.ts';
import { finalizedNumber, readBlock, type EvmConnection } from './client.ts';
import { BLOCKS_AT_ONCE, newestLog, type BlockRange, type WantedLog } from './find-log.ts';

/**
 * Milliseconds; far below the timeout of any call, so that a call has time to read what it finds.
 */
const MILLISECONDS = 8_000;

/** How long one call searches, in milliseconds; each call makes at least two requests. */
export interface SearchLimits {
  readonly milliseconds: number;
}

/** The blocks that no later call must search again. */
export type Searched = BlockRange;

export type Found =
  | { readonly kind: 'found'; readonly hash: Hash }
  /** The next call continues outside the `searched` blocks. */
  | { readonly kind: 'unfinished'; readonly searched: Searched }
  | { readonly kind: 'nowhere' };

/** Searches for the transaction of a matching log since a block, outside the searched blocks. */
export async function searchLogs(
  connection: EvmConnection,
  of: WantedLog & { readonly since: bigint },
  before: Searched | null,
  { milliseconds }: SearchLimits = { milliseconds: MILLISECONDS },
): Promise<Found> {
  const until = performance.now() + milliseconds;
  const newest = (await readBlock(connection, 'latest')).number;
  const final = await finalizedNumber(connection);
  let searched = before ?? nothingAt(final, of.since);
  let requests = 0;
  for (const { range, after } of rangesToSearch(searched, { since: of.since, newest, final })) {
    if (requests >= 2 && performance.now() >= until) return { kind: 'unfinished', searched };
    const hash = await newestLog(connection, of, range);
    if (hash !== null) return { kind: 'found', hash };
    requests += 1;
    searched = after;
  }
  return { kind: 'nowhere' };
}

/** Returns an empty range at `final`, from which the search goes to newer and older blocks. */
function nothingAt(final: bigint, since: bigint): Searched {
  const at = final < since ? since - 1n : final;
  return { from: at + 1n, to: at };
}

/**
 * Returns the ranges to search, each with the blocks that then count as searched: alternately newer
 * blocks, where the log usually is, and older ones. Blocks that are not final do not count as
 * searched, since other blocks may replace them.
 */
export function* rangesToSearch(
  { from, to }: Searched,
  chain: { readonly since: bigint; readonly newest: bigint; readonly final: bigint },
): Generator<{ readonly range: BlockRange; readonly after: Searched }> {
  let [low, high, kept] = [from, to, to];
  while (high < chain.newest || low > chain.since) {
    if (high < chain.newest) {
      const range = { from: high + 1n, to: least(high + BLOCKS_AT_ONCE, chain.newest) };
      high = range.to;
      kept = most(kept, least(high, chain.final));
      yield { range, after: { from: low, to: kept } };
    }
    if (low > chain.since) {
      const range = { from: most(low - BLOCKS_AT_ONCE, chain.since), to: low - 1n };
      low = range.from;
      yield { range, after: { from: low, to: kept } };
    }
  }
}

const least = (one: bigint, other: bigint): bigint => (one < other ? one : other);
const most = (one: bigint, other: bigint): bigint => (one > other ? one : other);

/** Returns the searched range as a node's output stores it. */
export function searchedRecord({ from, to }: Searched): JsonObject {
  return { from: from.toString(), to: to.toString() };
}

/** Returns the stored range; null if nothing was searched yet or the value is not such a range. */
export function readSearched(value: unknown): Searched | null {
  if (!isObject(value)) return null;
  const { from, to } = value;
  if (!isBlock(from) || !isBlock(to)) return null;
  return { from: BigInt(from), to: BigInt(to) };
}

const isBlock = (text: unknown): text is string =>
  typeof text === 'string' && /^(?:-1|[0-9]{1,30})$/.test(text);
