/**
 * Enrolled keys of the dashboard's operators. `fundadmin` creates, confirms and ends the rows; the
 * service can only fill in the secret, since its database role permits nothing else. Every change
 * is one compare-and-set with its audit row.
 */
import { DASHBOARD_KEY_TABLE, type DashboardKeyState } from '../domain/states/dashboard-key.ts';
import { assertMove } from '../domain/states/table.ts';
import type { AuditEntry } from '../domain/transition.ts';
import type { Database } from '../prisma/client.ts';
import { auditRows } from './event-ids.ts';
import { run } from './faults.ts';
import { isoOf, isoOfOrNull } from './json.ts';

/** The roles that an enrolled operator can have. */
export const ENROLLED_ROLES = ['operator', 'admin'] as const;
export type EnrolledRole = (typeof ENROLLED_ROLES)[number];

/** A row without its secret and without the hash of its code. */
export interface EnrolledKey {
  readonly key_id: string;
  readonly operator: string;
  readonly role: EnrolledRole;
  readonly allowlist: boolean;
  /** Whether this key replaces another key of the operator, also one in the keys file. */
  readonly replaces: boolean;
  readonly state: DashboardKeyState;
  /** Time until which the enrolment link works. */
  readonly code_until: string;
  /** Time at which a browser sent the secret; null until then. */
  readonly filled_at: string | null;
  readonly created_at: string;
  readonly created_by: string;
  readonly confirmed_at: string | null;
  readonly ended_at: string | null;
}

export interface NewEnrolledKey extends Pick<
  EnrolledKey,
  'key_id' | 'operator' | 'role' | 'allowlist'
> {
  readonly code_hash: Buffer;
  readonly code_seconds: number;
  /** Whether to end the key and the sessions that the operator has now. */
  readonly replace: boolean;
  readonly audit: readonly AuditEntry[];
}

export type EnrolOutcome =
  | { readonly ok: true; readonly row: EnrolledKey }
  /** The state of the conflicting key; nothing was written. */
  | { readonly ok: false; readonly state: DashboardKeyState };

/** Creates the row that a browser fills in. */
export async function enrolOperator(db: Database, key: NewEnrolledKey): Promise<EnrolOutcome> {
  const doc = JSON.stringify({
    ...key,
    code_hash: key.code_hash.toString('hex'),
    audit: auditRows(db, key.audit),
  });
  const rows = await run(
    () =>
      db.sql<{ answer: EnrolOutcome }>`SELECT enrol_dashboard_operator(${doc}::jsonb) AS answer`,
  );
  const answer = rows[0]?.answer;
  if (answer === undefined) throw new Error('enrol_dashboard_operator returned no row');
  return answer.ok ? { ok: true, row: toRow(answer.row) } : answer;
}

/** A row with its encrypted secret; null until a browser has sent the secret. */
export type HeldKey = EnrolledKey & { readonly secret: Uint8Array | null };

interface Stored {
  readonly row: EnrolledKey;
  readonly secret: Uint8Array | null;
}

/**
 * Returns the row for a link's code; null for an unknown code. `expired`: it can no longer be
 * filled in.
 */
export async function readEnrolment(
  db: Database,
  codeHash: Buffer,
): Promise<(HeldKey & { readonly expired: boolean }) | null> {
  const rows = await run(
    () => db.sql<Stored & { readonly expired: boolean }>`
      SELECT to_jsonb(k) - 'secret' - 'code_hash' AS row, secret, code_until <= svc_now() AS expired
      FROM dashboard_keys k WHERE code_hash = decode(${codeHash.toString('hex')}, 'hex')`,
  );
  const row = heldOrNull(rows);
  return row === null ? null : { ...row, expired: rows[0]?.expired === true };
}

/**
 * Returns the operator's newest key that a browser has filled in or that replaces another key; it
 * is valid only while `confirmed`. Null when there is none: then only the keys file counts.
 */
export async function readOperatorKey(db: Database, operator: string): Promise<HeldKey | null> {
  return heldOrNull(
    await run(
      () => db.sql<Stored>`
        SELECT to_jsonb(k) - 'secret' - 'code_hash' AS row, secret FROM dashboard_keys k
        WHERE operator = ${operator} AND (replaces OR filled_at IS NOT NULL)
        ORDER BY created_at DESC, key_id DESC LIMIT 1`,
    ),
  );
}

/** Returns an operator's key that has not ended, even if no browser filled it in; or null. */
export async function readCurrentKey(db: Database, operator: string): Promise<HeldKey | null> {
  return heldOrNull(
    await run(
      () => db.sql<Stored>`
        SELECT to_jsonb(k) - 'secret' - 'code_hash' AS row, secret FROM dashboard_keys k
        WHERE operator = ${operator} AND state <> 'ended'`,
    ),
  );
}

/** Returns whether any operator has a confirmed key. */
export async function hasConfirmedKey(db: Database): Promise<boolean> {
  const rows = await run(
    () => db.sql<{ found: boolean }>`
      SELECT EXISTS (SELECT FROM dashboard_keys WHERE state = 'confirmed') AS found`,
  );
  return rows[0]?.found === true;
}

/** Stores an encrypted secret; null when the row is already filled in, ended or expired. */
export async function fillKey(
  db: Database,
  keyId: string,
  sealed: Buffer,
  audit: readonly AuditEntry[],
): Promise<EnrolledKey | null> {
  const doc = documentOf(db, { key_id: keyId, secret: sealed.toString('hex') }, audit);
  return toRowOrNull(
    await run(
      () =>
        db.sql<{ answer: EnrolledKey | null }>`SELECT fill_dashboard_key(${doc}::jsonb) AS answer`,
    ),
  );
}

/**
 * Confirms a key if its encrypted secret is still this one; null when it differs or the key is not
 * pending.
 */
export async function confirmKey(
  db: Database,
  keyId: string,
  sealed: Uint8Array,
  audit: readonly AuditEntry[],
): Promise<EnrolledKey | null> {
  assertMove(DASHBOARD_KEY_TABLE, 'pending', 'confirmed');
  const secret = Buffer.from(sealed).toString('hex');
  const doc = documentOf(db, { key_id: keyId, secret }, audit);
  return toRowOrNull(
    await run(
      () =>
        db.sql<{
          answer: EnrolledKey | null;
        }>`SELECT confirm_dashboard_key(${doc}::jsonb) AS answer`,
    ),
  );
}

export type EndedKey = EnrolledKey & { readonly ended_sessions: number };

/** Ends a key, or its enrolment link, with the operator's sessions; null if ended already. */
export async function endKey(
  db: Database,
  keyId: string,
  audit: readonly AuditEntry[],
): Promise<EndedKey | null> {
  assertMove(DASHBOARD_KEY_TABLE, 'confirmed', 'ended');
  const doc = documentOf(db, { key_id: keyId }, audit);
  const rows = await run(
    () => db.sql<{ answer: EndedKey | null }>`SELECT end_dashboard_key(${doc}::jsonb) AS answer`,
  );
  const answer = rows[0]?.answer ?? null;
  return answer === null ? null : { ...toRow(answer), ended_sessions: answer.ended_sessions };
}

/** Returns every key, also ended ones, newest first, with the number of its open sessions. */
export async function listDashboardKeys(
  db: Database,
): Promise<readonly (EnrolledKey & { readonly open_sessions: number })[]> {
  const rows = await run(
    () => db.sql<{ row: EnrolledKey; open_sessions: number }>`
      SELECT to_jsonb(k) - 'secret' - 'code_hash' AS row,
        (SELECT count(*) FROM dashboard_sessions s WHERE s.operator = k.operator
          AND s.key_mark = k.key_id::text AND s.ended_at IS NULL)::integer AS open_sessions
      FROM dashboard_keys k ORDER BY created_at DESC, key_id DESC`,
  );
  return rows.map(({ row, open_sessions }) => ({ ...toRow(row), open_sessions }));
}

function documentOf(
  db: Database,
  what: Readonly<Record<string, string>>,
  audit: readonly AuditEntry[],
): string {
  return JSON.stringify({ ...what, audit: auditRows(db, audit) });
}

function toRowOrNull(rows: readonly { readonly answer: EnrolledKey | null }[]): EnrolledKey | null {
  const answer = rows[0]?.answer ?? null;
  return answer === null ? null : toRow(answer);
}

function heldOrNull(rows: readonly Stored[]): HeldKey | null {
  const [found] = rows;
  return found === undefined ? null : { ...toRow(found.row), secret: found.secret };
}

function toRow(row: EnrolledKey): EnrolledKey {
  return {
    ...row,
    code_until: isoOf(row.code_until),
    filled_at: isoOfOrNull(row.filled_at),
    created_at: isoOf(row.created_at),
    confirmed_at: isoOfOrNull(row.confirmed_at),
    ended_at: isoOfOrNull(row.ended_at),
  };
}
