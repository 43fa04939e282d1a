/** Defines the content of an audit row, and its canonical text for seals and exports. */
import canonicalize from 'canonicalize';
import type { JsonObject } from './json.ts';

export interface AuditRecord {
  readonly event_id: string;
  /** ISO 8601 UTC with milliseconds. */
  readonly occurred_at: string;
  readonly actor_client_id: string | null;
  readonly actor_key_id: string | null;
  readonly actor_role: string | null;
  readonly namespace: string | null;
  readonly action: string;
  readonly entity_type: string;
  readonly entity_key: string;
  readonly outcome: string;
  readonly request_id: string | null;
  readonly reason: string | null;
  readonly details: JsonObject;
}

/**
 * The fields that the writing process signs with a MAC. Only the database function that writes the
 * row knows the time and some details; the chain of seals covers those.
 */
export const VOUCHED_FIELDS = [
  'event_id',
  'actor_client_id',
  'actor_key_id',
  'actor_role',
  'namespace',
  'action',
  'entity_type',
  'entity_key',
  'outcome',
  'request_id',
  'reason',
] as const satisfies readonly (keyof AuditRecord)[];

export type VouchedRow = { readonly [Field in (typeof VOUCHED_FIELDS)[number]]?: string | null };

/** Entity types of the registries, for the list of changes to the registries. */
export const REGISTRY_ENTITIES = [
  'executor',
  'signer',
  'nonce_lane',
  'registry',
  'cutover_mode',
  'bridge_chain',
  'bridge_path',
  'bridge_registry',
  'perp_master',
  'perp_binding',
  'perp_agent_wallet',
] as const;
export type RegistryEntity = (typeof REGISTRY_ENTITIES)[number];

/** Returns the RFC 8785 canonical JSON of a record: equal records give equal text. */
export function canonicalRecord(record: AuditRecord): string {
  return canonical(record);
}

/** Returns the text that the row's MAC covers. An absent field counts as null, as in the table. */
export function vouchedText(row: VouchedRow): string {
  return canonical(Object.fromEntries(VOUCHED_FIELDS.map((field) => [field, row[field] ?? null])));
}

function canonical(value: object): string {
  const text = canonicalize(value);
  if (text === undefined) throw new Error('the audit record cannot be written as canonical JSON');
  return text;
}
