/**
 * Passkeys of people. A browser offers one through the service, whose role may store no more than
 * that; `fundadmin` lets it count, and ends it, as the owner of the tables.
 */
import type { AuditEntry } from '../domain/transition.ts';
import { passkeyFingerprint, type MadePasskey, type Passkey } from '../platform/passkeys.ts';
import type { Database } from '../prisma/client.ts';
import { auditRows } from './event-ids.ts';
import { run } from './faults.ts';
import { isoOf, isoOfOrNull } from './json.ts';

export interface EnrolledPasskey extends Passkey {
  readonly counter: number;
  readonly enrolled_at: string;
  /** Null while it is in force. */
  readonly revoked_at: string | null;
}

/** A passkey as people see it. */
export type ShownPasskey = Omit<EnrolledPasskey, 'public_key' | 'counter'> & {
  readonly fingerprint: string;
};

/** Returns a passkey with its fingerprint in place of the key. */
export function shownPasskey(passkey: EnrolledPasskey): ShownPasskey {
  const { public_key: _key, counter: _counter, ...row } = passkey;
  return { ...row, fingerprint: passkeyFingerprint(passkey) };
}

/** A credential that a browser made and that does not count yet. */
export interface OfferedPasskey extends MadePasskey {
  readonly person: string;
  /** Who made it, as authenticated. */
  readonly identity: string;
  readonly origin: string;
}

/** What is needed to make or verify a statement for one caller. */
export interface Signing {
  /** By the database's clock. */
  readonly now_ms: number;
  /** The present installation. */
  readonly deployment: string;
  /** The caller's person; null: none. */
  readonly person: string | null;
  /** The person's passkeys in force. */
  readonly passkeys: readonly Passkey[];
}

/** Reads what a statement of whoever has this identity needs. */
export async function readSigning(db: Database, identity: string | null): Promise<Signing> {
  const rows = await run(
    () => db.sql<Signing>`
      SELECT (extract(epoch FROM svc_now()) * 1000)::double precision AS now_ms,
        (SELECT deployment::text FROM deployments ORDER BY since DESC LIMIT 1) AS deployment,
        person_of(${identity}) AS person,
        coalesce((SELECT jsonb_agg(jsonb_build_object('credential_id', k.credential_id,
            'person', k.person, 'public_key', k.public_key, 'origin', k.origin)
            ORDER BY k.enrolled_at, k.credential_id)
          FROM passkeys k WHERE k.person = person_of(${identity}) AND k.revoked_at IS NULL), '[]')
          AS passkeys`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the database returned no row');
  return row;
}

/** Returns every passkey, also those that have ended, by person and time. */
export async function listPasskeys(db: Database): Promise<readonly EnrolledPasskey[]> {
  const rows = await run(
    () => db.sql<{ row: EnrolledPasskey }>`
      SELECT to_jsonb(k) AS row FROM passkeys k ORDER BY person, enrolled_at, credential_id`,
  );
  return rows.map(({ row }) => ({
    ...row,
    enrolled_at: isoOf(row.enrolled_at),
    revoked_at: isoOfOrNull(row.revoked_at),
  }));
}

/**
 * Stores a credential that a browser made, with its audit rows. Returns when it was stored, also
 * for a repeat; null if one of that id was made by somebody else or with another key.
 */
export async function offerPasskey(
  db: Database,
  passkey: OfferedPasskey,
  audit: readonly AuditEntry[],
): Promise<string | null> {
  const doc = JSON.stringify({ passkey, audit: auditRows(db, audit) });
  const rows = await run(
    () => db.sql<{ at: string | null }>`SELECT offer_passkey(${doc}::jsonb) AS at`,
  );
  return isoOfOrNull(rows[0]?.at ?? null);
}

/** Returns the credentials that were made for a person in the last seven days, newest first. */
export function readOffered(db: Database, person: string): Promise<readonly OfferedPasskey[]> {
  return run(
    () => db.sql<OfferedPasskey>`
      SELECT credential_id, person, identity, public_key, counter::double precision AS counter,
        origin
      FROM passkey_candidates
      WHERE person = ${person} AND created_at > svc_now() - interval '7 days'
      ORDER BY created_at DESC`,
  );
}

/** Lets an offered passkey count; null if that is not possible (any longer). */
export async function confirmPasskey(
  db: Database,
  credentialId: string,
  audit: readonly AuditEntry[],
): Promise<EnrolledPasskey | null> {
  const doc = JSON.stringify({ credential_id: credentialId, audit: auditRows(db, audit) });
  const rows = await run(
    () => db.sql<{ row: EnrolledPasskey | null }>`SELECT confirm_passkey(${doc}::jsonb) AS row`,
  );
  return toPasskey(rows[0]?.row);
}

/** Ends a passkey; null if none of that id is in force. */
export async function revokePasskey(
  db: Database,
  credentialId: string,
  audit: readonly AuditEntry[],
): Promise<EnrolledPasskey | null> {
  const doc = JSON.stringify({ credential_id: credentialId, audit: auditRows(db, audit) });
  const rows = await run(
    () => db.sql<{ row: EnrolledPasskey | null }>`SELECT revoke_passkey(${doc}::jsonb) AS row`,
  );
  return toPasskey(rows[0]?.row);
}

function toPasskey(row: EnrolledPasskey | null | undefined): EnrolledPasskey | null {
  if (row === null || row === undefined) return null;
  return { ...row, enrolled_at: isoOf(row.enrolled_at), revoked_at: isoOfOrNull(row.revoked_at) };
}
