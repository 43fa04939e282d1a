/** What went wrong in the database, and whether the same statement may simply be run again. */
import { openMovementsExceeded, templateVersionsExceeded } from '../domain/agents/bounds.ts';
import { ServiceError } from '../domain/errors.ts';
import type { Database } from '../prisma/client.ts';
import { wasNeverSent } from '../prisma/pool.ts';
import { stored } from './json.ts';

/** `busy`: the database is there, and no connection to it was free in time; nothing was sent. */
export type DatabaseFault = 'conflict' | 'unreachable' | 'busy' | 'other';

/** Postgres: serialization_failure and deadlock_detected. */
const CONFLICTS = new Set(['40001', '40P01']);
/**
 * Postgres: connection exceptions, refused logins, shutdown, crash, starting up, too many
 * connections, a server that takes no writes, a statement or an idle transaction that took too
 * long.
 */
const UNREACHABLE = /^(08|28|57P0|53300|25006|57014|25P03)/;
/**
 * Those of them after which nothing of the statement stands, and Prisma's and the system's words
 * for a connection that was not made. All others leave open what the server did, or will yet do: a
 * commit that waits for a synchronous standby is seen by no look-up before the standby is back.
 */
const NOTHING_WRITTEN = /^(28|57P03|53300|25006|57014|25P03|P1001|ECONNREFUSED|ENOTFOUND)/;
/** The driver's words for a connection that was known to be broken before the statement. */
const NOT_SENT = /is not queryable/;
/** Raised by prisma/functions/approval.sql: an amount does not fit a budget or a cap. */
export const BUDGET_REFUSED = 'FM010';
/**
 * Raised where holds are taken, beside the former: the snapshot that a hold is to be covered by is
 * too old.
 */
export const SNAPSHOT_STALE = 'FM012';
/** The message of the former where a snapshot does not cover a hold. */
export const NOT_COVERED = 'insufficient_effective_withdrawable';
/** The same: what an automatic approval was decided by has changed since. */
export const DECISION_OUTDATED = 'FM011';
/** Raised by creates while the switch of prisma/functions/cutover.sql lets nothing new in. */
const CUTOVER_ACTIVE = 'FM013';
/** Raised where an agent's create or proposal goes beyond domain/agents/bounds.ts. */
const OPEN_MOVEMENTS = 'FM016';
const TEMPLATE_VERSIONS = 'FM017';
/** Raised by creates of a retired template version. */
const VERSION_RETIRED = 'FM019';
/** Of the error of prisma/pool.ts. */
const POOL_BUSY = 'POOL_BUSY';
const SOCKET =
  /ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|Connection terminated|is not queryable|timeout exceeded when trying to connect|timeout expired|Query read timeout|server closed|Can't reach database|does not support SSL|establishing an SSL/i;
/** Of TLS: who answers shows no certificate that is trusted, or not for this name. */
const TLS = /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_|ERR_SSL_)/;
/**
 * Prisma's own codes: cannot reach, timed out, connection closed, pool time-out, transaction start
 * timed out. The last occurs while the database comes back; Prisma's transactions only read.
 */
const PRISMA_UNREACHABLE = new Set(['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028']);

/** Sorts an error by what a caller can do about it. */
export function databaseFault(error: unknown): DatabaseFault {
  for (const each of chain(error)) {
    const code = field(each, 'originalCode') ?? field(each, 'code') ?? '';
    if (code === POOL_BUSY) return 'busy';
    if (CONFLICTS.has(code) || code === 'P2034') return 'conflict';
    if (UNREACHABLE.test(code) || PRISMA_UNREACHABLE.has(code)) return 'unreachable';
    const message = field(each, 'message') ?? '';
    if (SOCKET.test(message) || SOCKET.test(code) || TLS.test(code)) return 'unreachable';
  }
  return 'other';
}

/**
 * Whether a statement that failed so may have been carried out, or may yet be: the database went
 * out of reach, and nothing proves that the statement was undone or never sent.
 */
export function mayBeWritten(error: unknown): boolean {
  if (databaseFault(error) !== 'unreachable') return false;
  for (const each of chain(error)) {
    const code = field(each, 'originalCode') ?? field(each, 'code') ?? '';
    if (NOTHING_WRITTEN.test(code) || TLS.test(code) || wasNeverSent(each)) return false;
    if (NOT_SENT.test(field(each, 'message') ?? '')) return false;
  }
  return true;
}

/** The SQLSTATE of a failed statement, where there is one. */
export function sqlState(error: unknown): string | null {
  for (const each of chain(error)) {
    const code = field(each, 'originalCode') ?? field(each, 'code');
    if (code !== undefined && /^[0-9A-Z]{5}$/.test(code)) return code;
  }
  return null;
}

/** The Postgres error code and constraint of a failed statement, where there is one. */
export function violatedConstraint(error: unknown): string | null {
  for (const each of chain(error)) {
    const constraint = field(each, 'constraint');
    if (constraint !== undefined) return constraint;
    const match = /constraint "([^"]+)"/.exec(
      field(each, 'originalMessage') ?? field(each, 'message') ?? '',
    );
    if (match?.[1] !== undefined) return match[1];
  }
  return null;
}

/** Every object within an error: its cause, Prisma's meta and the driver adapter's error. */
function* chain(error: unknown): Generator<object> {
  const queue: unknown[] = [error];
  const seen = new Set<unknown>();
  for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
    if (typeof at !== 'object' || at === null || seen.has(at) || seen.size > 20) continue;
    seen.add(at);
    yield at;
    for (const key of ['cause', 'meta', 'driverAdapterError', 'constraint', 'error']) {
      if (key in at) queue.push(Reflect.get(at, key));
    }
  }
}

function field(value: object, key: string): string | undefined {
  const found: unknown = Reflect.get(value, key);
  return typeof found === 'string' ? found : undefined;
}

const CONFLICT_RETRIES = 5;

/** Repeats `work` after deadlocks and serialization failures, which have written nothing. */
async function pastConflicts<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (databaseFault(error) !== 'conflict' || attempt >= CONFLICT_RETRIES) throw error;
    }
  }
}

/**
 * Runs a read or a guarded write: repeats it after deadlocks and serialization failures; an
 * unreachable database becomes `dependency_unavailable` and a full pool `overloaded`. Not for
 * writes whose acceptance must be looked up. For any other write of a request, api/http/ answers
 * `outcome_unknown` where {@link mayBeWritten} is true of its error.
 */
export async function run<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await pastConflicts(work);
  } catch (error) {
    throw refusedBy(databaseFault(error), error);
  }
}

/**
 * Reads a row after a lost answer, and returns it once it is as safe as an answered commit. A
 * commit whose session ended while it waited for the synchronous standby is visible to every
 * reader, and is lost if the standby takes over before it has it. Our own commit, made after the
 * read, waits until the standby has both.
 */
export async function readKept<T>(db: Database, read: () => Promise<T | null>): Promise<T | null> {
  const found = await read();
  if (found === null) return null;
  // The smallest commit: it writes a record to the server's log and no row.
  await db.sql`SELECT pg_logical_emit_message(true, 'fund-movements', '')`;
  // Another server may have taken that commit; it is then the primary and must have the row.
  return read();
}

/**
 * Writes a row under its own id, and again after a conflict. If the answer is lost, looks the row
 * up ({@link readKept}); where that fails or finds nothing, the outcome is `outcome_unknown`, since
 * the row may still be committed. `dependency_unavailable` means that nothing was written.
 */
export async function writeOrFind<T>(
  db: Database,
  write: () => Promise<T>,
  find: () => Promise<T | null>,
): Promise<T> {
  try {
    return await pastConflicts(write);
  } catch (error) {
    if (!mayBeWritten(error)) throw refusedBy(databaseFault(error), error);
    const found = await readKept(db, find).catch(() => null);
    if (found === null) throw new ServiceError('outcome_unknown', { cause: error });
    return found;
  }
}

/** The caller's error for a statement that was not executed; every other error as it is. */
export function refusedBy(fault: DatabaseFault, error: unknown): unknown {
  if (error instanceof ServiceError) return error;
  if (fault === 'unreachable') return new ServiceError('dependency_unavailable', { cause: error });
  if (fault === 'busy') return new ServiceError('overloaded', { cause: error });
  const detail = (): string => faultDetail(error) ?? 'unknown';
  switch (sqlState(error)) {
    case CUTOVER_ACTIVE:
      return cutoverActive(detail());
    case OPEN_MOVEMENTS:
      return openMovementsExceeded(detail());
    case TEMPLATE_VERSIONS:
      return templateVersionsExceeded(detail());
    case VERSION_RETIRED:
      return versionRetired(stored<RetiredVersion>(JSON.parse(detail())));
    default:
      return error;
  }
}

/** A version from which nothing new may be created. */
export interface RetiredVersion {
  readonly template_key: string;
  readonly template_version: number;
  /** Of the same key; null where none is active. */
  readonly latest_active_version: number | null;
}

export function versionRetired(version: RetiredVersion): ServiceError {
  return new ServiceError('template_version_retired', { context: { ...version } });
}

/** This mode accepts nothing new. */
export function cutoverActive(mode: string): ServiceError {
  return new ServiceError('cutover_mode_active', { context: { mode } });
}

/** The detail of an error that one of our functions raised. */
export function faultDetail(error: unknown): string | undefined {
  for (const each of chain(error)) {
    const detail = field(each, 'detail');
    if (detail !== undefined) return detail;
  }
  return undefined;
}
