/** Stores balance snapshots, and reads the amounts that are reserved against them. */
import type { FetchedBalances } from '../domain/balances.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';
import { iso } from './json.ts';

/** The latest snapshot of a pool, and the outflow that may be missing in this snapshot. */
export interface PoolRow {
  readonly venue_key: string;
  readonly asset: string;
  readonly account_type: string;
  readonly available: string | null;
  readonly withdrawable: string | null;
  readonly total: string | null;
  readonly details: JsonObject | null;
  readonly fetched_at: string;
  /** Whether the snapshot is older than the threshold, by the database's clock. */
  readonly stale: boolean;
  readonly pending_outflow: string;
  readonly holding_movements: number;
  readonly holding_transfers: number;
}

export interface PoolFilter {
  readonly venue_key?: string | undefined;
  readonly asset?: string | undefined;
  readonly account_type?: string | undefined;
}

/** Returns the latest snapshot of each pool, by venue, asset and account type. */
export async function readBalances(
  db: Database,
  filter: PoolFilter,
  staleAfterSeconds: number,
): Promise<readonly PoolRow[]> {
  const { venue_key = null, asset = null, account_type = null } = filter;
  const rows = await run(
    () => db.sql<Omit<PoolRow, 'fetched_at'> & { readonly fetched_at: Date }>`
      SELECT b.venue_key, b.asset, b.account_type, trim_scale(b.available)::text AS available,
        trim_scale(b.withdrawable)::text AS withdrawable,
        trim_scale(b.total)::text AS total, b.details, b.fetched_at,
        b.fetched_at < svc_now() - make_interval(secs => ${staleAfterSeconds}::integer) AS stale,
        trim_scale(p.amount)::text AS pending_outflow, p.movements::integer AS holding_movements,
          p.transfers::integer AS holding_transfers
      FROM balance_snapshots b,
        pending_outflow(b.venue_key, b.account_type, b.asset, b.fetched_at) p
      WHERE (${venue_key}::text IS NULL OR b.venue_key = ${venue_key})
        AND (${asset}::text IS NULL OR b.asset = ${asset})
        AND (${account_type}::text IS NULL OR b.account_type = ${account_type})
      ORDER BY b.venue_key, b.asset, b.account_type`,
  );
  return rows.map((row) => ({ ...row, fetched_at: iso(row.fetched_at) }));
}

/**
 * Fetches and stores one venue's balances, and its outlook if there is one. The snapshot's time is
 * the database's clock before the fetch, so that an outflow that ends during the fetch still
 * counts. Throws what `fetch` throws; then the old rows stay. An old outlook also stays when a
 * fetch could not read it, or it cannot be stored, of which `onUnstored` gets the error: it keeps
 * its time, and the balances are stored without it.
 */
export async function refreshBalances(
  db: Database,
  venueKey: string,
  fetch: () => Promise<FetchedBalances>,
  onUnstored: (error: unknown) => void,
): Promise<void> {
  const [began] = await run(() => db.sql<{ at: string }>`SELECT svc_now()::text AS at`);
  const at = began?.at ?? null;
  const { pools, outlook } = await fetch();
  const rows = JSON.stringify(pools);
  await run(() => db.sql`SELECT store_balances(${venueKey}, ${at}::timestamptz, ${rows}::jsonb)`);
  if (outlook === null) return;
  const shown = JSON.stringify(outlook);
  await run(
    () => db.sql`SELECT store_outlook(${venueKey}, ${at}::timestamptz, ${shown}::jsonb)`,
  ).catch(onUnstored);
}
