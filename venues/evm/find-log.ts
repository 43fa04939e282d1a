/** Looks for the log of something that somebody has done on a chain, whoever it was. */
import { numberToHex, type Address, type Hash, type Hex } from 'viem';
import { readBlock, type EvmConnection } from './client.ts';

/** So many blocks are searched at a time; public endpoints refuse more than a few thousand. */
const BLOCKS_AT_ONCE = 1_000n;

/**
 * The transaction of the newest log with these topics (null: any) since a block; null where the
 * endpoint shows none. The newest blocks are searched first: mostly it was done just now.
 */
export async function findLog(
  connection: EvmConnection,
  of: {
    readonly address: Address;
    /** One or several in each place, or any. */
    readonly topics: readonly (Hex | Hex[] | null)[];
    readonly since: bigint;
    /** The newest block when left out. */
    readonly until?: bigint;
  },
): Promise<Hash | null> {
  const newest = of.until ?? (await readBlock(connection, 'latest')).number;
  for (let end = newest; end >= of.since; end -= BLOCKS_AT_ONCE) {
    const first = end - BLOCKS_AT_ONCE + 1n;
    const fromBlock = numberToHex(first > of.since ? first : of.since);
    const logs = await connection.ask((client) =>
      client.request({
        method: 'eth_getLogs',
        params: [
          { address: of.address, topics: [...of.topics], fromBlock, toBlock: numberToHex(end) },
        ],
      }),
    );
    const hash = logs.at(-1)?.transactionHash;
    if (hash != null) return hash;
  }
  return null;
}
