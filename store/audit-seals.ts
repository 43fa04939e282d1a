/**
 * The chain of audit seals in the database: finds rows without a seal, adds seals, and reads the
 * chain.
 */
import type { AuditRecord } from '../domain/audit.ts';
import { lossesIn } from '../domain/json-text.ts';
import type { JsonObject } from '../domain/json.ts';
import { EMPTY_CHAIN, type AuditSeal, type ChainHead } from '../platform/audit-chain.ts';
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';
import { iso, stored } from './json.ts';

/** A record with the MAC that is stored in its row. */
export interface AuditRowRead {
  readonly record: AuditRecord;
  readonly mac: string | null;
  /**
   * Whether `record` has the same numbers as the row. It may not: jsonb keeps more digits than a
   * JavaScript number, and so more than the API shows.
   */
  readonly exact: boolean;
}

/** Position of a row when rows are sorted by time. */
export interface AuditPlace {
  readonly occurred_at: string;
  readonly event_id: string;
}

type StoredRow = Omit<AuditRecord, 'details'> & {
  readonly details: string;
  readonly mac: string | null;
};

/** Returns the last seal of the chain. */
export async function readHead(db: Database): Promise<ChainHead> {
  const rows = await run(
    () => db.sql<{ position: string; chain_hash: string }>`
      SELECT position::text, encode(chain_hash, 'hex') AS chain_hash FROM audit_seals
        ORDER BY audit_seals.position DESC LIMIT 1`,
  );
  const [row] = rows;
  return row === undefined
    ? EMPTY_CHAIN
    : { position: BigInt(row.position), chain_hash: row.chain_hash };
}

/** A place after every row. */
const END: AuditPlace = {
  occurred_at: 'infinity',
  event_id: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
};

/** A place before every row. */
export const BEGINNING: AuditPlace = {
  occurred_at: '-infinity',
  event_id: '00000000-0000-0000-0000-000000000000',
};

/** Where a read of unsealed rows begins: behind a row, or so many seconds before now. */
export type SealPlace = AuditPlace | { readonly newest_seconds: number };

export interface UnsealedPage {
  readonly rows: readonly AuditRowRead[];
  /** The place from which to continue; null: no rows follow. */
  readonly next: AuditPlace | null;
}

/**
 * Returns the first `limit` rows without a seal among the next `scan` committed rows after `after`,
 * in order of time. Takes only a reader's lock.
 */
export async function readUnsealed(
  db: Database,
  after: SealPlace,
  { limit, scan }: { readonly limit: number; readonly scan: number },
): Promise<UnsealedPage> {
  const { occurred_at, event_id, newest_seconds } =
    'newest_seconds' in after
      ? { ...BEGINNING, ...after, occurred_at: null }
      : { ...after, newest_seconds: 0 };
  const [last = null] = await run(
    () => db.sql<AuditPlace>`
      SELECT occurred_at::text, event_id::text FROM audit_events e
      WHERE (e.occurred_at, e.event_id)
        > (coalesce(${occurred_at}::timestamptz,
            now() - make_interval(secs => ${newest_seconds}::integer)), ${event_id}::uuid)
      ORDER BY e.occurred_at, e.event_id OFFSET ${scan - 1}::integer LIMIT 1`,
  );
  const until = last ?? END;
  const rows = await run(
    () => db.sql<StoredRow>`
      SELECT event_id::text,
        to_char(occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS occurred_at,
             actor_client_id, actor_key_id, actor_role, namespace, action, entity_type, entity_key,
               outcome, request_id, reason,
             details::text, encode(mac, 'hex') AS mac
      FROM audit_events e
      WHERE (e.occurred_at, e.event_id)
        > (coalesce(${occurred_at}::timestamptz,
            now() - make_interval(secs => ${newest_seconds}::integer)), ${event_id}::uuid)
        AND (e.occurred_at, e.event_id)
        <= (${until.occurred_at}::timestamptz, ${until.event_id}::uuid)
        AND NOT EXISTS (SELECT 1 FROM audit_seals s WHERE s.event_id = e.event_id)
      ORDER BY e.occurred_at, e.event_id LIMIT ${limit}::integer`,
  );
  const found = rows.map(toRow);
  const lastFound = found.at(-1)?.record;
  return { rows: found, next: found.length === limit && lastFound ? lastFound : last };
}

/**
 * Adds `seals` after `head`. Returns false when the chain has another head by now, or when another
 * process is adding to the chain.
 */
export async function addSeals(
  db: Database,
  head: ChainHead,
  seals: readonly AuditSeal[],
): Promise<boolean> {
  const doc = JSON.stringify(seals.map((seal) => ({ ...seal, position: String(seal.position) })));
  const rows = await run(
    () =>
      db.sql<{
        added: boolean;
      }>`SELECT seal_audit(${String(head.position)}::bigint, ${doc}::jsonb) AS added`,
  );
  return rows[0]?.added === true;
}

/** A seal with its audit row; the row is null when it no longer exists. */
export interface SealedRow {
  readonly seal: AuditSeal;
  readonly row: AuditRowRead | null;
}

/** If the audit row of a seal is missing, all of its columns are null. */
type StoredPair = Record<'position' | 'event_id' | 'event_hash' | 'chain_hash' | 'time', string> &
  Record<'seal_mac' | 'row_id' | 'row_mac', string | null> &
  Omit<StoredRow, 'event_id' | 'occurred_at' | 'mac'>;

/** Returns up to `limit` seals after `position`, in the chain's order. */
export async function readSealed(
  db: Database,
  position: bigint,
  limit: number,
): Promise<readonly SealedRow[]> {
  const rows = await run(
    () => db.sql<StoredPair>`
      SELECT s.position::text, s.event_id::text, encode(s.event_hash, 'hex') AS event_hash,
        encode(s.chain_hash, 'hex') AS chain_hash,
             encode(s.mac, 'hex') AS seal_mac, e.event_id::text AS row_id,
             to_char(e.occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS time,
             e.actor_client_id, e.actor_key_id, e.actor_role, e.namespace, e.action, e.entity_type,
               e.entity_key, e.outcome,
             e.request_id, e.reason, e.details::text, encode(e.mac, 'hex') AS row_mac
      FROM audit_seals s LEFT JOIN audit_events e ON e.event_id = s.event_id
      WHERE s.position > ${String(position)}::bigint ORDER BY s.position LIMIT ${limit}::integer`,
  );
  return rows.map(
    ({
      position: at,
      event_id,
      event_hash,
      chain_hash,
      seal_mac,
      row_id,
      time,
      row_mac,
      ...rest
    }) => ({
      seal: { position: BigInt(at), event_id, event_hash, chain_hash, mac: seal_mac },
      row:
        row_id === null
          ? null
          : toRow({ ...rest, event_id: row_id, occurred_at: time, mac: row_mac }),
    }),
  );
}

function toRow({ details, mac, ...row }: StoredRow): AuditRowRead {
  return {
    record: { ...row, details: stored<JsonObject>(JSON.parse(details)) },
    mac,
    exact: lossesIn(details).length === 0,
  };
}

export interface SealState {
  /** Number of sealed rows. */
  readonly sealed: number;
  /** Hash of the newest seal, in hexadecimal; null when there is no seal. */
  readonly chain_hash: string | null;
  readonly sealed_at: string | null;
  /** Whether one of the newest rows that should be sealed by now has no seal. */
  readonly overdue: boolean;
}

/** Number of newest rows that are checked: if sealing has stopped, the newest rows lack seals. */
const NEWEST = 100;

/**
 * Returns whether sealing works. `graceSeconds`: how long sealing may take. Reads only the newest
 * rows.
 */
export async function readSealState(db: Database, graceSeconds: number): Promise<SealState> {
  const rows = await run(
    () => db.sql<
      Omit<SealState, 'sealed' | 'sealed_at'> & {
        readonly sealed: string;
        readonly sealed_at: Date | null;
      }
    >`
      SELECT coalesce(h.position, 0)::text AS sealed, encode(h.chain_hash, 'hex') AS chain_hash,
        h.sealed_at, EXISTS (SELECT 1 FROM (SELECT event_id FROM audit_events
            WHERE occurred_at < now() - make_interval(secs => ${graceSeconds}::double precision)
            ORDER BY occurred_at DESC, event_id DESC LIMIT ${NEWEST}::integer) e
          WHERE NOT EXISTS (SELECT 1 FROM audit_seals s WHERE s.event_id = e.event_id)) AS overdue
      FROM (SELECT 1) one
        LEFT JOIN (SELECT * FROM audit_seals ORDER BY position DESC LIMIT 1) h ON true`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the query for the newest audit seals returned no row');
  return {
    ...row,
    sealed: Number(row.sealed),
    sealed_at: row.sealed_at === null ? null : iso(row.sealed_at),
  };
}

export interface AuditCounts {
  readonly events: number;
  readonly sealed: number;
  /**
   * The number of rows that should be sealed by now and are not. `oldest_overdue`: the oldest of
   * these rows.
   */
  readonly overdue: number;
  readonly oldest_overdue: string | null;
}

/** Counts sealed and unsealed rows. `graceSeconds`: how long sealing may take. */
export async function countAudit(db: Database, graceSeconds: number): Promise<AuditCounts> {
  const rows = await run(
    () => db.sql<
      Record<'events' | 'sealed' | 'overdue', string> & { readonly oldest_overdue: string | null }
    >`
      WITH late AS (
        SELECT event_id, occurred_at FROM audit_events e
        WHERE occurred_at < now() - make_interval(secs => ${graceSeconds}::double precision)
          AND NOT EXISTS (SELECT 1 FROM audit_seals s WHERE s.event_id = e.event_id))
      SELECT (SELECT count(*) FROM audit_events)::text AS events,
        (SELECT count(*) FROM audit_seals)::text AS sealed,
             (SELECT count(*) FROM late)::text AS overdue,
             (SELECT event_id FROM late ORDER BY occurred_at,
               event_id LIMIT 1)::text AS oldest_overdue`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the query that counts audit rows returned no row');
  const { events, sealed, overdue, oldest_overdue } = row;
  return {
    events: Number(events),
    sealed: Number(sealed),
    overdue: Number(overdue),
    oldest_overdue,
  };
}

/**
 * The seals of the rows in a time range: first and last position, and the number of rows in that
 * range without a seal.
 */
export interface SealedRange {
  readonly first: bigint | null;
  readonly last: bigint | null;
  readonly unsealed: number;
}

/** Returns the seals of rows from `from` (inclusive) to `to` (exclusive), both ISO 8601. */
export async function readSealedRange(
  db: Database,
  from: string,
  to: string,
): Promise<SealedRange> {
  const rows = await run(
    () => db.sql<{
      readonly first: string | null;
      readonly last: string | null;
      readonly unsealed: string;
    }>`
      SELECT min(s.position)::text AS first, max(s.position)::text AS last, count(*)
        FILTER (WHERE s.position IS NULL)::text AS unsealed
      FROM audit_events e LEFT JOIN audit_seals s ON s.event_id = e.event_id
      WHERE e.occurred_at >= ${from}::timestamptz AND e.occurred_at < ${to}::timestamptz`,
  );
  const position = (text: string | null | undefined): bigint | null =>
    text == null ? null : BigInt(text);
  return {
    first: position(rows[0]?.first),
    last: position(rows[0]?.last),
    unsealed: Number(rows[0]?.unsealed ?? 0),
  };
}
