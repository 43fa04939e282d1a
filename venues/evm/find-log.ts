/** Searches the logs of a chain. */
import { numberToHex, type Address, type Hash, type Hex, type RpcLog } from 'viem';
import type { EvmConnection } from './client.ts';

/** Blocks in one request; public endpoints refuse more than a few thousand. */
export const BLOCKS_AT_ONCE = 1_000n;

export interface WantedLog {
  readonly address: Address;
  /** In each position one topic, several, or null for any. */
  readonly topics: readonly (Hex | Hex[] | null)[];
}

/**
 * The transaction of the newest such log between two blocks, however long the search takes; null
 * where the endpoint shows none. Newest blocks first: mostly the log is recent.
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

/** The transaction of the newest such log in blocks of one request, or null. */
export async function newestLog(
  connection: EvmConnection,
  wanted: WantedLog,
  range: BlockRange,
): Promise<Hash | null> {
  return (await logsIn(connection, wanted, range)).at(-1)?.transactionHash ?? null;
}

/** Such logs, oldest first, in blocks of one request. */
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
