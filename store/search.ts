/** Finds exact matches of a text: an id, hash, reference, key or address, each by an index. */
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';
import { agentOf } from './namespaces.ts';

export const HIT_KINDS = [
  'movement',
  'capital_transfer',
  'proposal',
  'change_request',
  'allowed_address',
] as const;
export const MATCHES = [
  'id',
  'transaction_hash',
  'idempotency_key',
  'external_reference',
  'address',
] as const;

export interface Hit {
  readonly kind: (typeof HIT_KINDS)[number];
  readonly id: string;
  /** The label to display; never empty. */
  readonly title: string;
  /** The field that matched; if several did, the first of {@link MATCHES}. */
  readonly matched: (typeof MATCHES)[number];
}

export interface Wanted {
  readonly text: string;
  /** The client scope whose idempotency keys are searched. */
  readonly clientScope: string;
  /**
   * Limits the results to the agent of this namespace; undefined for callers who see everything.
   */
  readonly namespace?: string | undefined;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const HASH = /^0x[0-9a-f]{64}$/i;
const HEX = /^0x[0-9a-f]+$/i;

/** Returns up to `limit` hits for the text, in the order of {@link MATCHES}, then newest first. */
export async function search(
  db: Database,
  { text, clientScope: scope, namespace }: Wanted,
  limit: number,
): Promise<readonly Hit[]> {
  const agent = agentOf(namespace);
  const id = UUID.test(text) ? text : null;
  const hash = HASH.test(text) ? text.toLowerCase() : null;
  // Hexadecimal addresses ignore letter case; for other addresses case matters.
  const address = HEX.test(text) ? text.toLowerCase() : text;
  const exact = HEX.test(text) ? null : text;
  const rows = await run(
    () => db.sqlPlanned<Omit<Hit, 'matched'> & { readonly rank: number }>`
      WITH found AS (
        SELECT 1 AS rank, ${id}::uuid AS movement_id WHERE ${id}::uuid IS NOT NULL
        UNION ALL (SELECT 2, t.movement_id FROM evm_transactions t
          WHERE t.tx_hash = ${hash} LIMIT ${limit}::integer)
        UNION ALL (SELECT 2, t.movement_id FROM evm_transactions t WHERE t.mined_hash = ${hash}
          AND t.mined_hash IS DISTINCT FROM t.tx_hash LIMIT ${limit}::integer)
        UNION ALL (SELECT 2, a.movement_id FROM authorizations a
          WHERE a.mined_hash = ${hash} LIMIT ${limit}::integer)
        UNION ALL SELECT 3, m.movement_id FROM movements m
          WHERE m.client_scope = ${scope} AND m.idempotency_key = ${text}
        UNION ALL (SELECT 4, m.movement_id FROM movements m
          WHERE m.external_reference = ${text} AND (${agent}::text IS NULL OR m.agent = ${agent})
          ORDER BY m.created_at DESC, m.movement_id DESC LIMIT ${limit}::integer)
        UNION ALL (SELECT 5, m.movement_id FROM movements m
          WHERE lower(m.intent ->> 'destination_address') = lower(${address})
            AND (${exact}::text IS NULL OR m.intent ->> 'destination_address' = ${exact})
            AND (${agent}::text IS NULL OR m.agent = ${agent})
          ORDER BY m.created_at DESC, m.movement_id DESC LIMIT ${limit}::integer)
      ), hits AS (
        SELECT f.rank, 'movement' AS kind, f.movement_id AS id, m.created_at,
          trim_scale(m.amount)::text || ' ' || m.asset || ', ' || m.template_key AS title
        -- OFFSET 0 makes Postgres look up each movement by its id, whatever row count it expects.
        FROM found f CROSS JOIN LATERAL (SELECT * FROM movements m
          WHERE m.movement_id = f.movement_id OFFSET 0) m
        WHERE ${agent}::text IS NULL OR m.agent = ${agent}
        UNION ALL
        SELECT CASE WHEN t.transfer_id = ${id}::uuid THEN 1 ELSE 3 END, 'capital_transfer',
          t.transfer_id, t.created_at, trim_scale(t.amount)::text || ' ' || t.asset || ', '
            || t.source_venue || ' to ' || t.destination_venue
        FROM capital_transfers t WHERE ${agent}::text IS NULL AND (t.transfer_id = ${id}::uuid
          OR (t.client_scope = ${scope} AND t.idempotency_key = ${text}))
        UNION ALL
        SELECT CASE WHEN p.proposal_id = ${id}::uuid THEN 1 ELSE 3 END, 'proposal', p.proposal_id,
          p.created_at, trim_scale(p.requested_notional)::text || ' ' || p.asset || ', '
            || coalesce(p.template_key, p.authority_key)
        FROM template_proposals p
        WHERE (${agent}::text IS NULL OR p.authority_key = ${agent})
          AND (p.proposal_id = ${id}::uuid
            OR (p.client_scope = ${scope} AND p.idempotency_key = ${text}))
        UNION ALL
        SELECT 1, 'change_request', r.request_id, r.created_at,
          r.kinds[1] || ', ' || r.method || ' ' || r.path
        FROM change_requests r WHERE ${agent}::text IS NULL AND r.request_id = ${id}::uuid
        UNION ALL
        SELECT 5, 'allowed_address', a.id, a.created_at,
          coalesce(a.label || ', ', '') || a.chain_family
            || coalesce(' ' || a.chain_id, '') || CASE WHEN a.active THEN '' ELSE ', revoked' END
        FROM allowed_addresses a WHERE ${agent}::text IS NULL
          AND a.chain_family IN ('evm', 'cex') AND a.address = ${address}
      )
      SELECT kind, id, title, rank FROM (
        SELECT DISTINCT ON (kind, id) * FROM hits ORDER BY kind, id, rank) once
      ORDER BY rank, created_at DESC, id DESC LIMIT ${limit}::integer`,
  );
  return rows.map(({ kind, id: found, title, rank }) => ({
    kind,
    id: found,
    title,
    matched: MATCHES[rank - 1] ?? 'id',
  }));
}
