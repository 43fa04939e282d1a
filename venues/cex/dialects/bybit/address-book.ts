/**
 * Bybit's address book. A withdrawal has to name an address exactly as the book spells it, with the
 * entry's chain and tag (docs/bybit-facts.md, 7).
 */
import type { z } from 'zod';
import { sameAddress } from '../../../../domain/allowlist/address.ts';
import type { CallOptions } from '../../../../domain/executor.ts';
import { rejected } from '../../../node-plan.ts';
import type { CexConnection } from '../../connection.ts';
import type { BookEntry, Quote, WithdrawalOrder } from '../../dialect.ts';
import * as answers from './answers.ts';
import { readPages } from './history.ts';

type Entry = z.output<typeof answers.bookEntry>;

/** An entry for every coin of its chain. */
const EVERY_COIN = 'baseCoin';
/** An entry that is paid within Bybit alone, not on a chain. */
const WITHIN_BYBIT = '1';

/** As `addressBook` of the dialect. */
export async function addressBook(
  connection: CexConnection,
  call: CallOptions,
): Promise<readonly BookEntry[]> {
  const entries = await readEntries(connection, call);
  return entries.map((each) => ({
    address: each.address,
    tag: each.tag,
    asset: each.coin === EVERY_COIN ? null : each.coin,
    network: each.chain,
    // Whether the API withdraws to an address that is not verified is unproven (18.10).
    whitelisted: each.verified === '1' && isUsable(each),
  }));
}

/**
 * As `quote` of the dialect: the address in the spelling of the book, since the plan's may differ
 * in the case of its letters.
 *
 * @throws ExecutorFault `rejected` `ADDRESS_NOT_WHITELISTED`.
 */
export async function quoteWithdrawal(
  connection: CexConnection,
  order: WithdrawalOrder,
  call: CallOptions,
): Promise<Quote> {
  const [address] = (await readEntries(connection, call))
    .filter((each) => isUsable(each) && isFor(each, order))
    .map((each) => each.address)
    // Of several spellings, always the same one.
    .sort();
  if (address !== undefined) return { address };
  throw rejected(
    'ADDRESS_NOT_WHITELISTED',
    "Bybit's address book does not hold the destination as usable, for this asset, chain and tag; add it, or wait for 24 hours after it was added",
  );
}

function readEntries(connection: CexConnection, call: CallOptions): Promise<readonly Entry[]> {
  // Without filters: one by coin may leave out the entries for every coin.
  const pages = {
    method: 'privateGetV5AssetWithdrawQueryAddress',
    list: 'rows',
    record: answers.bookEntry,
    idOf: ({ coin, chain, address, tag }: Entry) => JSON.stringify([coin, chain, address, tag]),
    filter: {},
  } as const;
  return readPages(connection, pages, call);
}

/** Status 1 allows no withdrawals for 24 hours; others are not documented. */
function isUsable({ status, addressType }: Entry): boolean {
  return status === '0' && addressType !== WITHIN_BYBIT;
}

function isFor(
  { coin, chain, address, tag }: Entry,
  order: Pick<WithdrawalOrder, 'asset' | 'network' | 'address' | 'tag'>,
): boolean {
  return (
    [order.asset, EVERY_COIN].includes(coin) &&
    chain === order.network &&
    sameAddress(address, order.address) &&
    tag === order.tag
  );
}
