/**
 * The only writer of a capital transfer's state: applies a step in one statement, or refuses the
 * step. Beside that, notes what looks have brought.
 */
import type {
  TransferReason,
  TransferRow,
  TransferStep,
} from '../domain/capital-transfers/step.ts';
import { TRANSFER_TABLE } from '../domain/states/capital-transfer.ts';
import { assertMove } from '../domain/states/table.ts';
import type { Database } from '../prisma/client.ts';
import { auditRows, withEventIds } from './event-ids.ts';
import { run, writeOrFind } from './faults.ts';

/**
 * The result of a step. `row` is the transfer after an applied step, or as a refused step found it.
 * Null when there is no such transfer, or when this process is stopping and no send may start.
 */
export interface StepOutcome {
  readonly ok: boolean;
  readonly row: TransferRow | null;
}

/**
 * Applies `step` as compare-and-set. A refusal is a result, and its audit rows are committed.
 * Throws `IllegalMove` for a move that is not in the table; `dependency_unavailable` when nothing
 * was written; `outcome_unknown` when the answer was lost and the step cannot be found (yet).
 * Repeating the same step is always safe.
 */
export async function applyTransferStep(db: Database, step: TransferStep): Promise<StepOutcome> {
  if (step.fence === true && !db.mayBegin()) return { ok: false, row: null };
  const doc = stepDocument(db, step);
  const text = JSON.stringify(doc);
  const write = async (): Promise<StepOutcome> => {
    const rows = await db.sql<{
      answer: StepOutcome;
    }>`SELECT apply_transfer_step(${text}::jsonb) AS answer`;
    return rows[0]?.answer ?? { ok: false, row: null };
  };
  return writeOrFind(db, write, async () =>
    (await isRecorded(db, doc.event.event_id)) ? write() : null,
  );
}

/**
 * Notes whether the provider's last answer shows the open transfer as pending. What it no longer
 * shows may appear again within the settle time, which starts anew then. Does nothing if somebody
 * has taken the transfer over meanwhile.
 */
export async function notePending(
  db: Database,
  { transfer_id, epoch }: Pick<TransferRow, 'transfer_id' | 'epoch'>,
  pending: boolean,
): Promise<void> {
  await run(
    () => db.sql`
      UPDATE capital_transfers SET pending_at_provider = ${pending}::boolean,
        send_not_after = CASE WHEN ${pending}::boolean THEN send_not_after
          ELSE greatest(send_not_after, svc_now()) END
      WHERE transfer_id = ${transfer_id}::uuid AND submit_epoch = ${epoch} AND ended_at IS NULL`,
  );
}

/**
 * Notes why a transfer that waits is not settled yet. Does nothing if its state or epoch changed
 * meanwhile, as where somebody has decided.
 */
export async function noteReason(
  db: Database,
  { transfer_id, epoch, state }: Pick<TransferRow, 'transfer_id' | 'epoch' | 'state'>,
  { error_code, error_message }: TransferReason,
): Promise<void> {
  await run(
    () => db.sql`
      UPDATE capital_transfers SET error_code = ${error_code}::text,
        error_message = ${error_message}::text
      WHERE transfer_id = ${transfer_id}::uuid AND submit_epoch = ${epoch}
        AND request_state = ${state}::text`,
  );
}

async function isRecorded(db: Database, eventId: string): Promise<boolean> {
  return (
    (await db.sql`SELECT FROM capital_transfer_events WHERE event_id = ${eventId}::uuid`).length > 0
  );
}

function stepDocument(db: Database, step: TransferStep) {
  const { from, to, audit, event, ...rest } = step;
  if (to !== undefined) for (const state of from) assertMove(TRANSFER_TABLE, state, to);
  const [recorded] = withEventIds([event]);
  if (recorded === undefined) throw new Error('the step of the transfer has no event to record');
  return {
    ...rest,
    states: from,
    ...(to === undefined ? {} : { to }),
    event: recorded,
    audit: auditRows(db, audit ?? []),
  };
}
