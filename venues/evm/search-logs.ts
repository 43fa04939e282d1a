/**
 * The search for a log over any distance: as much as one look has time for, and on from there in
 * the next. What is kept between looks are blocks that were final when they were searched.
 */
import type { Hash } from 'viem';
import { isObject, type JsonObject } from '../../domain/json.ts';
import { finalizedNumber, readBlock, type EvmConnection } from './client.ts';
import { BLOCKS_AT_ONCE, newestLog, type BlockRange, type WantedLog } from './find-log.ts';

/** Well below the time of any call, so that a look also has time for what it finds. */
const MILLISECONDS = 8_000;

/** How long one look searches; at least a request above and one below what it knows. */
export interface SearchLimits {
  readonly milliseconds: number;
}

/** The blocks that no look has to search again, as a node keeps them. */
export type Searched = BlockRange;

export type Found =
  | { readonly kind: 'found'; readonly hash: Hash }
  /** To be gone on with from `searched`. */
  | { readonly kind: 'unfinished'; readonly searched: Searched }
  | { readonly kind: 'nowhere' };

/** Looks for the transaction of such a log since a block, on from what was searched before. */
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
  let asked = 0;
  for (const { range, after } of rangesToSearch(searched, { since: of.since, newest, final })) {
    if (asked >= 2 && performance.now() >= until) return { kind: 'unfinished', searched };
    const hash = await newestLog(connection, of, range);
    if (hash !== null) return { kind: 'found', hash };
    asked += 1;
    searched = after;
  }
  return { kind: 'nowhere' };
}

/** The place between two blocks from which a search goes up and down. */
function nothingAt(final: bigint, since: bigint): Searched {
  const at = final < since ? since - 1n : final;
  return { from: at + 1n, to: at };
}

/**
 * What is to be searched, each with what then counts as searched: by turns the blocks above, where
 * it was mostly done just now, and those below. Above the final block nothing counts, since another
 * block may take its place.
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

/** As a node's output keeps it. */
export function searchedRecord({ from, to }: Searched): JsonObject {
  return { from: from.toString(), to: to.toString() };
}

/** Null where nothing was searched yet, or what is there is none of ours. */
export function readSearched(value: unknown): Searched | null {
  if (!isObject(value)) return null;
  const { from, to } = value;
  if (!isBlock(from) || !isBlock(to)) return null;
  return { from: BigInt(from), to: BigInt(to) };
}

const isBlock = (text: unknown): text is string =>
  typeof text === 'string' && /^(?:-1|[0-9]{1,30})$/.test(text);
