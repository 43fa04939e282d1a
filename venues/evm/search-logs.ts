/**
 * Searches for a log over any distance: each look searches for a while, and the next one goes on.
 * Between looks only blocks count as searched that were final at the time.
 */
import type { Hash } from 'viem';
import { isObject, type JsonObject } from '../../domain/json.ts';
import { finalizedNumber, readBlock, type EvmConnection } from './client.ts';
import { BLOCKS_AT_ONCE, newestLog, type BlockRange, type WantedLog } from './find-log.ts';

/** Well below the timeout of any call, so that a look can still read what it finds. */
const MILLISECONDS = 8_000;

/** How long one look searches; it makes at least two requests. */
export interface SearchLimits {
  readonly milliseconds: number;
}

/** The blocks that no later look has to search again. */
export type Searched = BlockRange;

export type Found =
  | { readonly kind: 'found'; readonly hash: Hash }
  /** The next look goes on after `searched`. */
  | { readonly kind: 'unfinished'; readonly searched: Searched }
  | { readonly kind: 'nowhere' };

/** Searches for the transaction of such a log since a block, after the searched blocks. */
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

/** An empty range from which the search goes up and down. */
function nothingAt(final: bigint, since: bigint): Searched {
  const at = final < since ? since - 1n : final;
  return { from: at + 1n, to: at };
}

/**
 * The ranges to search, each with the blocks that then count as searched: alternately newer blocks,
 * where the log mostly is, and older ones. Blocks that are not final do not count, since they may
 * be replaced.
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

/** As a node's output stores it. */
export function searchedRecord({ from, to }: Searched): JsonObject {
  return { from: from.toString(), to: to.toString() };
}

/** Null where nothing was searched yet, or the record is not ours. */
export function readSearched(value: unknown): Searched | null {
  if (!isObject(value)) return null;
  const { from, to } = value;
  if (!isBlock(from) || !isBlock(to)) return null;
  return { from: BigInt(from), to: BigInt(to) };
}

const isBlock = (text: unknown): text is string =>
  typeof text === 'string' && /^(?:-1|[0-9]{1,30})$/.test(text);
