/**
 * The allowlist: rows are read by id for display, and by address to check payees. Every change is
 * one statement that also writes its audit row.
 */
import type { ChainFamily } from '../domain/allowlist/address.ts';
import type { ListedAddress } from '../domain/allowlist/match.ts';
import type { AuditAction } from '../domain/events.ts';
import { ALLOWED_ADDRESS_TABLE } from '../domain/states/allowed-address.ts';
import { assertMove } from '../domain/states/table.ts';
import type { AuditEntry } from '../domain/transition.ts';
import { newId } from '../platform/ids.ts';
import type { Database } from '../prisma/client.ts';
import { auditRows } from './event-ids.ts';
import { run } from './faults.ts';
import { isoOf, isoOfOrNull } from './json.ts';
import type { PagePosition } from './paging.ts';

export interface AllowedAddress {
  readonly id: string;
  readonly chain_family: ChainFamily;
  readonly address: string;
  readonly chain_id: number | null;
  readonly label: string | null;
  readonly reason: string;
  readonly active: boolean;
  readonly usable_after: string | null;
  readonly created_by: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly revoked_at: string | null;
  readonly revoked_by: string | null;
}

/** `taken`: the list already has a row with that key, and nothing was changed. */
export type AllowOutcome = 'created' | 'reactivated' | 'revoked' | 'moved' | 'unchanged' | 'taken';

export interface Allowed {
  readonly outcome: AllowOutcome;
  readonly row: AllowedAddress;
}

/** The fields that identify a row, besides its id. */
export type AllowedKey = Pick<AllowedAddress, 'chain_family' | 'address' | 'chain_id'>;

/**
 * Who changes a row, why, and how many seconds the address must wait (cool) before it may be paid;
 * null: no wait.
 */
export interface AllowlistChange {
  readonly by: string;
  readonly reason: string;
  readonly cooling_seconds: number | null;
  /** Builds the audit entry for the action that the change turns out to be. */
  readonly audit: (action: AuditAction, id: string) => AuditEntry;
}

type Answer = { readonly outcome: AllowOutcome | 'again'; readonly row: AllowedAddress } | null;

/**
 * Number of tries to add an address. A further try is needed when another process has inserted the
 * same address meanwhile.
 */
const LOOKS = 3;

/** Adds an address in normal form; the outcome tells whether the list had it already. */
export async function allowAddress(
  db: Database,
  entry: AllowedKey & { readonly label: string | null },
  change: AllowlistChange,
): Promise<Allowed> {
  assertMove(ALLOWED_ADDRESS_TABLE, 'inactive', 'active');
  for (let look = 0; look < LOOKS; look += 1) {
    const id = (await idOf(db, entry)) ?? newId();
    const doc = document(db, { ...entry, id }, change, ['create', 'reactivate']);
    const rows = await run(
      () => db.sql<{ answer: Answer }>`SELECT allow_address(${doc}::jsonb) AS answer`,
    );
    const allowed = toAllowed(rows[0]?.answer ?? null);
    if (allowed !== null) return allowed;
  }
  throw new Error('another process changed the allowlist row during every try; try again');
}

async function idOf(
  db: Database,
  { chain_family, address, chain_id }: AllowedKey,
): Promise<string | null> {
  const rows = await run(
    () => db.sql<{ id: string }>`
      SELECT id::text FROM allowed_addresses
      WHERE chain_family = ${chain_family} AND address = ${address} AND chain_id
        IS NOT DISTINCT FROM ${chain_id}::bigint`,
  );
  return rows[0]?.id ?? null;
}

/** Revokes or reactivates a row; null for an unknown id. */
export async function setAllowedAddress(
  db: Database,
  id: string,
  active: boolean,
  change: AllowlistChange,
): Promise<Allowed | null> {
  assertMove(ALLOWED_ADDRESS_TABLE, active ? 'inactive' : 'active', active ? 'active' : 'inactive');
  const doc = document(db, { id, active }, change, [active ? 'reactivate' : 'revoke']);
  const rows = await run(
    () => db.sql<{ answer: Answer }>`SELECT set_allowed_address(${doc}::jsonb) AS answer`,
  );
  return toAllowed(rows[0]?.answer ?? null);
}

/** Sets the row's chain; null as `chain_id` allows all chains. Returns null for an unknown id. */
export async function setAllowedChain(
  db: Database,
  id: string,
  chain_id: number | null,
  change: AllowlistChange,
): Promise<Allowed | null> {
  const doc = document(db, { id, chain_id }, change, ['set_chain']);
  const rows = await run(
    () => db.sql<{ answer: Answer }>`SELECT set_allowed_chain(${doc}::jsonb) AS answer`,
  );
  return toAllowed(rows[0]?.answer ?? null);
}

function document(
  db: Database,
  what: { readonly id: string } & Readonly<Record<string, unknown>>,
  { by, reason, cooling_seconds, audit }: AllowlistChange,
  verbs: readonly ('create' | 'reactivate' | 'revoke' | 'set_chain')[],
): string {
  const rows = verbs.map(
    (verb) => [verb, auditRows(db, [audit(`allowed_address.${verb}`, what.id)])] as const,
  );
  return JSON.stringify({ ...what, by, reason, cooling_seconds, audit: Object.fromEntries(rows) });
}

function toAllowed(answer: Answer): Allowed | null {
  return answer === null || answer.outcome === 'again'
    ? null
    : { outcome: answer.outcome, row: toRow(answer.row) };
}

function toRow(row: AllowedAddress): AllowedAddress {
  return {
    ...row,
    usable_after: isoOfOrNull(row.usable_after),
    created_at: isoOf(row.created_at),
    updated_at: isoOf(row.updated_at),
    revoked_at: isoOfOrNull(row.revoked_at),
  };
}

export interface AllowedFilter {
  readonly chain_family?: ChainFamily | undefined;
  readonly chain_id?: number | undefined;
  readonly include_inactive: boolean;
}

/** Returns up to `limit` rows after a position, newest first. */
export async function listAllowed(
  db: Database,
  filter: AllowedFilter,
  page: { readonly limit: number; readonly after: PagePosition | null },
): Promise<readonly AllowedAddress[]> {
  const [family, chain, at, id] = [
    filter.chain_family ?? null,
    filter.chain_id ?? null,
    page.after?.created_at ?? null,
    page.after?.id ?? null,
  ];
  const rows = await run(
    () => db.sqlPlanned<{ row: AllowedAddress }>`
      SELECT to_jsonb(a) AS row FROM allowed_addresses a
      WHERE (a.active OR ${filter.include_inactive})
        AND (${family}::text IS NULL OR a.chain_family = ${family})
        AND (${chain}::bigint IS NULL OR a.chain_id = ${chain})
          AND (${at}::timestamptz IS NULL OR (a.created_at, a.id) < (${at}, ${id}::uuid))
      ORDER BY a.created_at DESC, a.id DESC LIMIT ${page.limit}::integer`,
  );
  return rows.map(({ row }) => toRow(row));
}

/**
 * Returns the other active addresses of the chain family that end in the same four characters, for
 * a warning against look-alikes.
 */
export async function readAlike(
  db: Database,
  { chain_family, address }: AllowedKey,
): Promise<readonly string[]> {
  const rows = await run(
    () => db.sql<{ address: string }>`
      SELECT DISTINCT address FROM allowed_addresses
      WHERE active AND chain_family = ${chain_family} AND address <> ${address}
        AND lower(right(address, 4)) = lower(right(${address}, 4))
      ORDER BY address LIMIT 1000`,
  );
  return rows.map((row) => row.address);
}

/** Returns the fields of these addresses' rows that matching needs, and the database's time. */
export async function readListed(
  db: Database,
  addresses: readonly Pick<AllowedKey, 'chain_family' | 'address'>[],
): Promise<{ readonly now: number; readonly rows: readonly ListedAddress[] }> {
  const keys = JSON.stringify(
    addresses.map(({ chain_family, address }) => [chain_family, address]),
  );
  const rows = await run(
    () => db.sql<{ now_ms: number; listed: readonly ListedAddress[] }>`
      SELECT (extract(epoch FROM svc_now()) * 1000)::double precision AS now_ms, coalesce((
        SELECT json_agg(json_build_object('chain_family', chain_family, 'address', address,
          'chain_id', chain_id, 'active', active,
          'usable_after', extract(epoch FROM usable_after) * 1000))
        FROM allowed_addresses
        WHERE (chain_family, address) IN (SELECT k ->> 0, k ->> 1
          FROM jsonb_array_elements(${keys}::jsonb) AS k)
      ), '[]'::json) AS listed`,
  );
  return { now: rows[0]?.now_ms ?? 0, rows: rows[0]?.listed ?? [] };
}
