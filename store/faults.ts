/** Classifies database errors, and decides whether a statement may be run again. */
import { openMovementsExceeded, templateVersionsExceeded } from '../domain/agents/bounds.ts';
import { ChangeWaits, type ChangeEffect } from '../domain/approval/change.ts';
import { ServiceError } from '../domain/errors.ts';
import type { Database } from '../prisma/client.ts';
import { wasNeverSent } from '../prisma/pool.ts';
import { stored } from './json.ts';

/** `busy`: the database works, but no connection was free in time; nothing was sent. */
export type DatabaseFault = 'conflict' | 'unreachable' | 'busy' | 'other';

/** Postgres: serialization_failure and deadlock_detected. */
const CONFLICTS = new Set(['40001', '40P01']);
/**
 * SQLSTATEs of Postgres: connection exceptions, refused logins, shutdown, crash, starting up, too
 * many connections, a read-only server, a statement or an idle transaction that took too long.
 */
const UNREACHABLE = /^(08|28|57P0|53300|25006|57014|25P03)/;
/**
 * The codes after which nothing of the statement was written: some of {@link UNREACHABLE}, and
 * those of Prisma and the operating system for a connection that was not made. After any other
 * code, the server may have run the statement or may still run it. A look-up proves nothing then: a
 * commit that waits for a synchronous standby is not visible yet.
 */
const NOTHING_WRITTEN = /^(28|57P03|53300|25006|57014|25P03|P1001|ECONNREFUSED|ENOTFOUND)/;
/** The driver's message for a connection that was known to be broken before the statement. */
const NOT_SENT = /is not queryable/;
/** SQLSTATE raised by prisma/functions/approval.sql: an amount does not fit a budget or a cap. */
export const BUDGET_REFUSED = 'FM010';
/** SQLSTATE raised when an amount is to be held but the balance snapshot is too old. */
export const SNAPSHOT_STALE = 'FM012';
/**
 * Message of {@link BUDGET_REFUSED} when the balance snapshot does not cover the amount to be held.
 */
export const NOT_COVERED = 'insufficient_effective_withdrawable';
/**
 * SQLSTATE raised by prisma/functions/approval.sql: the facts behind an automatic approval have
 * changed.
 */
export const DECISION_OUTDATED = 'FM011';
/** SQLSTATE raised by prisma/functions/approval-rules.sql: a rule needs further approvals. */
export const APPROVALS_MISSING = 'FM021';
/**
 * SQLSTATE raised by creates while the cutover mode (prisma/functions/cutover.sql) accepts nothing
 * new.
 */
const CUTOVER_ACTIVE = 'FM013';
/** SQLSTATEs raised when an agent's create or proposal exceeds domain/agents/bounds.ts. */
const OPEN_MOVEMENTS = 'FM016';
const TEMPLATE_VERSIONS = 'FM017';
/** SQLSTATE raised by creates from a retired template version. */
const VERSION_RETIRED = 'FM019';
/** SQLSTATE raised by prisma/functions/change-requests.sql: a change waits for people. */
const CHANGE_WAITS = 'FM023';
/**
 * SQLSTATEs raised by prisma/functions/audit.sql: the key of the request was revoked since, or was
 * checked too long ago.
 */
const KEY_REVOKED = 'FM024';
const REQUEST_LATE = 'FM025';
/** The code of the error thrown by prisma/pool.ts. */
const POOL_BUSY = 'POOL_BUSY';
const SOCKET =
  /ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|Connection terminated|is not queryable|timeout exceeded when trying to connect|timeout expired|Query read timeout|server closed|Can't reach database|does not support SSL|establishing an SSL/i;
/** TLS errors: the server's certificate is not trusted, or is for another name. */
const TLS = /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_|ERR_SSL_)/;
/**
 * Prisma's codes: cannot reach, timed out, connection closed, pool time-out, transaction start
 * timed out. The last one occurs while the database comes back; Prisma's transactions only read.
 */
const PRISMA_UNREACHABLE = new Set(['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028']);

/** Classifies an error by what a caller can do about it. */
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
 * Returns whether a failed statement may have been carried out, or still may be: the database
 * became unreachable, and nothing proves that the statement was undone or never sent.
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

/** Returns the SQLSTATE of a failed statement; null when the error has none. */
export function sqlState(error: unknown): string | null {
  for (const each of chain(error)) {
    const code = field(each, 'originalCode') ?? field(each, 'code');
    if (code !== undefined && /^[0-9A-Z]{5}$/.test(code)) return code;
  }
  return null;
}

/** Returns the constraint that a failed statement violated; null when the error names none. */
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

/** Yields every object inside an error: its cause, Prisma's meta and the driver adapter's error. */
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
 * Runs a read or a guarded write, and repeats it after deadlocks and serialization failures. An
 * unreachable database becomes `dependency_unavailable`, a full pool `overloaded`. Not for writes
 * whose commit must be looked up. For any other write of a request, api/http/ returns
 * `outcome_unknown` when {@link mayBeWritten} is true for the error.
 */
export async function run<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await pastConflicts(work);
  } catch (error) {
    throw refusedBy(databaseFault(error), error);
  }
}

/**
 * Reads a row after the answer to its write was lost, and returns the row only once a failover
 * cannot lose it. A row may be visible although the synchronous standby lacks it: its session ended
 * while the commit waited. So a commit of our own follows the read; it waits until the standby has
 * both.
 */
export async function readKept<T>(db: Database, read: () => Promise<T | null>): Promise<T | null> {
  const found = await read();
  if (found === null) return null;
  // The smallest possible commit: it writes a log record and no row.
  await db.sql`SELECT pg_logical_emit_message(true, 'fund-movements', '')`;
  // Reads again, because after a failover another server may have made that commit; only a row that
  // this server has is safe.
  return read();
}

/**
 * Writes a row under its own id, and repeats the write after a conflict. If the answer is lost,
 * looks up the row ({@link readKept}). If that fails or finds nothing, throws `outcome_unknown`,
 * since the row may still be committed. `dependency_unavailable` means that nothing was written.
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

/** Returns the caller's error for a statement that was not executed; any other error unchanged. */
export function refusedBy(fault: DatabaseFault, error: unknown): unknown {
  if (error instanceof ServiceError || error instanceof ChangeWaits) return error;
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
    case CHANGE_WAITS:
      return new ChangeWaits(stored<ChangeEffect>(JSON.parse(detail())), { cause: error });
    case KEY_REVOKED:
      return new ServiceError('unauthenticated', { cause: error });
    case REQUEST_LATE:
      return new ServiceError('overloaded', { cause: error, message: LATE });
    case VERSION_RETIRED:
      return versionRetired(stored<RetiredVersion>(JSON.parse(detail())));
    default:
      return error;
  }
}

const LATE = 'This took more than a minute, so nothing was accepted; try again.';

/** A retired template version, from which nothing new may be created. */
export interface RetiredVersion {
  readonly template_key: string;
  readonly template_version: number;
  /** The newest active version of the same template key; null when none is active. */
  readonly latest_active_version: number | null;
}

export function versionRetired(version: RetiredVersion): ServiceError {
  return new ServiceError('template_version_retired', { context: { ...version } });
}

/** Returns the error for a cutover mode that accepts nothing new. */
export function cutoverActive(mode: string): ServiceError {
  return new ServiceError('cutover_mode_active', { context: { mode } });
}

/** Returns the detail of an error that one of our SQL functions raised. */
export function faultDetail(error: unknown): string | undefined {
  for (const each of chain(error)) {
    const detail = field(each, 'detail');
    if (detail !== undefined) return detail;
  }
  return undefined;
}
