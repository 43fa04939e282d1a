/** Stores rotations, retirements and evidence of signers (see signer-lifecycle.sql). */
import type { JsonObject } from '../domain/json.ts';
import type { ReplacedSigner } from '../domain/plan/bindings.ts';
import type { Actor } from '../domain/roles.ts';
import type { SignerDescriptor } from '../domain/signer.ts';
import type { KnownSpender, RotationCause, SignerEventType } from '../domain/signer-lifecycle.ts';
import type { AuditEntry, Take } from '../domain/transition.ts';
import { newId } from '../platform/ids.ts';
import type { Database } from '../prisma/client.ts';
import { auditRow } from './event-ids.ts';
import { run } from './faults.ts';
import { isoOf } from './json.ts';

/** Returns the signers that rotations have replaced. */
export async function readReplacedSigners(db: Database): Promise<readonly ReplacedSigner[]> {
  const rows = await run(
    () => db.sql<Omit<ReplacedSigner, 'profile'> & { readonly profile: string | null }>`
      SELECT signer_key, chain_family, profile, replaced_by FROM signers
      WHERE replaced_by IS NOT NULL ORDER BY signer_key`,
  );
  return rows.map(({ profile, ...row }) => (profile === null ? row : { ...row, profile }));
}

interface Done {
  readonly key: string;
  readonly declared: readonly SignerDescriptor[];
  readonly reason?: string;
  readonly actor: Actor;
  readonly audit: AuditEntry;
}

export interface Rotation extends Done {
  readonly other_key: string;
  readonly drill: boolean;
  /** Addresses of the old signer. Nodes bound to one of these addresses keep that signer. */
  readonly known_addresses: readonly string[];
  /**
   * The replacement's identity, read before the transaction, and the stored row that it was
   * compared with.
   */
  readonly asked: {
    readonly pin: string | null;
    readonly runtime: string;
    readonly observed_at: string | null;
  };
  readonly take: Take;
}

export interface RotationImpact {
  readonly remapped: number;
  readonly kept: readonly {
    readonly movement_id: string;
    readonly node_key: string;
    readonly reason: string;
  }[];
  readonly open_nonces: number;
  readonly pending_approval: number;
}

export type RotationRefusal =
  | { readonly error: 'validation_failed'; readonly cause: RotationCause }
  | { readonly error: 'signer_runtime_identity_unavailable' | 'signer_identity_mismatch' };

/**
 * Facts that a rotation reads first. `problem` is null when only the check of the replacement's
 * identity remains.
 */
export interface RotationStart {
  readonly pin: string | null;
  readonly observed_at: string | null;
  readonly known_addresses: readonly string[];
  readonly problem: RotationRefusal | null;
}

/** Returns the stored facts of both signers, or the key of one neither stored nor declared. */
export async function readRotation(
  db: Database,
  pair: Pick<Rotation, 'key' | 'other_key' | 'declared'>,
): Promise<RotationStart | { readonly missing: string }> {
  const doc = JSON.stringify(pair);
  const rows = await run(
    () =>
      db.sql<{
        answer: RotationStart | { readonly missing: string };
      }>`SELECT read_rotation(${doc}::jsonb) AS answer`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the SQL function read_rotation returned no row');
  return row.answer;
}

interface Ids {
  readonly event_id: string;
  readonly audit_event_id: string;
}

/** Rotates a signer, or drills a rotation and rolls it back; both write event and audit row. */
export async function rotateSigner(
  db: Database,
  rotation: Rotation,
): Promise<
  | ({ readonly ok: true; readonly impact: RotationImpact } & Ids)
  | ({ readonly ok: false } & RotationRefusal)
> {
  const { doc, ids } = documentOf(db, rotation, rotation.drill ? 'rotation_drilled' : 'rotated');
  const rows = await run(
    () =>
      db.sql<{
        answer:
          | { readonly ok: true; readonly impact: RotationImpact }
          | ({ readonly ok: false } & RotationRefusal);
      }>`SELECT rotate_signer(${doc}::jsonb) AS answer`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the rotation of the signer returned no row');
  return row.answer.ok ? { ...row.answer, ...ids } : row.answer;
}

/** Stores an event with facts that were looked up about a signer. */
export async function recordSignerEvent(
  db: Database,
  event: Done & { readonly event_type: SignerEventType; readonly data: JsonObject },
): Promise<Ids> {
  const { doc, ids } = documentOf(db, event, event.event_type);
  await run(() => db.sql`SELECT record_signer_event(${doc}::jsonb)`);
  return ids;
}

export interface Retirement extends Done {
  readonly acknowledged: boolean;
  /**
   * Facts about the signer that were read before the retirement, as the SQL function `failed_gate`
   * takes them.
   */
  readonly seen: JsonObject;
  readonly data: JsonObject;
}

/**
 * Retires a signer, or returns the gate that denied it; null for a signer that is neither stored
 * nor declared.
 */
export async function retireSigner(
  db: Database,
  retirement: Retirement,
): Promise<
  ({ readonly ok: true } & Ids) | { readonly ok: false; readonly denied: JsonObject } | null
> {
  const { doc, ids } = documentOf(db, retirement, 'retired');
  const rows = await run(
    () =>
      db.sql<{
        answer: { readonly ok: true } | { readonly ok: false; readonly denied: JsonObject } | null;
      }>`SELECT retire_signer(${doc}::jsonb) AS answer`,
  );
  const answer = rows[0]?.answer ?? null;
  return answer?.ok === true ? { ok: true, ...ids } : answer;
}

function documentOf(
  db: Database,
  done: Done,
  event_type: SignerEventType,
): { readonly doc: string; readonly ids: Ids } {
  const audit = auditRow(db, done.audit);
  const ids = { event_id: newId(), audit_event_id: audit.event_id };
  const doc = { ...done, event_type, event_id: ids.event_id, audit: [audit] };
  return { doc: JSON.stringify(doc), ids };
}

export interface SignerEvent {
  readonly event_id: string;
  readonly event_type: string;
  readonly signer_key: string;
  /** The signer that replaced this one, for a rotation. */
  readonly replace_with: string | null;
  readonly reason: string | null;
  readonly done_by: JsonObject;
  readonly data: JsonObject;
  readonly audit_event_id: string | null;
  /** ISO 8601. */
  readonly occurred_at: string;
}

/**
 * Returns the events of a signer, and the rotations in which it replaced another signer, oldest
 * first.
 */
export async function readSignerEvents(
  db: Database,
  signerKey: string,
): Promise<readonly SignerEvent[]> {
  const rows = await run(
    () => db.sql<Omit<SignerEvent, 'occurred_at'> & { readonly occurred_at: string }>`
      SELECT event_id, event_type, signer_key, other_key AS replace_with, reason, done_by, data,
        audit_event_id, to_jsonb(occurred_at) #>> '{}' AS occurred_at
      FROM signer_events WHERE signer_key = ${signerKey} OR other_key = ${signerKey}
      ORDER BY signer_events.occurred_at, event_id`,
  );
  return rows.map((row) => ({ ...row, occurred_at: isoOf(row.occurred_at) }));
}

/** Returns the replacement of a signer, and every address that the signer had. */
export async function readSignerPast(
  db: Database,
  signerKey: string,
): Promise<{ readonly replaced_by: string | null; readonly addresses: readonly string[] }> {
  const rows = await run(
    () => db.sql<{ replaced_by: string | null; addresses: readonly string[] }>`
      SELECT replaced_by, signer_addresses(s) AS addresses FROM signers s
      WHERE signer_key = ${signerKey}`,
  );
  return rows[0] ?? { replaced_by: null, addresses: [] };
}

/** Returns the addresses a signer's nodes sent from; used when the signer no longer answers. */
export async function readSenders(db: Database, signerKey: string): Promise<readonly string[]> {
  const rows = await run(
    () => db.sql<{ address: string }>`
      SELECT DISTINCT t.address FROM evm_transactions t
      JOIN movement_nodes n USING (movement_id, node_key)
      WHERE n.signer_binding ->> 'signer_key' = ${signerKey}`,
  );
  return rows.map(({ address }) => address);
}

/**
 * Returns the spenders that an account approved in transactions of this service (`approve`,
 * `increaseAllowance`).
 */
export async function readOwnApprovals(
  db: Database,
  address: string,
): Promise<readonly KnownSpender[]> {
  const rows = await run(
    () => db.sql<{ chain_id: string; token_address: string; spender: string }>`
      SELECT DISTINCT chain_id, lower(unsigned ->> 'to') AS token_address,
        '0x' || lower(substr(unsigned ->> 'data', 35, 40)) AS spender
      FROM evm_transactions
      WHERE address = ${address.toLowerCase()}
        AND unsigned ->> 'data' ~* '^0x(095ea7b3|39509351)0{24}[0-9a-f]{104}$'`,
  );
  return rows.map((row) => ({ ...row, chain_id: Number(row.chain_id) }));
}
