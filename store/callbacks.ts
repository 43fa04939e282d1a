/**
 * The outbox of callbacks: claims due callbacks, records the outcome of each attempt, lists
 * callbacks, and sends them again.
 */
import type { ClaimedCallback, Settlement } from '../domain/callbacks/settlement.ts';
import { CALLBACK_STATUSES, type CallbackStatus } from '../domain/callbacks/status.ts';
import type { JsonObject } from '../domain/json.ts';
import type { AuditEntry } from '../domain/transition.ts';
import type { Prisma } from '../prisma/generated/client.ts';
import type { Database } from '../prisma/client.ts';
import { auditRows, withEventIds } from './event-ids.ts';
import { run } from './faults.ts';
import { iso, stored } from './json.ts';
import { olderThan, type PagePosition } from './paging.ts';

/**
 * Leases up to `limit` due callbacks, for each movement only the next one in order. A lease expires
 * by itself, so a callback that a dead process had claimed is sent again.
 */
export async function claimCallbacks(
  db: Database,
  options: { readonly limit: number; readonly leaseSeconds: number; readonly movementId?: string },
): Promise<readonly ClaimedCallback[]> {
  const only = options.movementId ?? null;
  return run(
    () => db.sql<ClaimedCallback>`
      SELECT c.event_id::text, c.movement_id::text, c.transfer_id::text, c.webhook, c.event_type,
        c.url, c.payload, c.nonce, c.attempts, (SELECT p.trace_parent FROM movement_plans p
          WHERE p.movement_id = coalesce(c.movement_id, CASE WHEN c.webhook IS NOT NULL
            THEN (c.payload::jsonb #>> '{data,movement_id}')::uuid END)) AS trace_parent
      FROM claim_callbacks(${options.limit}::integer, ${options.leaseSeconds}::integer,
        ${only}::uuid) c`,
  );
}

/**
 * Records the outcome of an attempt as compare-and-set; false when another process has recorded an
 * outcome meanwhile.
 */
export async function settleCallback(db: Database, settlement: Settlement): Promise<boolean> {
  const doc = JSON.stringify({ ...settlement, timeline: withEventIds(settlement.timeline) });
  const rows = await run(
    () => db.sql<{ settled: boolean }>`SELECT settle_callback(${doc}::jsonb) AS settled`,
  );
  return rows[0]?.settled === true;
}

type Row = Prisma.CallbackGetPayload<object>;

export interface CallbackRecord {
  readonly event_id: string;
  /** Exactly one of these three is set: what the callback is of. */
  readonly movement_id: string | null;
  readonly transfer_id: string | null;
  readonly webhook: string | null;
  readonly event_type: string;
  readonly sequence: number;
  readonly url: string;
  readonly payload: JsonObject;
  readonly nonce: string;
  readonly status: CallbackStatus;
  readonly attempts: number;
  /** Null unless the callback is waiting to be sent. */
  readonly next_attempt_at: string | null;
  readonly last_error: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface CallbackFilter {
  readonly status?: CallbackStatus | undefined;
  readonly movement_id?: string | undefined;
  readonly transfer_id?: string | undefined;
  readonly webhook?: string | undefined;
}

/** Returns up to `limit` callbacks after `page.after`, newest first. */
export async function listCallbacks(
  db: Database,
  { status, movement_id, transfer_id, webhook }: CallbackFilter,
  page: { readonly limit: number; readonly after: PagePosition | null },
): Promise<readonly CallbackRecord[]> {
  const rows = await run(() =>
    db.callback.findMany({
      where: {
        ...(status === undefined ? {} : { status }),
        ...(movement_id === undefined ? {} : { movement_id }),
        ...(transfer_id === undefined ? {} : { transfer_id }),
        ...(webhook === undefined ? {} : { webhook }),
        ...(page.after === null ? {} : olderThan(page.after, 'event_id')),
      },
      orderBy: [{ created_at: 'desc' }, { event_id: 'desc' }],
      take: page.limit,
    }),
  );
  return rows.map(toRecord);
}

function toRecord(row: Row): CallbackRecord {
  const status = CALLBACK_STATUSES.find((each) => each === row.status) ?? 'pending';
  return {
    event_id: row.event_id,
    movement_id: row.movement_id,
    transfer_id: row.transfer_id,
    webhook: row.webhook,
    event_type: row.event_type,
    sequence: row.sequence,
    url: row.url,
    payload: stored<JsonObject>(JSON.parse(row.payload)),
    nonce: row.nonce,
    status,
    attempts: row.attempts,
    next_attempt_at: status === 'pending' ? iso(row.next_attempt_at) : null,
    last_error: row.last_error,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  };
}

export interface Redelivery {
  readonly event_id: string;
  /** The statuses from which the callback may be sent again. */
  readonly states: readonly CallbackStatus[];
  readonly audit: readonly AuditEntry[];
}

export type RedeliveryOutcome =
  | { readonly ok: true; readonly callback: CallbackRecord }
  | { readonly ok: false; readonly status: CallbackStatus };

type JsonRow = Omit<Row, 'next_attempt_at' | 'created_at' | 'updated_at'> &
  Record<'next_attempt_at' | 'created_at' | 'updated_at', string>;
type RedeliveryAnswer =
  | { readonly ok: true; readonly row: JsonRow }
  | { readonly ok: false; readonly status: CallbackStatus };

/** Queues a callback again with the same payload and nonce; null for an unknown callback. */
export async function redeliverCallback(
  db: Database,
  redelivery: Redelivery,
): Promise<RedeliveryOutcome | null> {
  const doc = JSON.stringify({ ...redelivery, audit: auditRows(db, redelivery.audit) });
  const rows = await run(
    () =>
      db.sql<{
        answer: RedeliveryAnswer | null;
      }>`SELECT redeliver_callback(${doc}::jsonb) AS answer`,
  );
  const answer = rows[0]?.answer ?? null;
  if (answer === null || !answer.ok) return answer;
  const { next_attempt_at, created_at, updated_at, ...row } = answer.row;
  const dates = {
    next_attempt_at: new Date(next_attempt_at),
    created_at: new Date(created_at),
    updated_at: new Date(updated_at),
  };
  return { ok: true, callback: toRecord({ ...row, ...dates }) };
}
