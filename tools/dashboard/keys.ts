/** The actions of `fundadmin dashboard` on keys and sessions of the console's operators. */
import type { AuditAction } from '../../domain/events.ts';
import { ENROL_SECONDS } from '../../domain/sessions.ts';
import type { AuditEntry } from '../../domain/transition.ts';
import {
  DashboardKeysError,
  OPERATOR_NAME,
  readDashboardKeys,
  type DashboardKeys,
} from '../../platform/dashboard-keys.ts';
import { newId } from '../../platform/ids.ts';
import { keyFingerprint, newToken, readFingerprint, tokenHash } from '../../platform/one-time.ts';
import { openSecret } from '../../platform/secrets.ts';
import {
  confirmKey,
  enrolOperator,
  listDashboardKeys,
  readCurrentKey,
  type EnrolledKey,
  type EnrolledRole,
} from '../../store/dashboard-keys.ts';
import { endSessions } from '../../store/dashboard-sessions.ts';
import { setting, warnUnvouched, withDatabase, type DatabaseOption } from '../database.ts';
import { ToolError, type ToolIo } from '../io.ts';

export interface OperatorOptions extends DatabaseOption {
  readonly operator: string;
}

export interface EnrolOptions extends OperatorOptions {
  readonly role: EnrolledRole;
  readonly allowlist?: boolean;
  readonly replace?: boolean;
}

/**
 * The result of an enrolment, printed only once: the browser that opens the link first registers
 * the operator's key.
 */
export interface Enrolment extends Pick<
  EnrolledKey,
  'key_id' | 'operator' | 'role' | 'allowlist' | 'replaces'
> {
  readonly link: string;
  readonly link_expires_at: string;
}

/** Creates the key's row and its link, or throws a {@link ToolError} and writes nothing. */
export async function enrol(options: EnrolOptions, io: ToolIo): Promise<Enrolment> {
  const { operator, role, allowlist = false, replace = false } = options;
  named(operator);
  const origin = consoleOrigin(io);
  if (!replace && fileOperators(io).has(operator))
    throw new ToolError(
      `${operator} has a key in SVC_DASHBOARD_WRITER_KEYS_FILE; --replace ends that key: it is not accepted from then on.`,
    );
  warnUnvouched(io, 'enrolment');
  const key_id = newId();
  const code = newToken();
  const outcome = await withDatabase(options, io, (db) =>
    enrolOperator(db, {
      key_id,
      operator,
      role,
      allowlist,
      replace,
      code_hash: tokenHash(code),
      code_seconds: ENROL_SECONDS,
      audit: [auditOf('dashboard_key.enrol', 'dashboard_key', key_id)],
    }),
  );
  if (!outcome.ok)
    throw new ToolError(
      `${operator} has a key that is ${outcome.state}; --replace ends it, and the operator's sessions with it.`,
    );
  const { row } = outcome;
  return {
    key_id,
    operator,
    role,
    allowlist,
    replaces: replace,
    link: `${origin}/console/#enrol=${code}`,
    link_expires_at: row.code_until,
  };
}

/** Confirms the operator's key if it has this fingerprint; refuses any other key. */
export async function confirm(
  options: OperatorOptions & { readonly fingerprint: string },
  io: ToolIo,
): Promise<EnrolledKey & { readonly fingerprint: string }> {
  const { operator } = options;
  named(operator);
  warnUnvouched(io, 'confirmation');
  const shown = readFingerprint(options.fingerprint);
  if (shown === null)
    throw new ToolError('--fingerprint must be the four groups that the page shows.', {
      exitCode: 2,
    });
  const secrets = setting(io, 'SVC_SECRETS_KEY');
  if (secrets === undefined)
    throw new ToolError(
      'Set SVC_SECRETS_KEY (or SVC_SECRETS_KEY_FILE) to the value that the service has.',
      { exitCode: 2 },
    );
  return withDatabase(options, io, async (db) => {
    const key = await readCurrentKey(db, operator);
    if (key === null)
      throw new ToolError(`${operator} has no unconfirmed key; see fundadmin dashboard enrol.`);
    if (key.secret === null)
      throw new ToolError(`No browser has opened the link of ${operator} yet.`);
    // Computed from the secret itself: a stored fingerprint could have been written by an attacker.
    const fingerprint = keyFingerprint(openSecret(secrets, key.secret, key.key_id), operator);
    if (fingerprint !== shown)
      throw new ToolError(
        `The enrolled key has another fingerprint: somebody else may have used the link. End the key: fundadmin dashboard end --operator ${operator}`,
      );
    const { secret, ...row } = key;
    if (key.state === 'confirmed') return { ...row, fingerprint };
    const confirmed = await confirmKey(db, key.key_id, secret, [
      auditOf('dashboard_key.confirm', 'dashboard_key', key.key_id),
    ]);
    if (confirmed === null)
      throw new ToolError(`The key of ${operator} has changed meanwhile; see dashboard list.`);
    return { ...confirmed, fingerprint };
  });
}

/** Ends the open sessions of one operator or of all operators; their keys stay. */
export async function endSessionsOf(
  options: DatabaseOption & { readonly operator?: string; readonly all?: boolean },
  io: ToolIo,
): Promise<{ readonly operator: string | null; readonly ended_sessions: number }> {
  const { operator = null, all = false } = options;
  if ((operator === null) !== all) throw new ToolError('Say --operator or --all.', { exitCode: 2 });
  if (operator !== null) named(operator);
  warnUnvouched(io, 'change');
  const audit = [auditOf('dashboard_session.end', 'dashboard_operator', operator ?? '*')];
  const ended_sessions = await withDatabase(options, io, (db) => endSessions(db, operator, audit));
  return { operator, ended_sessions };
}

/** Returns every enrolled key, newest first, and the operators of the keys file, if set. */
export async function list(
  options: DatabaseOption,
  io: ToolIo,
): Promise<{
  readonly keys: Awaited<ReturnType<typeof listDashboardKeys>>;
  readonly file: readonly string[];
}> {
  const file = [...fileOperators(io).keys()].sort();
  return { keys: await withDatabase(options, io, listDashboardKeys), file };
}

/** Returns the operators of the keys file; empty when no setting names such a file. */
export function fileOperators(io: ToolIo): DashboardKeys {
  const file = setting(io, 'SVC_DASHBOARD_WRITER_KEYS_FILE');
  if (file === undefined) return new Map();
  try {
    return readDashboardKeys(file, setting(io, 'SVC_DASHBOARD_EXPECTED_WRITER_KEYS') ?? 0);
  } catch (error) {
    throw error instanceof DashboardKeysError ? new ToolError(error.message) : error;
  }
}

/** Returns the origin (scheme, host and port) at which operators open the console. */
function consoleOrigin(io: ToolIo): string {
  return setting(io, 'SVC_CONSOLE_ORIGIN') ?? `http://localhost:${String(setting(io, 'SVC_PORT'))}`;
}

/** Throws a {@link ToolError} for what is no operator's name. */
export function named(operator: string): void {
  if (!OPERATOR_NAME.test(operator))
    throw new ToolError(`--operator does not fit ${OPERATOR_NAME.source}.`, { exitCode: 2 });
}

/** Returns the audit row of a change of an operator's key or sessions. */
export function auditOf(
  action: AuditAction,
  entity_type: string,
  entity_key: string,
  reason: string | null = null,
): AuditEntry {
  return {
    action,
    entity_type,
    entity_key,
    outcome: 'success',
    reason,
    details: { tool: 'fundadmin' },
  };
}
