/** Creates and reads capital transfers. Changes go through `capital-transfer-steps.ts`. */
import type { StuckTransferRun } from '../domain/capital-transfers/attention.ts';
import type { TransferEvent, TransferRow } from '../domain/capital-transfers/step.ts';
import type { TransferAccountType } from '../domain/capital-transfers/topology.ts';
import type { TransferEventType } from '../domain/events.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Actor } from '../domain/roles.ts';
import type { TransferState } from '../domain/states/capital-transfer.ts';
import type { AuditEntry, Hold, Take, UncoveredHold } from '../domain/transition.ts';
import { newId } from '../platform/ids.ts';
import type { Database } from '../prisma/client.ts';
import type { Prisma } from '../prisma/generated/client.ts';
import { auditRows, withEventIds } from './event-ids.ts';
import { run, writeOrFind } from './faults.ts';
import { decimal, iso, object, stored } from './json.ts';
import { beforePosition, olderThan, type PagePosition } from './paging.ts';
import { readStuckTransfers, STUCK_COUNTS_FOR } from './stuck-runs.ts';
import {
  CLOCK_WAIT_COUNTS_FOR,
  CLOCK_WAIT_SHOWN_AFTER,
  readClockWaits,
} from './transfer-clock-waits.ts';
import { uncoveredHold } from './transition.ts';

export interface NewTransfer {
  readonly source_venue: string;
  readonly source_account_type: TransferAccountType;
  readonly destination_venue: string;
  readonly destination_account_type: TransferAccountType;
  readonly asset: string;
  readonly amount: string;
  readonly reason: string;
  readonly strategy_id: string | null;
  readonly provider: string;
  /** Which accounts the ends are; null where their venue keys alone say so. */
  readonly venue_entries: string | null;
  /** Called when the transfer needs the operator. */
  readonly callback_url: string | null;
  /** The client that the idempotency key belongs to. */
  readonly client_scope: string;
  readonly idempotency_key: string;
  /** The normalised request, stored with the key so that a conflict can name the differences. */
  readonly request: JsonObject;
  readonly created_by: JsonObject;
}

/** The transfer that used an idempotency key. */
export interface TransferKeyUse {
  readonly transfer_id: string;
  readonly request: JsonObject;
}

export type CreateTransferOutcome =
  | { readonly created: true; readonly transfer_id: string }
  | ({ readonly created: false } & TransferKeyUse)
  /**
   * Nothing was written: the source's balance does not cover the transfer, or its snapshot is too
   * old.
   */
  | { readonly created: null; readonly uncovered: UncoveredHold };

/**
 * Writes a transfer with its hold, history and audit in one transaction. If the idempotency key is
 * used already, returns the transfer that used it.
 */
export async function createTransfer(
  db: Database,
  transfer: NewTransfer,
  about: {
    readonly hold: Hold;
    readonly take: Take;
    readonly event: TransferEvent;
    readonly audit: (transferId: string) => readonly AuditEntry[];
  },
): Promise<CreateTransferOutcome> {
  const transfer_id = newId();
  const [event] = withEventIds([about.event]);
  const doc = JSON.stringify({
    transfer: { ...transfer, transfer_id, request_state: 'CREATED' satisfies TransferState },
    hold: { ...about.hold, reservation_id: newId() },
    take: about.take,
    event,
    audit: auditRows(db, about.audit(transfer_id)),
  });
  const write = async (): Promise<CreateTransferOutcome> => {
    const rows = await db.sql<{
      answer: CreateTransferOutcome;
    }>`SELECT create_transfer(${doc}::jsonb) AS answer`;
    if (rows[0] === undefined) throw new Error('the create of the transfer returned no row');
    return rows[0].answer;
  };
  const find = async (): Promise<CreateTransferOutcome | null> => {
    const rows =
      await db.sql`SELECT FROM capital_transfers WHERE transfer_id = ${transfer_id}::uuid`;
    return rows.length === 0 ? null : { created: true, transfer_id };
  };
  try {
    return await writeOrFind(db, write, find);
  } catch (error) {
    const uncovered = uncoveredHold(error);
    if (uncovered === null) throw error;
    return { created: null, uncovered };
  }
}

/** Returns the transfer that used the key within the client's scope, or null. */
export async function readTransferKeyUse(
  db: Database,
  clientScope: string,
  key: string,
): Promise<TransferKeyUse | null> {
  const row = await run(() =>
    db.capitalTransfer.findUnique({
      where: { client_scope_idempotency_key: { client_scope: clientScope, idempotency_key: key } },
      select: { transfer_id: true, request: true },
    }),
  );
  return row === null ? null : { transfer_id: row.transfer_id, request: object(row.request) };
}

export interface TransferRecord {
  readonly transfer_id: string;
  readonly request_state: TransferState;
  readonly source_venue: string;
  readonly destination_venue: string;
  readonly source_account_type: string;
  readonly destination_account_type: string;
  readonly asset: string;
  readonly amount: string;
  readonly reason: string;
  readonly strategy_id: string | null;
  readonly idempotency_key: string;
  readonly provider: string;
  readonly provider_transfer_id: string | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
  /** Set while the transfer is open and its run cannot go on. */
  readonly stuck_run: StuckTransferRun | null;
  /** Set while the transfer is open and has long not been sent because clocks differ: which. */
  readonly clock_wait: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

const RECORD = {
  transfer_id: true,
  request_state: true,
  source_venue: true,
  destination_venue: true,
  source_account_type: true,
  destination_account_type: true,
  asset: true,
  amount: true,
  reason: true,
  strategy_id: true,
  idempotency_key: true,
  provider: true,
  provider_transfer_id: true,
  error_code: true,
  error_message: true,
  created_at: true,
  updated_at: true,
} as const satisfies Prisma.CapitalTransferSelect;

async function toRecords(
  db: Database,
  rows: readonly Prisma.CapitalTransferGetPayload<{ select: typeof RECORD }>[],
): Promise<readonly TransferRecord[]> {
  const ids = rows.map(({ transfer_id }) => transfer_id);
  const [stuck, waits] = await Promise.all([readStuckTransfers(db, ids), readClockWaits(db, ids)]);
  return rows.map((row) => ({
    ...row,
    stuck_run: stuck.get(row.transfer_id) ?? null,
    clock_wait: waits.get(row.transfer_id) ?? null,
    request_state: stored<TransferState>(row.request_state),
    amount: decimal(row.amount),
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  }));
}

/** Returns one transfer, or null. */
export async function readTransfer(
  db: Database,
  transferId: string,
): Promise<TransferRecord | null> {
  const row = await run(() =>
    db.capitalTransfer.findUnique({ where: { transfer_id: transferId }, select: RECORD }),
  );
  const [found = null] = row === null ? [] : await toRecords(db, [row]);
  return found;
}

export interface TransferFilter {
  readonly state?: TransferState | undefined;
  readonly strategy_id?: string | undefined;
  readonly source_venue?: string | undefined;
  readonly destination_venue?: string | undefined;
  readonly asset?: string | undefined;
  /** Only transfers that need the operator. */
  readonly needs_attention?: true | undefined;
}

interface TransferPage {
  readonly limit: number;
  readonly after: PagePosition | null;
}

/** Returns up to `limit` transfers after `page.after`, newest first. */
export async function listTransfers(
  db: Database,
  filter: TransferFilter,
  page: TransferPage,
): Promise<readonly TransferRecord[]> {
  const { state, needs_attention, ...equal } = filter;
  const where = Object.fromEntries(
    Object.entries({ ...equal, request_state: state }).filter(([, value]) => value !== undefined),
  );
  // Chosen transfers are read without filters: a row filtered out here would make the page short,
  // and a short page looks like the last one.
  const chosen = needs_attention === true ? await idsNeedingOperator(db, filter, page) : undefined;
  const rows = await run(() =>
    db.capitalTransfer.findMany({
      select: RECORD,
      where:
        chosen !== undefined
          ? { transfer_id: { in: [...chosen] } }
          : { ...where, ...(page.after === null ? {} : olderThan(page.after, 'transfer_id')) },
      orderBy: [{ created_at: 'desc' }, { transfer_id: 'desc' }],
      take: page.limit,
    }),
  );
  return toRecords(db, rows);
}

/**
 * Returns the ids of the page's transfers for which `transferAttention` has a reason. Each page
 * reads all that need the operator: they are few.
 */
async function idsNeedingOperator(
  db: Database,
  filter: TransferFilter,
  { limit, after }: TransferPage,
): Promise<readonly string[]> {
  const { state = null, strategy_id = null, asset = null } = filter;
  const { source_venue: source = null, destination_venue: destination = null } = filter;
  const { at, id } = beforePosition(after);
  const rows = await run(
    () => db.sqlPlanned<{ transfer_id: string }>`
      SELECT t.transfer_id::text FROM (
        SELECT transfer_id FROM capital_transfers WHERE request_state = 'MANUAL_INTERVENTION'
        UNION
        SELECT entity_id FROM stuck_runs WHERE kind = 'capital_transfer'
          AND last_seen > (SELECT svc_now()) - ${STUCK_COUNTS_FOR}::interval
        UNION
        SELECT transfer_id FROM transfer_clock_waits
        WHERE since <= (SELECT svc_now()) - ${CLOCK_WAIT_SHOWN_AFTER}::interval
          AND last_seen > (SELECT svc_now()) - ${CLOCK_WAIT_COUNTS_FOR}::interval) needing
      -- OFFSET 0 makes Postgres look up each of them by its id.
      CROSS JOIN LATERAL (SELECT * FROM capital_transfers x
        WHERE x.transfer_id = needing.transfer_id OFFSET 0) t
      WHERE t.ended_at IS NULL
        AND (t.created_at, t.transfer_id) < (${at}::timestamptz, ${id}::uuid)
        AND (${state}::text IS NULL OR t.request_state = ${state})
        AND (${strategy_id}::text IS NULL OR t.strategy_id = ${strategy_id})
        AND (${source}::text IS NULL OR t.source_venue = ${source})
        AND (${destination}::text IS NULL OR t.destination_venue = ${destination})
        AND (${asset}::text IS NULL OR t.asset = ${asset})
      ORDER BY t.created_at DESC, t.transfer_id DESC LIMIT ${limit}::integer`,
  );
  return rows.map(({ transfer_id }) => transfer_id);
}

export interface TransferEventRecord {
  readonly event_id: string;
  readonly sequence: number;
  readonly event_type: TransferEventType;
  readonly from_state: string | null;
  readonly to_state: string | null;
  readonly actor: Actor;
  readonly message: string;
  readonly data: JsonObject;
  readonly occurred_at: string;
}

/** Returns all events of a transfer, oldest first; empty for an unknown transfer. */
export async function readTransferEvents(
  db: Database,
  transferId: string,
): Promise<readonly TransferEventRecord[]> {
  const rows = await run(() =>
    db.capitalTransferEvent.findMany({
      where: { transfer_id: transferId },
      orderBy: { sequence: 'asc' },
    }),
  );
  return rows.map(({ transfer_id: _, ...row }) => ({
    ...row,
    event_type: stored<TransferEventType>(row.event_type),
    actor: stored<Actor>(row.actor),
    data: object(row.data),
    occurred_at: iso(row.occurred_at),
  }));
}

/** Returns the transfer as its activities use it, or null. */
export async function readTransferRow(
  db: Database,
  transferId: string,
): Promise<TransferRow | null> {
  const rows = await run(
    () => db.sql<{ row: TransferRow }>`
      SELECT transfer_row(t, svc_now()) AS row FROM capital_transfers t
        WHERE transfer_id = ${transferId}::uuid`,
  );
  return rows[0]?.row ?? null;
}

/**
 * Returns the transfer for its run, and marks all changes as seen, so that no signal is sent for
 * them.
 */
export async function loadTransfer(
  db: Database,
  transferId: string,
  runId: string,
): Promise<TransferRow | null> {
  const rows = await run(
    () =>
      db.sql<{
        row: TransferRow | null;
      }>`SELECT load_transfer(${transferId}::uuid, ${runId}) AS row`,
  );
  return rows[0]?.row ?? null;
}

/** A transfer whose run must be woken, or may not exist. */
export interface DueTransfer {
  readonly transfer_id: string;
  /** Whether no run has seen the last change yet. */
  readonly unseen: boolean;
  /** Whether its run has not seen the last change after the wakes of more than a minute. */
  readonly late: boolean;
}

/**
 * Leases transfers with a change that no run has seen, and open transfers without a change for
 * `idleSeconds`. A lease expires by itself after a pause that doubles with every wake (up to a
 * minute), so a relay that stops cannot block a transfer. A last change that lies ahead is of a
 * database clock that was set back since, so it counts as long ago.
 */
export async function claimTransfers(
  db: Database,
  options: { readonly idleSeconds: number; readonly limit: number },
): Promise<readonly DueTransfer[]> {
  return run(
    () => db.sql<DueTransfer>`
      UPDATE capital_transfers SET wakes = least(wakes + 1, 6),
        claimed_until = svc_now() + make_interval(secs => least(60, power(2, wakes + 1)))
      WHERE transfer_id IN (
        SELECT transfer_id FROM capital_transfers
        -- The subquery calls svc_now() once; a call for each row would keep Postgres from using the
        -- index.
        WHERE claimed_until <= (SELECT svc_now()) AND (seen_version < version
          OR (ended_at IS NULL
            AND (updated_at <= (SELECT svc_now()) - make_interval(
            secs => ${options.idleSeconds}::double precision)
            OR updated_at > (SELECT svc_now()) + interval '10 seconds')))
        ORDER BY claimed_until LIMIT ${options.limit} FOR UPDATE SKIP LOCKED)
      -- Each change starts the count of wakes anew; the sixth comes after 62 seconds.
      RETURNING transfer_id::text, seen_version < version AS unseen,
        seen_version < version AND wakes = 6 AS late`,
  );
}

/**
 * Notes a change of an open transfer that no run has seen, so that the relay wakes its run, and
 * starts one where there is none. As for a movement, not before two seconds.
 */
export async function wakeTransfer(db: Database, transferId: string): Promise<void> {
  await run(
    () => db.sql`
      UPDATE capital_transfers SET version = version + 1, wakes = 0,
        claimed_until = svc_now() + interval '2 seconds'
      WHERE transfer_id = ${transferId}::uuid AND ended_at IS NULL`,
  );
}
