/** Reads the registry rows of executors and signers. */
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';
import { shared } from './shared-reads.ts';

export interface ExecutorRow {
  readonly executor_key: string;
  readonly kind: string;
  readonly status: string;
  readonly action_types: readonly string[];
  readonly provider: string | null;
  readonly chain_family: string | null;
  readonly endpoint: string | null;
  readonly health_state: string;
  readonly health_checked_at: string | null;
  readonly updated_at: string;
}

export interface SignerRow {
  readonly signer_key: string;
  readonly status: string;
  readonly backend: string;
  readonly chain_family: string;
  readonly profile: string | null;
  readonly expected_signer_address: string | null;
  readonly observed_signer_address: string | null;
  readonly observed_at: string | null;
  readonly updated_at: string;
}

/** Returns all stored executors, ordered by key. */
export async function listExecutorRows(db: Database): Promise<readonly ExecutorRow[]> {
  return (await run(() => db.executor.findMany({ orderBy: { executor_key: 'asc' } }))).map(
    toExecutor,
  );
}

/** Returns all stored signers, ordered by key. */
export async function listSignerRows(db: Database): Promise<readonly SignerRow[]> {
  return (await run(() => db.signer.findMany({ orderBy: { signer_key: 'asc' } }))).map(toSigner);
}

/** Returns one stored signer, or null. */
export async function readSignerRow(db: Database, signerKey: string): Promise<SignerRow | null> {
  const row = await run(() => db.signer.findUnique({ where: { signer_key: signerKey } }));
  return row === null ? null : toSigner(row);
}

/** Statuses of stored executors and signers, by key; one that is absent is active. */
export interface RegisteredStatuses {
  readonly executors: ReadonlyMap<string, string>;
  readonly signers: ReadonlyMap<string, string>;
}

const sharedStatuses = shared<null, RegisteredStatuses>(async (db, asks) => {
  const statuses = await readStatuses(db);
  return asks.map(() => statuses);
});

/** Returns all statuses at one moment after the call; concurrent reads share a statement. */
export function registeredStatuses(db: Database): Promise<RegisteredStatuses> {
  return sharedStatuses(db, null);
}

async function readStatuses(db: Database): Promise<RegisteredStatuses> {
  const rows = await run(
    () => db.sql<{ kind: 'executor' | 'signer'; key: string; status: string }>`
      SELECT 'executor' AS kind, executor_key AS key, status FROM executors UNION ALL
        SELECT 'signer', signer_key, status FROM signers`,
  );
  const of = (kind: 'executor' | 'signer') =>
    new Map(rows.filter((row) => row.kind === kind).map(({ key, status }) => [key, status]));
  return { executors: of('executor'), signers: of('signer') };
}

/** A row as Prisma returns it (dates) or as the database's JSON contains it (text). */
export type StoredExecutor = Omit<ExecutorRow, 'health_checked_at' | 'updated_at'> & {
  readonly health_checked_at: Date | string | null;
  readonly updated_at: Date | string;
};
export type StoredSigner = Omit<SignerRow, 'observed_at' | 'updated_at'> & {
  readonly observed_at: Date | string | null;
  readonly updated_at: Date | string;
};

export function toExecutor(row: StoredExecutor): ExecutorRow {
  const {
    executor_key,
    kind,
    status,
    action_types,
    provider,
    chain_family,
    endpoint,
    health_state,
  } = row;
  const fields = {
    executor_key,
    kind,
    status,
    action_types,
    provider,
    chain_family,
    endpoint,
    health_state,
  };
  return {
    ...fields,
    health_checked_at: timeOrNull(row.health_checked_at),
    updated_at: time(row.updated_at),
  };
}

export function toSigner(row: StoredSigner): SignerRow {
  const {
    signer_key,
    status,
    backend,
    chain_family,
    profile,
    expected_signer_address,
    observed_signer_address,
  } = row;
  const fields = {
    signer_key,
    status,
    backend,
    chain_family,
    profile,
    expected_signer_address,
    observed_signer_address,
  };
  return { ...fields, observed_at: timeOrNull(row.observed_at), updated_at: time(row.updated_at) };
}

function time(value: Date | string): string {
  return new Date(value).toISOString();
}

function timeOrNull(value: Date | string | null): string | null {
  return value === null ? null : time(value);
}
