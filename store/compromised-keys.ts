/**
 * Keys and passkeys that are known to be in the wrong hands. Only `fundadmin` writes them, as the
 * owner of the tables; what they decided is found in prisma/functions/compromised.sql.
 */
import type { AuditEntry } from '../domain/transition.ts';
import type { Database } from '../prisma/client.ts';
import { auditRows } from './event-ids.ts';
import { run } from './faults.ts';
import { isoOf } from './json.ts';

/** A key; that of an operator by its row's id, or `file:<operator>` for one of the keys file. */
export interface NamedKey {
  readonly kind: 'api_key' | 'dashboard_key' | 'passkey';
  readonly key_id: string;
}

/** How many there are, and the first hundred ids. */
export interface FirstHundred {
  readonly count: number;
  readonly ids: readonly string[];
}

/** What a compromised key has decided since then, and what of it is open. */
export interface CompromisedKey {
  readonly since: string;
  /** How often it did what, by action of the audit. */
  readonly actions: Readonly<Record<string, number>>;
  /** Number of sessions that were ended now. */
  readonly sessions: number;
  /** Number of its approvals of what still waits. */
  readonly waiting: number;
  /** Movements that run on an approval of it. */
  readonly movements: FirstHundred;
  /** Change requests that were applied with an approval of it. */
  readonly changes: FirstHundred;
  /** Open change requests that were made with it. */
  readonly requests: readonly string[];
}

/**
 * Records that a key, which has ended, is compromised since a time (ISO 8601; null: since it was
 * made). A repeat changes nothing, an earlier time widens it. Null for an unknown key.
 */
export async function markCompromised(
  db: Database,
  key: NamedKey & { readonly since: string | null; readonly reason: string | null },
  audit: readonly AuditEntry[],
): Promise<CompromisedKey | null> {
  const doc = JSON.stringify({ ...key, audit: auditRows(db, audit) });
  const rows = await run(
    () =>
      db.sql<{ answer: CompromisedKey | null }>`SELECT mark_compromised(${doc}::jsonb) AS answer`,
  );
  const answer = rows[0]?.answer ?? null;
  return answer === null ? null : { ...answer, since: isoOf(answer.since) };
}
