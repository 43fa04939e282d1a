/**
 * Which open movements and capital transfers have a run that cannot go on. A row counts until a
 * look disproves it, and for at most an hour after the last turn of looks: workers of the release
 * before make none.
 */
import type { StuckTransferRun } from '../domain/capital-transfers/attention.ts';
import type { RunKind, StuckCause } from '../domain/stuck-runs.ts';
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';

/** How long a row counts after the last turn of looks, as in `stuck_run` of attention.sql. */
export const STUCK_COUNTS_FOR = '1 hour';

/** A movement or a capital transfer. */
export interface RunOwner {
  readonly kind: RunKind;
  readonly id: string;
}

export interface StuckRow extends RunOwner {
  readonly run_id: string;
  readonly cause: StuckCause;
  readonly message: string | null;
}

export interface Suspects {
  /** The database's time of this read, in its text format. */
  readonly at: string;
  /**
   * Movements with a command that no run has read for `seconds`, or with an approval that expired
   * as long ago without an end, by id.
   */
  readonly unread: readonly string[];
  /** Those with a row, by id. `ended`: no longer open. */
  readonly known: readonly (RunOwner & {
    readonly ended: boolean;
    readonly cause: StuckCause;
  })[];
}

/** Sorts before every id. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** Returns up to `limit` of each list behind these ids. */
export async function readSuspects(
  db: Database,
  after: { readonly unread: string; readonly known: string },
  { seconds, limit }: { readonly seconds: number; readonly limit: number },
): Promise<Suspects> {
  const [row] = await run(
    () => db.sql<Suspects>`
      SELECT svc_now()::text AS at,
        (SELECT coalesce(jsonb_agg(c.movement_id ORDER BY c.movement_id), '[]') FROM (
          (SELECT DISTINCT movement_id FROM commands
            WHERE applied_at IS NULL AND movement_id > ${after.unread}::uuid
              AND created_at <= (SELECT svc_now()) - make_interval(
                secs => ${seconds}::double precision)
            ORDER BY movement_id LIMIT ${limit}::integer)
          UNION
          -- They are few. Their index is read as a whole, not the one of all ids.
          (SELECT movement_id FROM (
              SELECT movement_id FROM movements WHERE request_state = 'PENDING_APPROVAL'
                AND expires_at <= (SELECT svc_now()) - make_interval(
                  secs => ${seconds}::double precision) OFFSET 0) expired
            WHERE movement_id > ${after.unread}::uuid
            ORDER BY movement_id LIMIT ${limit}::integer)
          ORDER BY movement_id LIMIT ${limit}::integer) c) AS unread,
        (SELECT coalesce(jsonb_agg(k ORDER BY k.id), '[]') FROM (
          SELECT s.kind, s.entity_id AS id, s.cause,
            coalesce(m.ended_at, t.ended_at) IS NOT NULL AS ended
          FROM stuck_runs s
          LEFT JOIN movements m ON m.movement_id = s.entity_id
          LEFT JOIN capital_transfers t ON t.transfer_id = s.entity_id
          WHERE s.entity_id > ${after.known}::uuid
          ORDER BY s.entity_id LIMIT ${limit}::integer) k) AS known`,
  );
  if (row === undefined) throw new Error('the read of stuck runs returned no row');
  return row;
}

/**
 * Stores what looks found that began at `at` ({@link Suspects}). A row that a later look wrote
 * stays as it is, and so does `since` while it is the same run. A run that is not seen keeps the
 * cause that counts: it says more.
 */
export async function noteStuckRuns(
  db: Database,
  at: string,
  found: readonly StuckRow[],
): Promise<void> {
  if (found.length === 0) return;
  await run(
    () => db.sql`
      INSERT INTO stuck_runs AS s (entity_id, kind, run_id, cause, message, since, last_seen)
      SELECT id, kind, run_id, cause, message, ${at}::timestamptz, ${at}::timestamptz
      FROM jsonb_to_recordset(${JSON.stringify(found)}::jsonb)
        AS x (id uuid, kind text, run_id text, cause text, message text)
      ORDER BY id
      ON CONFLICT (entity_id) DO UPDATE SET run_id = excluded.run_id, cause = excluded.cause,
        message = excluded.message, last_seen = excluded.last_seen,
        since = CASE WHEN s.run_id = excluded.run_id THEN s.since ELSE excluded.since END
        WHERE s.last_seen < excluded.last_seen AND (excluded.cause <> 'not_seen'
          OR s.last_seen <= excluded.last_seen - ${STUCK_COUNTS_FOR}::interval)`,
  );
}

/**
 * Removes the rows of runs that a look which began at `at` found going on or closed. A row that a
 * later look wrote stays.
 */
export async function removeStuckRuns(
  db: Database,
  at: string,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  await run(
    () => db.sql`
      DELETE FROM stuck_runs
      WHERE entity_id = ANY (${`{${ids.join(',')}}`}::uuid[]) AND last_seen < ${at}::timestamptz`,
  );
}

/**
 * Renews the rows that still count, as a turn that began at `at` leaves them: none of its looks has
 * disproved them. Writes each at most once in 15 minutes.
 */
export async function renewStuckRuns(db: Database, at: string): Promise<void> {
  await run(
    () => db.sql`
      UPDATE stuck_runs SET last_seen = ${at}::timestamptz
      WHERE last_seen < ${at}::timestamptz - interval '15 minutes'
        AND last_seen > ${at}::timestamptz - ${STUCK_COUNTS_FOR}::interval`,
  );
}

/** Returns why the runs of these transfers cannot go on; leaves out the others, and ended ones. */
export async function readStuckTransfers(
  db: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, StuckTransferRun>> {
  if (ids.length === 0) return new Map();
  const rows = await run(
    () => db.sql<StuckTransferRun & { readonly transfer_id: string }>`
      SELECT transfer_id::text, cause, to_jsonb(since) #>> '{}' AS since, message
      FROM stuck_runs JOIN capital_transfers ON transfer_id = entity_id
      WHERE entity_id = ANY (${`{${ids.join(',')}}`}::uuid[]) AND ended_at IS NULL
        AND last_seen > (SELECT svc_now()) - ${STUCK_COUNTS_FOR}::interval`,
  );
  return new Map(rows.map(({ transfer_id, ...stuck }) => [transfer_id, stuck]));
}
