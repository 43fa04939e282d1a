/** The content of an audit row, as it is shown, sealed and exported. */
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
 * The fields that the writing process vouches for. The database function that writes the row alone
 * knows the time and some details; the chain of seals covers those.
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

/** The registries' entities, for the list over what was done to them. */
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

/** RFC 8785 canonical JSON of a record: the same text wherever the record comes from. */
export function canonicalRecord(record: AuditRecord): string {
  return canonical(record);
}

/** The text that a row's MAC is over; an absent field counts as null, as it does in the table. */
export function vouchedText(row: VouchedRow): string {
  return canonical(Object.fromEntries(VOUCHED_FIELDS.map((field) => [field, row[field] ?? null])));
}

function canonical(value: object): string {
  const text = canonicalize(value);
  if (text === undefined) throw new Error('an audit record has no canonical form');
  return text;
}
