/** Reads what venues last showed of their withdrawals; `refreshBalances` stores it. */
import type { ClosedNetwork, WithdrawalOutlook } from '../domain/withdrawal-outlook.ts';
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';
import { iso } from './json.ts';

export interface StoredOutlook extends WithdrawalOutlook {
  readonly read_at: string;
}

interface OutlookRow {
  readonly venue_key: string;
  readonly quota_left: string | null;
  readonly quota_unit: string | null;
  readonly closed: readonly ClosedNetwork[];
  readonly read_at: Date;
}

/**
 * Returns each venue's outlook by its key. One that is older than the threshold, by the database's
 * clock, is missing: what it shows may have changed, so it is unknown.
 */
export async function readOutlooks(
  db: Database,
  staleAfterSeconds: number,
): Promise<ReadonlyMap<string, StoredOutlook>> {
  const rows = await run(
    () => db.sql<OutlookRow>`
      SELECT venue_key, trim_scale(quota_left)::text AS quota_left, quota_unit, closed, read_at
      FROM venue_outlooks
      WHERE read_at >= svc_now() - make_interval(secs => ${staleAfterSeconds}::integer)`,
  );
  return new Map(rows.map((row) => [row.venue_key, outlookOf(row)]));
}

function outlookOf({ quota_left: left, quota_unit: unit, closed, read_at }: OutlookRow) {
  const quota = left === null || unit === null ? null : { left, unit };
  return { quota, closed, read_at: iso(read_at) };
}
