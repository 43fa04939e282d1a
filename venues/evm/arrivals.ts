/** Finds payments of a token to an address; each is identified by transaction and log position. */
import { isAddressEqual, toEventSelector } from 'viem';
import type { Address, Hash, TransactionReceipt } from 'viem';
import { ExecutorFault } from '../../domain/executor.ts';
import { readReceipt, type EvmConnection } from './client.ts';
import { BLOCKS_AT_ONCE, logsIn, type BlockRange } from './find-log.ts';
import { padded } from './words.ts';

export interface Arrival {
  /** `<tx_hash>#<position of its log in the transaction>`; a reorganisation does not change it. */
  readonly reference: string;
  readonly units: bigint;
  readonly block: bigint;
}

export interface Payee {
  readonly token: Address;
  readonly to: Address;
}

const TRANSFER = toEventSelector('Transfer(address,address,uint256)');

/** Returns the payments of one transaction to the address. */
export function arrivalsOf(receipt: TransactionReceipt, { token, to }: Payee): readonly Arrival[] {
  return receipt.logs.flatMap((log, position) => {
    const [event, , payee] = log.topics;
    const isPaid = isAddressEqual(log.address, token) && event === TRANSFER && payee === padded(to);
    if (!isPaid) return [];
    const reference = `${receipt.transactionHash.toLowerCase()}#${String(position)}`;
    return [{ reference, units: BigInt(log.data), block: receipt.blockNumber }];
  });
}

/**
 * Returns payments of exactly `units` in these blocks, as far as the time allows; the returned `to`
 * is the last searched block.
 */
export async function searchArrivals(
  connection: EvmConnection,
  { units, ...payee }: Payee & { readonly units: bigint },
  range: BlockRange,
  milliseconds: number,
): Promise<{ readonly arrivals: readonly Arrival[]; readonly to: bigint }> {
  const until = performance.now() + milliseconds;
  const arrivals: Arrival[] = [];
  let to = range.from - 1n;
  while (to < range.to && (to < range.from || performance.now() < until)) {
    const end = to + BLOCKS_AT_ONCE < range.to ? to + BLOCKS_AT_ONCE : range.to;
    for (const hash of await paying(connection, { units, ...payee }, { from: to + 1n, to: end })) {
      const receipt = await readReceipt(connection, hash);
      if (receipt === null)
        throw new ExecutorFault(
          'server_error',
          'RECEIPT_MISSING',
          `the endpoint shows a transfer in ${hash}, and no receipt of it`,
        );
      arrivals.push(...arrivalsOf(receipt, payee).filter((each) => each.units === units));
    }
    to = end;
  }
  return { arrivals, to };
}

/** Returns the transactions in these blocks that pay exactly `units`. */
async function paying(
  connection: EvmConnection,
  { token, to, units }: Payee & { readonly units: bigint },
  range: BlockRange,
): Promise<ReadonlySet<Hash>> {
  const topics = [TRANSFER, null, padded(to)];
  const logs = await logsIn(connection, { address: token, topics }, range);
  return new Set(
    logs
      .filter(({ data }) => BigInt(data) === units)
      .flatMap(({ transactionHash }) => transactionHash ?? []),
  );
}
