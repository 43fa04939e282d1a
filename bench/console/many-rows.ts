/**
 * As many rows of everything that the console lists, straight into the tables: copies of one
 * movement that the API has made, and rows beside it that no worker acts on.
 */
import pg from 'pg';

export interface ManyRowsOptions {
  readonly count: number;
  /** A movement that waits for its approval; all others are copies of it. */
  readonly prototype: string;
}

/** The movement whose timeline has as many events. */
export const LONG_TIMELINE = 1;

/** The i-th row's id; ids sort by their time. `kind` tells tables apart. */
export const manyId = (i: number, kind: number): string =>
  `00000000-0000-7000-8${String(kind).padStart(3, '0')}-${String(i).padStart(12, '0')}`;

const id = (kind: number): string =>
  `('00000000-0000-7000-8${String(kind).padStart(3, '0')}-' || lpad(i::text, 12, '0'))::uuid`;
/** The newest is the last, a year ago; a second lies between two. */
const AT = `(date_trunc('day', now()) - interval '365 days' + i * interval '1 second')`;
const NAME = `lpad(i::text, 5, '0')`;

/** Columns that a copy does not take from its prototype; `p` is the prototype. */
const COPIES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  movements: {
    movement_id: id(1),
    created_at: AT,
    updated_at: AT,
    idempotency_key: `'many-' || i`,
    amount: 'i',
    expires_at: `now() + interval '7 days'`,
    swept_at: 'now()',
    external_reference: `'many-' || ${NAME}`,
  },
  movement_plans: { movement_id: id(1) },
  movement_nodes: { movement_id: id(1), updated_at: AT },
  plan_template_versions: {
    template_id: id(2),
    template_key: `'many/t' || ${NAME}`,
    version: '1',
    name: `'Template ' || ${NAME}`,
    created_at: AT,
  },
};

const STATEMENTS: readonly string[] = [
  `INSERT INTO plan_templates (template_key, created_at, updated_at)
   SELECT 'many/t' || ${NAME}, ${AT}, ${AT} FROM rows`,
  `INSERT INTO plan_nodes SELECT (jsonb_populate_record(n, jsonb_build_object('id',
     gen_random_uuid(), 'template_id', ${id(2)}))).*
   FROM plan_nodes n, rows WHERE n.template_id = (SELECT template_id FROM prototype)`,
  `INSERT INTO plan_edges SELECT (jsonb_populate_record(e, jsonb_build_object('id',
     gen_random_uuid(), 'template_id', ${id(2)}))).*
   FROM plan_edges e, rows WHERE e.template_id = (SELECT template_id FROM prototype)`,
  `INSERT INTO timeline_events (event_id, movement_id, sequence, event_type, actor, message, data,
     occurred_at)
   SELECT ${id(3)}, (SELECT ${id(1)} FROM rows WHERE i = ${String(LONG_TIMELINE)}), i,
     'node_observing', '{"type": "system"}', 'It was looked at, time ' || i, '{}', ${AT} FROM rows`,
  `INSERT INTO audit_events (event_id, occurred_at, actor_role, action, entity_type, entity_key,
     outcome, request_id, details)
   SELECT ${id(4)}, ${AT}, 'operator', 'movement.create', 'movement', (${id(1)})::text, 'success',
     'request-' || ${NAME}, '{"amount": "1", "asset": "USDC"}' FROM rows`,
  `INSERT INTO callbacks (event_id, movement_id, event_type, sequence, url, payload, nonce, status,
     attempts, next_attempt_at, created_at, updated_at)
   SELECT ${id(5)}, ${id(1)}, 'many_' || ${NAME}, 1, 'https://example.com/callbacks', '{}',
     ${id(5)}, 'dead_letter', 12, ${AT}, ${AT}, ${AT} FROM rows`,
  `INSERT INTO capital_transfers (transfer_id, client_scope, idempotency_key, request,
     request_state, source_venue, source_account_type, destination_venue, destination_account_type,
     asset, amount, reason, provider, created_by, version, seen_version, claimed_until, created_at,
     updated_at, ended_at)
   SELECT ${id(6)}, 'many', 'many-' || i, '{}', 'COMPLETED', 'venue-' || ${NAME}, 'SPOT', 'venue-b',
     'SPOT', 'USDC', i, 'for the test', 'paper', '{}', 1, 1, ${AT}, ${AT}, ${AT}, ${AT} FROM rows`,
  `INSERT INTO agent_authorities (authority_key, allowed_assets, allowed_chains, created_at,
     updated_at) VALUES ('many', '{}', '{}', now(), now())`,
  `INSERT INTO template_proposals (proposal_id, authority_key, status, promotion_mode,
     proposal_kind, asset, requested_notional, request, bridge_attempt, reasons, client_scope,
     idempotency_key, created_by, expires_at, created_at, updated_at)
   SELECT ${id(7)}, 'many', 'expired', NULL, 'ephemeral', 'USDC', i, '{}', false, '{}', 'many',
     'many-' || i, '{}', ${AT} + interval '1 day', ${AT}, ${AT} FROM rows`,
  `INSERT INTO allowed_addresses (id, chain_family, address, chain_id, label, reason, active,
     created_by, created_at, updated_at)
   SELECT ${id(8)}, 'evm', '0x' || lpad(to_hex(i), 8, '0') || repeat('5', 24)
       || lpad(to_hex(i), 8, '0'), 1, 'payee ' || ${NAME}, 'for the test', true, 'ops-1', ${AT}, ${AT}
   FROM rows`,
  `INSERT INTO reservation_pools (venue_key, account_type, asset, held)
   SELECT 'many-' || ${NAME}, 'SPOT', 'USDC', i FROM rows`,
  `INSERT INTO balance_snapshots (venue_key, account_type, asset, available, withdrawable, total,
     fetched_at)
   SELECT 'many-' || ${NAME}, 'SPOT', 'USDC', 20000, 20000, 20000, ${AT} FROM rows`,
  `INSERT INTO executors (executor_key, kind, action_types, health_state, status, created_at,
     updated_at)
   SELECT 'many.' || ${NAME}, 'local', '{bench_instant}', 'unknown', 'disabled', ${AT}, ${AT}
   FROM rows`,
  `INSERT INTO signers (signer_key, backend, chain_family, status, created_at, updated_at)
   SELECT 'many-' || ${NAME}, 'local', 'evm', 'disabled', ${AT}, ${AT} FROM rows`,
  `INSERT INTO nonce_lanes (chain_id, address, next_nonce, signer_key, mined_count, final_count)
   SELECT 1, '0x' || lpad(to_hex(i), 40, '0'), 2, 'many-' || ${NAME}, 2, 2 FROM rows`,
  `INSERT INTO api_clients (client_id, client_name, created_at)
   VALUES ('00000000-0000-4000-8000-0000000000aa', 'many', now())`,
  `INSERT INTO auto_approve_policies (policy_id, client_id, strategy_id, is_active,
     allowed_templates, allowed_assets, window_hours, max_amount_per_window, revision, created_at,
     updated_at)
   SELECT ${id(9)}, '00000000-0000-4000-8000-0000000000aa', 'many-' || ${NAME}, false, '[]',
     '{USDC}', 24, 1, 1, ${AT}, ${AT} FROM rows`,
  `INSERT INTO bridge_chains (chain, endpoint_identity, finality_age_seconds, snapshot_stale,
     stale_detected_at, created_at, updated_at)
   SELECT 'many-' || ${NAME}, i || ':0x' || lpad(to_hex(i), 40, '0'), 900, true, now(), ${AT}, ${AT}
   FROM rows`,
  `INSERT INTO bridge_paths (src_chain, dst_chain, asset, expected_latency_seconds,
     detection_latency_budget_seconds, fee_native_budget, enabled, created_at, updated_at)
   SELECT 'many-' || ${NAME}, 'many-00001', 'USDC', 60, 600, 0.01, false, ${AT}, ${AT} FROM rows
   WHERE i > 1`,
  'SELECT rebuild_counts()',
];

/** Writes them with triggers asleep, so that no one is sent a change for each. */
export async function writeManyRows(
  databaseUrl: string,
  { count, prototype }: ManyRowsOptions,
): Promise<void> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    options: '-c session_replication_role=replica',
  });
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query(`CREATE TEMPORARY TABLE rows ON COMMIT DROP AS
      SELECT i FROM generate_series(1, ${String(count)}) AS i`);
    await client.query(`CREATE TEMPORARY TABLE prototype ON COMMIT DROP AS
      SELECT * FROM movements WHERE movement_id = '${prototype}'`);
    for (const [table, columns] of Object.entries(COPIES))
      await client.query(await copyOf(client, table, columns));
    for (const statement of STATEMENTS) await client.query(statement);
    await client.query('COMMIT');
    await client.query('ANALYZE');
  } finally {
    await client.end();
  }
}

async function copyOf(
  client: pg.Client,
  table: string,
  columns: Readonly<Record<string, string>>,
): Promise<string> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0
       AND NOT attisdropped AND attgenerated = '' ORDER BY attnum`,
    [table],
  );
  const names = rows.map(({ name }) => name);
  const key = table === 'plan_template_versions' ? 'template_id' : 'movement_id';
  const values = names.map((name) => columns[name] ?? `p.${name}`);
  return `INSERT INTO ${table} (${names.join(', ')}) SELECT ${values.join(', ')}
    FROM rows CROSS JOIN ${table} p WHERE p.${key} = (SELECT ${key} FROM prototype)`;
}
