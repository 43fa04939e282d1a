/** API keys of callers. Only the command-line tools write them; the service reads them. */
import type { Caller, Role } from '../domain/roles.ts';
import type { ApiKeyStatus } from '../domain/states/api-key.ts';
import type { AuditEntry } from '../domain/transition.ts';
import { newId } from '../platform/ids.ts';
import type { Database } from '../prisma/client.ts';
import { auditRows } from './event-ids.ts';
import { run, sqlState } from './faults.ts';

/** Returns the encrypted secret of a key with any status, or null. */
export async function readSealedSecret(db: Database, keyId: string): Promise<Uint8Array | null> {
  const rows = await run(
    () =>
      db.sql<{ secret: Uint8Array }>`SELECT secret FROM api_client_keys WHERE key_id = ${keyId}`,
  );
  return rows[0]?.secret ?? null;
}

/** An agent's limits. Null: not set; an existing authority keeps its present limit. */
export interface AuthorityLimits {
  readonly authority_key: string;
  readonly max_notional: string | null;
  readonly allowed_assets: readonly string[] | null;
  readonly allowed_chains: readonly string[] | null;
  readonly max_ttl_seconds: number | null;
}

export interface NewKey {
  readonly client_name: string;
  readonly key_id: string;
  readonly role: Role;
  readonly sealed_secret: Buffer;
  readonly cert_fingerprint: string | null;
  readonly authority: AuthorityLimits | null;
  /** Whether to revoke the authority's present key in the same transaction. */
  readonly replace: boolean;
  readonly audit: readonly AuditEntry[];
  /** Audit rows for the authority, when it is created or its limits change. */
  readonly authority_audit: Readonly<Record<'create' | 'update', readonly AuditEntry[]>>;
}

export type IssueOutcome =
  | {
      readonly ok: true;
      readonly client_id: string;
      readonly created_at: string;
      readonly replaced_key_id: string | null;
    }
  | { readonly ok: false; readonly reason: 'key_exists' | 'authority_bound' };

/**
 * SQLSTATEs of refusals by the SQL function `issue_key`; raising an error rolls back all of its
 * writes.
 */
const ISSUE_REFUSALS: Readonly<Record<string, 'key_exists' | 'authority_bound'>> = {
  FM001: 'key_exists',
  FM002: 'authority_bound',
};

/** Writes a key and its authority, and a client unless an active client has that name. */
export async function issueKey(db: Database, key: NewKey): Promise<IssueOutcome> {
  const doc = JSON.stringify({
    ...key,
    client_id: newId(),
    sealed_secret: undefined,
    secret: key.sealed_secret.toString('hex'),
    audit: auditRows(db, key.audit),
    authority_audit: {
      create: auditRows(db, key.authority_audit.create),
      update: auditRows(db, key.authority_audit.update),
    },
  });
  try {
    const rows = await run(
      () => db.sql<{ answer: Issued }>`SELECT issue_key(${doc}::jsonb) AS answer`,
    );
    const [row] = rows;
    if (row === undefined) throw new Error('the SQL function issue_key returned no row');
    return { ok: true, ...row.answer, created_at: new Date(row.answer.created_at).toISOString() };
  } catch (error) {
    const reason = ISSUE_REFUSALS[sqlState(error) ?? ''];
    if (reason === undefined) throw error;
    return { ok: false, reason };
  }
}

interface Issued {
  readonly client_id: string;
  readonly created_at: string;
  readonly replaced_key_id: string | null;
}

export interface RevokedKey {
  readonly key_id: string;
  readonly client_id: string;
  readonly role: Role;
  /** The status before; a repeat finds `revoked`. */
  readonly was: ApiKeyStatus;
}

/** Revokes a key for ever, on every instance from the commit on; null for an unknown key. */
export async function revokeKey(
  db: Database,
  keyId: string,
  audit: readonly AuditEntry[],
): Promise<RevokedKey | null> {
  const doc = JSON.stringify(auditRows(db, audit));
  const rows = await run(
    () =>
      db.sql<{ answer: RevokedKey | null }>`SELECT revoke_key(${keyId}, ${doc}::jsonb) AS answer`,
  );
  return rows[0]?.answer ?? null;
}

export interface KeyRecord {
  readonly client_id: string;
  readonly client_name: string;
  readonly key_id: string;
  readonly role: Role;
  readonly key_status: ApiKeyStatus;
  readonly cert_fingerprint: string | null;
  readonly namespace: string | null;
  readonly created_at: string;
  readonly revoked_at: string | null;
}

/** Returns every key without its secret, by client and age; or only one client's keys. */
export async function listKeys(
  db: Database,
  clientName: string | null,
): Promise<readonly KeyRecord[]> {
  const rows = await run(
    () => db.sql<
      Omit<KeyRecord, 'created_at' | 'revoked_at'> & { created_at: Date; revoked_at: Date | null }
    >`
      SELECT c.client_id::text, c.client_name, k.key_id, k.role, k.status AS key_status,
        k.cert_fingerprint, a.namespace, k.created_at, k.revoked_at
      FROM api_client_keys k JOIN api_clients c USING (client_id)
        LEFT JOIN agent_authorities a USING (authority_key)
      WHERE ${clientName}::text IS NULL OR c.client_name = ${clientName}
      ORDER BY c.client_name, k.created_at, k.key_id`,
  );
  return rows.map((row) => ({
    ...row,
    created_at: row.created_at.toISOString(),
    revoked_at: row.revoked_at?.toISOString() ?? null,
  }));
}

/**
 * Returns whether a caller with an API key may still call as before: the client has an active key
 * of that role and namespace, and the key that was used then is not revoked.
 */
export async function mayStillCall(
  db: Database,
  caller: Pick<Caller, 'client_id' | 'key_id' | 'role' | 'namespace'>,
): Promise<boolean> {
  const { client_id, key_id, role, namespace = null } = caller;
  const rows = await run(
    () => db.sql<{ may: boolean }>`
      SELECT EXISTS (SELECT FROM api_client_keys k JOIN api_clients c USING (client_id)
        LEFT JOIN agent_authorities a USING (authority_key)
        WHERE k.client_id::text = ${client_id} AND k.status = 'active' AND c.status = 'active'
          AND k.role = ${role} AND a.namespace IS NOT DISTINCT FROM ${namespace})
        AND NOT EXISTS (SELECT FROM api_client_keys k
          WHERE k.key_id = ${key_id} AND k.status = 'revoked') AS may`,
  );
  return rows[0]?.may === true;
}

/** Returns the id of the client with this id, or of the active client with this name; or null. */
export async function readClientId(
  db: Database,
  client: { readonly id: string } | { readonly name: string },
): Promise<string | null> {
  const id = 'id' in client ? client.id : null;
  const name = 'name' in client ? client.name : null;
  const rows = await run(
    () => db.sql<{ client_id: string }>`
      SELECT client_id::text FROM api_clients
      WHERE client_id = ${id}::uuid OR client_name = ${name} AND status = 'active'`,
  );
  return rows[0]?.client_id ?? null;
}

export interface AuthorityRecord {
  readonly authority_key: string;
  readonly namespace: string;
  /** The active key that is bound to the authority. */
  readonly key_id: string | null;
  readonly client_id: string | null;
  readonly max_notional: string | null;
  readonly allowed_assets: readonly string[];
  readonly allowed_chains: readonly string[];
  readonly max_ttl_seconds: number | null;
  readonly created_at: string;
  readonly updated_at: string;
}

/** Returns one agent authority with its limits, or null. */
export async function readAuthority(
  db: Database,
  authorityKey: string,
): Promise<AuthorityRecord | null> {
  const rows = await run(
    () => db.sql<
      Omit<AuthorityRecord, 'created_at' | 'updated_at'> & { created_at: Date; updated_at: Date }
    >`
      SELECT a.authority_key, a.namespace, k.key_id, k.client_id::text,
        trim_scale(a.max_notional)::text AS max_notional, a.allowed_assets, a.allowed_chains,
          a.max_ttl_seconds, a.created_at, a.updated_at
      FROM agent_authorities a LEFT JOIN api_client_keys k ON k.authority_key = a.authority_key
        AND k.status = 'active'
      WHERE a.authority_key = ${authorityKey}`,
  );
  const [row] = rows;
  return row === undefined
    ? null
    : {
        ...row,
        created_at: row.created_at.toISOString(),
        updated_at: row.updated_at.toISOString(),
      };
}
