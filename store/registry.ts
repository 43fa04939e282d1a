/** Stores the registry rows of executors and signers: what operators set, and what was observed. */
import type { ExecutorDescriptor, ExecutorHealth } from '../domain/executor.ts';
import type { SignerDescriptor } from '../domain/signer.ts';
import type { AuditEntry } from '../domain/transition.ts';
import type { Database } from '../prisma/client.ts';
import { auditRow, auditRows } from './event-ids.ts';
import { run } from './faults.ts';
import {
  toExecutor,
  toSigner,
  type ExecutorRow,
  type SignerRow,
  type StoredExecutor,
  type StoredSigner,
} from './registry-rows.ts';

export {
  listExecutorRows,
  listSignerRows,
  readSignerRow,
  registeredStatuses,
  type ExecutorRow,
  type RegisteredStatuses,
  type SignerRow,
} from './registry-rows.ts';

export interface StatusChange<D> {
  readonly key: string;
  /** The registration in this process; used to create the row if it does not exist. */
  readonly declared: D | undefined;
  readonly status: 'active' | 'disabled';
  readonly audit: readonly AuditEntry[];
}

/** The result of a status change. `ok: false` only for signers that are deprecated or retired. */
export interface StatusOutcome<R> {
  readonly ok: boolean;
  readonly row: R;
}

/**
 * Sets an executor's status and writes the audit row in one statement; null when the executor is
 * neither stored nor declared.
 */
export async function setExecutorStatus(
  db: Database,
  change: StatusChange<ExecutorDescriptor>,
): Promise<StatusOutcome<ExecutorRow> | null> {
  const doc = statusDocument(db, change);
  const rows = await run(
    () =>
      db.sql<{
        answer: StatusOutcome<StoredExecutor> | null;
      }>`SELECT set_executor_status(${doc}::jsonb) AS answer`,
  );
  const answer = rows[0]?.answer ?? null;
  return answer === null ? null : { ok: answer.ok, row: toExecutor(answer.row) };
}

/**
 * Sets a signer's status and writes the audit row in one statement; null when the signer is neither
 * stored nor declared.
 */
export async function setSignerStatus(
  db: Database,
  change: StatusChange<SignerDescriptor>,
): Promise<StatusOutcome<SignerRow> | null> {
  const doc = statusDocument(db, change);
  const rows = await run(
    () =>
      db.sql<{
        answer: StatusOutcome<StoredSigner> | null;
      }>`SELECT set_signer_status(${doc}::jsonb) AS answer`,
  );
  const answer = rows[0]?.answer ?? null;
  return answer === null ? null : { ok: answer.ok, row: toSigner(answer.row) };
}

function statusDocument(
  db: Database,
  change: StatusChange<ExecutorDescriptor | SignerDescriptor>,
): string {
  return JSON.stringify({ ...change, audit: auditRows(db, change.audit) });
}

export interface IdentityPin {
  readonly key: string;
  readonly declared: SignerDescriptor | undefined;
  readonly expected: string;
  readonly previous: string | null;
  /** The live address as just read; null when unknown. */
  readonly runtime: string | null;
  /** The problem of one of the addresses, if one is already known. */
  readonly problem: IdentityRefusal | null;
  readonly audit: AuditEntry;
}

export type IdentityRefusal =
  | 'signer_identity_not_applicable'
  | 'signer_expected_identity_invalid'
  | 'signer_runtime_identity_unavailable'
  | 'signer_runtime_identity_invalid'
  | 'signer_identity_mismatch'
  | 'previous_expected_address_mismatch';

/** The result of a pin. `stored` is the pinned address before the change. */
export type PinOutcome =
  | {
      readonly ok: true;
      readonly outcome: 'changed' | 'noop';
      readonly stored: string | null;
      readonly audit_event_id: string;
    }
  | { readonly ok: false; readonly reason: IdentityRefusal; readonly stored: string | null };

type PinAnswer =
  | { readonly ok: true; readonly outcome: 'changed' | 'noop'; readonly stored: string | null }
  | { readonly ok: false; readonly reason: IdentityRefusal; readonly stored: string | null };

/**
 * Pins a signer's address as compare-and-set under the row's lock; null when the signer is neither
 * stored nor declared.
 */
export async function setExpectedIdentity(
  db: Database,
  pin: IdentityPin,
): Promise<PinOutcome | null> {
  const audit = auditRow(db, pin.audit);
  const doc = JSON.stringify({ ...pin, audit: [audit] });
  const rows = await run(
    () =>
      db.sql<{ answer: PinAnswer | null }>`SELECT set_expected_identity(${doc}::jsonb) AS answer`,
  );
  const answer = rows[0]?.answer ?? null;
  return answer?.ok === true ? { ...answer, audit_event_id: audit.event_id } : answer;
}

/** What one process found about an executor. */
export interface HealthCheck {
  readonly state: ExecutorHealth['state'];
  /** Identifies the process that checked, and no other. */
  readonly by: string;
  /** For how long a worse answer of another process does not replace this one. */
  readonly standsSeconds: number;
}

/**
 * Stores an executor's registration and the result of a health check, unless a better result of
 * another process still stands: `unknown` is worse than `down`, and that worse than `up`.
 */
export async function saveExecutorHealth(
  db: Database,
  executor: ExecutorDescriptor,
  { state, by, standsSeconds }: HealthCheck,
): Promise<void> {
  const declared = JSON.stringify({ ...executor, health_by: by, stands_seconds: standsSeconds });
  await run(() => db.sql`SELECT save_executor_health(${declared}::jsonb, ${state})`);
}

/** Stores a signer's registration and its live address; null if it returned no address. */
export async function saveObservedIdentity(
  db: Database,
  signer: SignerDescriptor,
  address: string | null,
): Promise<void> {
  const declared = JSON.stringify(signer);
  await run(() => db.sql`SELECT save_observed_identity(${declared}::jsonb, ${address})`);
}

/**
 * Clears the observed address of every stored signer that is not in `signerKeys` and that no
 * process has observed for so long. Another worker may have a newer registry file.
 */
export async function clearOrphans(
  db: Database,
  signerKeys: readonly string[],
  unseenSeconds: number,
): Promise<void> {
  const keys = JSON.stringify(signerKeys);
  await run(
    () => db.sql`
      UPDATE signers SET observed_signer_address = NULL, observed_at = NULL
      WHERE observed_at < svc_now() - make_interval(secs => ${unseenSeconds}::double precision)
        AND signer_key NOT IN (SELECT jsonb_array_elements_text(${keys}::jsonb))`,
  );
}
