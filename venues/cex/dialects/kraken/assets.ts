/**
 * Kraken's names of assets: an id (`XXBT`) and an altname (`XBT`). Ours is the altname, or its
 * common alias. Names are looked up and never cut: `XTZ` and `ZRX` are whole names
 * (docs/kraken-facts.md, 14).
 */
import type { CallOptions } from '../../../../domain/executor.ts';
import { ask } from '../../answers.ts';
import type { CexConnection } from '../../connection.ts';
import * as answers from './answers.ts';

/** Kraken's own aliases, which no field of its answers has. */
const ALIASES: Readonly<Record<string, string>> = { XBT: 'BTC', XDG: 'DOGE' };
/** How long names may be used before they are read again. They hardly ever change. */
const KEPT_MS = 600_000;

export interface KrakenAsset {
  readonly id: string;
  readonly altname: string;
  /** Null: Kraken shows none. */
  readonly status: string | null;
}

export interface Assets {
  /** Returns our name of an id or an altname; an unknown text stays as it is. */
  nameOf(text: string): string;
  /** Returns the asset of our name; null if Kraken has none. */
  find(asset: string): KrakenAsset | null;
}

const kept = new WeakMap<CexConnection, { readonly assets: Assets; readonly until: number }>();

/** Returns the assets, as they were at most ten minutes ago: for their names. */
export async function assetsOf(connection: CexConnection, call: CallOptions): Promise<Assets> {
  const known = kept.get(connection);
  if (known !== undefined && Date.now() < known.until) return known.assets;
  return readAssets(connection, call);
}

/** Reads the assets with their present status. */
export async function readAssets(connection: CexConnection, call: CallOptions): Promise<Assets> {
  const schema = answers.resultOf(answers.assets);
  const found = await ask(connection, 'publicGetAssets', {}, call, schema);
  const assets = createAssets(Object.entries(found).map(([id, each]) => ({ id, ...each })));
  kept.set(connection, { assets, until: Date.now() + KEPT_MS });
  return assets;
}

function createAssets(all: readonly KrakenAsset[]): Assets {
  const byId = new Map(all.map((each) => [each.id, each]));
  return {
    nameOf: (text) => aliasOf(byId.get(text)?.altname ?? text),
    find: (asset) => all.find(({ altname }) => aliasOf(altname) === asset) ?? null,
  };
}

function aliasOf(altname: string): string {
  return Object.hasOwn(ALIASES, altname) ? (ALIASES[altname] ?? altname) : altname;
}
