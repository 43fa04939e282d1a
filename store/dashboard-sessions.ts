/** Sessions of the console, one for each cookie. With a session, an operator can only read. */
import {
  SESSION_IDLE_SECONDS,
  SESSION_NOTED_SECONDS,
  SESSION_SECONDS,
} from '../domain/sessions.ts';
import type { AuditEntry } from '../domain/transition.ts';
import type { Database } from '../prisma/client.ts';
import { auditRows } from './event-ids.ts';
import { run } from './faults.ts';

export interface NewSession {
  readonly session_id: string;
  /** SHA-256 of the cookie's token. */
  readonly token_hash: Buffer;
  readonly operator: string;
  /** Identifies the key that opened the session, among all keys that the operator ever has. */
  readonly key_mark: string;
}

export type Session = Pick<NewSession, 'session_id' | 'operator' | 'key_mark'>;

/** Creates a session and writes its audit row. */
export async function openSession(
  db: Database,
  session: NewSession,
  audit: readonly AuditEntry[],
): Promise<void> {
  const token_hash = session.token_hash.toString('hex');
  const doc = JSON.stringify({ ...session, token_hash, audit: auditRows(db, audit) });
  await run(() => db.sql`SELECT open_dashboard_session(${doc}::jsonb)`);
}

/**
 * Returns the session of a token; null when it is closed, too old or idle for too long by the
 * database's clock. Records its use, at most once a minute, unless the session is only checked
 * (`isUse: false`).
 */
export async function useSession(
  db: Database,
  tokenHash: Buffer,
  { isUse }: { readonly isUse: boolean } = { isUse: true },
): Promise<Session | null> {
  const rows = await run(
    () => db.sql<Session>`
      WITH clock AS MATERIALIZED (SELECT svc_now() AS at), found AS MATERIALIZED (
        SELECT session_id, operator, key_mark, last_used_at, at FROM dashboard_sessions, clock
        WHERE token_hash = decode(${tokenHash.toString('hex')}, 'hex') AND ended_at IS NULL
          AND created_at > at - make_interval(secs => ${SESSION_SECONDS}::double precision)
          AND last_used_at > at - make_interval(secs => ${SESSION_IDLE_SECONDS}::double precision)
      ), noted AS (
        UPDATE dashboard_sessions s SET last_used_at = found.at FROM found
        WHERE ${isUse}::boolean AND s.session_id = found.session_id AND s.ended_at IS NULL
          AND s.last_used_at = found.last_used_at
          AND s.last_used_at
            <= found.at - make_interval(secs => ${SESSION_NOTED_SECONDS}::double precision)
      )
      SELECT session_id::text, operator, key_mark FROM found`,
  );
  return rows[0] ?? null;
}

/** Ends one session; false when it had ended already. */
export async function closeSession(
  db: Database,
  sessionId: string,
  audit: readonly AuditEntry[],
): Promise<boolean> {
  const doc = JSON.stringify({ session_id: sessionId, audit: auditRows(db, audit) });
  const rows = await run(
    () => db.sql<{ answer: boolean }>`SELECT close_dashboard_session(${doc}::jsonb) AS answer`,
  );
  return rows[0]?.answer === true;
}

/** Ends the open sessions of an operator (null: of all operators); returns their number. */
export async function endSessions(
  db: Database,
  operator: string | null,
  audit: readonly AuditEntry[],
): Promise<number> {
  const doc = JSON.stringify({ operator, audit: auditRows(db, audit) });
  const rows = await run(
    () => db.sql<{ answer: number }>`SELECT end_dashboard_sessions(${doc}::jsonb) AS answer`,
  );
  return rows[0]?.answer ?? 0;
}

/** Removes up to `atMost` sessions that started at least `keepDays` ago; returns their number. */
export async function dropOldSessions(
  db: Database,
  { keepDays, atMost }: { readonly keepDays: number; readonly atMost: number },
): Promise<number> {
  const rows = await run(
    () => db.sql<{ dropped: number }>`
      WITH old AS (
        SELECT ctid FROM dashboard_sessions
        WHERE created_at < (SELECT svc_now()) - make_interval(days => ${keepDays}::integer)
        ORDER BY created_at LIMIT ${atMost}::integer
      ), gone AS (DELETE FROM dashboard_sessions WHERE ctid = ANY (ARRAY(SELECT ctid FROM old))
        RETURNING 1)
      SELECT count(*)::integer AS dropped FROM gone`,
  );
  return rows[0]?.dropped ?? 0;
}
