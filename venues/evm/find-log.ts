/** Searches the logs of a chain in requests of bounded size. */
import { numberToHex, type Address, type Hash, type Hex, type RpcLog } from 'viem';
import type { EvmConnection } from './client.ts';

/** Most blocks in one request; public endpoints refuse more than a few thousand. */
export const BLOCKS_AT_ONCE = 1_000n;

export interface WantedLog {
  readonly address: Address;
  /** The wanted topics by position: one topic, several allowed topics, or null for any topic. */
  readonly topics: readonly (Hex | Hex[] | null)[];
}

/**
 * Returns the transaction of the newest matching log between two blocks, however long the search
 * takes; null if the endpoint shows none. Searches the newest blocks first: the log is usually
 * recent.
 */
export async function findLog(
  connection: EvmConnection,
  of: WantedLog & { readonly since: bigint; readonly until: bigint },
): Promise<Hash | null> {
  for (let end = of.until; end >= of.since; end -= BLOCKS_AT_ONCE) {
    const first = end - BLOCKS_AT_ONCE + 1n;
    const from = first > of.since ? first : of.since;
    const hash = await newestLog(connection, of, { from, to: end });
    if (hash !== null) return hash;
  }
  return null;
}

/** A range of blocks, both ends included. */
export interface BlockRange {
  readonly from: bigint;
  readonly to: bigint;
}

/** Returns the transaction of the newest matching log, in one request; null if there is none. */
export async function newestLog(
  connection: EvmConnection,
  wanted: WantedLog,
  range: BlockRange,
): Promise<Hash | null> {
  return (await logsIn(connection, wanted, range)).at(-1)?.transactionHash ?? null;
}

/** Returns the matching logs, oldest first, in one request. */
export function logsIn(
  connection: EvmConnection,
  { address, topics }: WantedLog,
  { from, to }: BlockRange,
): Promise<readonly RpcLog[]> {
  return connection.ask((client) =>
    client.request({
      method: 'eth_getLogs',
      params: [
        {
          address,
          topics: [...topics],
          fromBlock: numberToHex(from),
          toBlock: numberToHex(to),
        },
      ],
    }),
  );
}
