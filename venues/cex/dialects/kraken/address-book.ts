/**
 * Kraken's address book. A withdrawal names the label of an entry, which needs a confirmation by
 * e-mail; its address only confirms the label (docs/kraken-facts.md, 4).
 */
import type { z } from 'zod';
import { sameAddress } from '../../../../domain/allowlist/address.ts';
import type { CallOptions } from '../../../../domain/executor.ts';
import { ask } from '../../answers.ts';
import type { CexConnection } from '../../connection.ts';
import type { BookEntry, WithdrawalOrder } from '../../dialect.ts';
import * as answers from './answers.ts';
import { assetsOf, type Assets, type KrakenAsset } from './assets.ts';

export type Method = z.output<typeof answers.methods>[number];
export type ListedAddress = z.output<typeof answers.addresses>[number];

/** An entry of the book that a withdrawal may name, and the method by which Kraken pays it. */
interface UsableEntry {
  readonly label: string;
  readonly address: string;
  readonly method: Method;
}

/** How an order may be paid: the methods over its network, and the entry to name. */
export interface Route {
  readonly methods: readonly Method[];
  /** Null: the book does not hold the destination as verified. */
  readonly entry: UsableEntry | null;
}

/** As `addressBook` of the dialect. Entries whose network Kraken does not show are left out. */
export async function addressBook(
  connection: CexConnection,
  call: CallOptions,
): Promise<readonly BookEntry[]> {
  const assets = await assetsOf(connection, call);
  const methods = await readMethods(connection, undefined, call);
  const listed = await readAddresses(connection, undefined, call);
  return listed.flatMap((each) => {
    const network = networkOf(each, { methods, assets });
    if (network === null) return [];
    return [
      {
        address: each.address,
        tag: tagOf(each),
        asset: assets.nameOf(each.asset),
        network,
        whitelisted: isUsable(each),
      },
    ];
  });
}

/** Returns the route of the order; null if Kraken has no method over its network. */
export async function findRoute(
  connection: CexConnection,
  {
    assets,
    asset,
    order,
  }: { readonly assets: Assets; readonly asset: KrakenAsset; readonly order: WithdrawalOrder },
  call: CallOptions,
): Promise<Route | null> {
  const listed = await readMethods(connection, asset, call);
  const methods = listed.filter(
    (each) => assets.nameOf(each.asset) === order.asset && each.network === order.network,
  );
  if (methods.length === 0) return null;
  const entries = (await readAddresses(connection, asset, call))
    .filter(
      (each) =>
        isUsable(each) &&
        assets.nameOf(each.asset) === order.asset &&
        sameAddress(each.address, order.address) &&
        tagOf(each) === order.tag &&
        networkOf(each, { methods: listed, assets }) === order.network,
    )
    // Of several labels of one destination, always the same one.
    .sort((left, right) => (left.key < right.key ? -1 : 1));
  const [entry] = entries;
  const method = methods.find((each) => entry !== undefined && isSameMethod(each, entry));
  return {
    methods,
    entry:
      entry === undefined || method === undefined
        ? null
        : { label: entry.key, address: entry.address, method },
  };
}

/**
 * Returns the tag of the entry under that label; null if the book has no such entry, or may not be
 * read. The history of withdrawals shows the label, but not the tag (docs/kraken-facts.md, 4).
 */
export function tagOfLabel(
  book: readonly ListedAddress[],
  { key, info }: { readonly key: string | null; readonly info: string | null },
): string | null {
  const entry = book.find(
    (each) => each.key === key && info !== null && sameAddress(each.address, info),
  );
  return entry === undefined ? null : tagOf(entry);
}

/** Returns the entries of the book; with `asset` those of the asset. */
function readAddresses(
  connection: CexConnection,
  asset: KrakenAsset | undefined,
  call: CallOptions,
): Promise<readonly ListedAddress[]> {
  const schema = answers.resultOf(answers.addresses);
  const parameters = { asset: asset?.altname };
  return ask(connection, 'privatePostWithdrawAddresses', parameters, call, schema);
}

/** Compares names of methods; one begins with a tab (docs/kraken-facts.md, 14). */
export function isSameMethod(
  left: { readonly method: string },
  right: { readonly method: string },
): boolean {
  return left.method.trim() === right.method.trim();
}

function readMethods(
  connection: CexConnection,
  asset: KrakenAsset | undefined,
  call: CallOptions,
): Promise<readonly Method[]> {
  const schema = answers.resultOf(answers.methods);
  const parameters = { asset: asset?.altname };
  return ask(connection, 'privatePostWithdrawMethods', parameters, call, schema);
}

/**
 * Returns the network of an entry, which only its method shows (docs/kraken-facts.md, 14); null if
 * the method has none, or several.
 */
function networkOf(
  entry: ListedAddress,
  { methods, assets }: { readonly methods: readonly Method[]; readonly assets: Assets },
): string | null {
  const networks = methods
    .filter(
      (each) =>
        isSameMethod(each, entry) && assets.nameOf(each.asset) === assets.nameOf(entry.asset),
    )
    .map(({ network }) => network);
  const [first = null, ...others] = new Set(networks);
  return others.length === 0 ? first : null;
}

function tagOf({ tag, memo }: ListedAddress): string | null {
  return tag ?? memo;
}

/** Of an entry with two different tags, nothing shows which one Kraken pays to. */
function isUsable({ verified, tag, memo }: ListedAddress): boolean {
  return verified === true && (tag === null || memo === null || tag === memo);
}
