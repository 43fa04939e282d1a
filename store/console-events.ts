/**
 * Events that tell open consoles what to read again. Every reader gets them in the order of their
 * transactions, and none past a transaction that is still running.
 */
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';

export const CONSOLE_EVENT_KINDS = [
  'movement',
  'capital_transfer',
  'callback',
  'proposal',
  'change_request',
  'cutover',
  'balance',
] as const;
export type ConsoleEventKind = (typeof CONSOLE_EVENT_KINDS)[number];

/** A reader's position: the reader has seen every event up to this position, and none after it. */
export interface EventPosition {
  /** Positions of different epochs cannot be compared (`console_epoch`). */
  readonly epoch: string;
  readonly xid: bigint;
  readonly id: bigint;
}

export interface ConsoleEvent {
  readonly position: EventPosition;
  readonly kind: ConsoleEventKind;
  /** The subject's id; for a balance, its venue key. */
  readonly subject: string;
  /**
   * What a console shows of the subject at the time of this read; null when the subject no longer
   * exists.
   */
  readonly shown: Readonly<Record<string, string | number | null>> | null;
}

export interface ConsoleEvents {
  readonly events: readonly ConsoleEvent[];
  /** The position from which to continue. */
  readonly position: EventPosition;
  /** Whether events after `after` may be missing: the reader must then read everything again. */
  readonly isLost: boolean;
}

interface Row extends Pick<ConsoleEvent, 'kind' | 'subject' | 'shown'> {
  readonly epoch: string;
  readonly horizon: string;
  readonly removed: boolean;
  readonly xid: string | null;
  readonly id: string;
}

/**
 * Returns at most `atMost` events after a position, oldest first; without a position, only the
 * present position.
 */
export async function readConsoleEvents(
  db: Pick<Database, 'sql'>,
  after: EventPosition | null,
  atMost: number,
): Promise<ConsoleEvents> {
  const [xid, id] = [String(after?.xid ?? 0n), String(after?.id ?? 0n)];
  // `horizon`: every transaction with a smaller id has ended, so all of its events are visible
  // here.
  const rows = await run(
    () => db.sql<Row>`
      WITH at AS MATERIALIZED (
        SELECT console_epoch() AS epoch, pg_snapshot_xmin(pg_current_snapshot()) AS horizon
      ), found AS MATERIALIZED (
        SELECT e.* FROM at CROSS JOIN LATERAL (
          SELECT * FROM console_events e
          WHERE (e.xid, e.id) > (${xid}::xid8, ${id}::bigint) AND e.xid < at.horizon
          ORDER BY e.xid, e.id LIMIT ${after === null ? 0 : atMost}::integer) e
      ), about AS MATERIALIZED (
        SELECT kind, subject, console_event_of(kind, subject) AS shown
        FROM (SELECT DISTINCT kind, subject FROM found) s
      )
      SELECT at.epoch, at.horizon::text AS horizon,
        EXISTS (SELECT FROM console_events_removed r WHERE r.epoch = at.epoch
          AND (r.xid, r.id) > (${xid}::xid8, ${id}::bigint)) AS removed,
        f.xid::text AS xid, f.id::text AS id, f.kind, f.subject, a.shown
      FROM at LEFT JOIN found f ON true
        LEFT JOIN about a ON a.kind = f.kind AND a.subject = f.subject
      ORDER BY f.xid, f.id`,
  );
  const [first] = rows;
  if (first === undefined) throw new Error('the database returned no position');
  const { epoch, removed } = first;
  const horizon = BigInt(first.horizon);
  const now = { epoch, xid: horizon, id: 0n };
  if (after === null) return { events: [], position: now, isLost: false };
  if (after.epoch !== epoch || removed || after.xid > horizon)
    return { events: [], position: now, isLost: true };
  const events = rows.flatMap((row): ConsoleEvent[] => {
    if (row.xid === null) return [];
    const { kind, subject, shown } = row;
    const position = { epoch, xid: BigInt(row.xid), id: BigInt(row.id) };
    return [{ position, kind, subject, shown }];
  });
  const last = events.length === atMost ? events.at(-1)?.position : undefined;
  return { events, position: last ?? now, isLost: false };
}

/** Removes up to `atMost` events older than `keepSeconds`; returns the number of removed events. */
export async function removeConsoleEvents(
  db: Pick<Database, 'sql'>,
  { keepSeconds, atMost }: { readonly keepSeconds: number; readonly atMost: number },
): Promise<number> {
  const rows = await run(
    () => db.sql<{ removed: number }>`
      SELECT remove_console_events(${keepSeconds}::integer, ${atMost}::integer) AS removed`,
  );
  return rows[0]?.removed ?? 0;
}
