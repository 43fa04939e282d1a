/**
 * Fills a database as a year of work would: movements with their nodes, timeline, audit, callbacks,
 * holds and transactions, and what stands beside them. Straight into the tables: what is copied are
 * movements that the API itself has made.
 */
import pg from 'pg';

export interface SeedOptions {
  readonly movements: number;
  /** A movement of two nodes, made through the API; all others are copies of it. */
  readonly prototype: string;
}

/** Values of the rows that calls use as filters. */
export const SEEDED = {
  strategy: 'strategy-7',
  rareStrategy: 'strategy-rare',
  rareAsset: 'RARE',
  /** An asset that plans move beside their own. */
  otherAsset: 'SIDE',
  agent: 'a1',
  agentNamespace: 'agent/a1',
  client: '00000000-0000-4000-8000-00000000c11e',
  rareEntity: 'rare-entity',
} as const;

/** Open movements: their number is bounded by what people and venues can handle. */
const OPEN = 2_000;
/** Days that the movements come from. */
const DAYS = 365;

/** The i-th movement's id; a second figure tells its other rows apart. They sort by their time. */
const idOf = (i: string, kind: string | number, nth: string | number = 0): string =>
  `(lpad(to_hex(${i}), 8, '0') || '-0000-7000-8000-' || lpad(to_hex(${String(kind)}), 4, '0')
    || lpad(to_hex(${String(nth)}), 8, '0'))::uuid`;

/** What is drawn once for each movement, so that all tables agree. */
const rowsSql = (movements: number): string => `
  CREATE UNLOGGED TABLE seed_rows AS
  SELECT i, ${idOf('i', 1)} AS id, at,
    CASE WHEN i > ${String(movements)} - open THEN CASE
        WHEN i % 2 = 0 THEN 'PENDING_APPROVAL' WHEN i % 50 = 1 THEN 'MANUAL_INTERVENTION'
        WHEN i % 50 = 3 THEN 'WAITING_MANUAL_ACTION' ELSE 'EXECUTING' END
      WHEN i % 100 < 92 THEN 'COMPLETED' WHEN i % 100 < 95 THEN 'FAILED'
      WHEN i % 100 < 97 THEN 'REJECTED' WHEN i % 100 < 98 THEN 'EXPIRED' ELSE 'CANCELLED' END
      AS state,
    i % 40 AS place, i > ${String(movements)} - open AS open,
    CASE WHEN i IN (1000, 2000, 3000) THEN '${SEEDED.rareStrategy}'
      WHEN i % 5 > 0 THEN 'strategy-' || i % 50 END AS strategy,
    CASE WHEN i IN (1500, 2500) THEN '${SEEDED.rareAsset}' ELSE 'USDC' END AS asset,
    jsonb_build_object('desk', 'emea') || CASE WHEN i IN (1100, 2100)
      THEN '{"run": "${SEEDED.rareEntity}"}'::jsonb ELSE '{}' END AS pairs,
    1 + (i % 1000)::numeric / 7 AS amount, i % 3 = 1 AS by_policy
  FROM (SELECT i, date_trunc('milliseconds', now() - interval '1 minute'
      - (${String(movements)} - i) * interval '${String(DAYS)} days' / ${String(movements)}) AS at,
      least(${String(OPEN)}, ${String(movements)} / 5) AS open
    FROM generate_series(1, ${String(movements)}) AS i) s`;

const ENDED = `CASE WHEN NOT r.open THEN r.at + (r.i % 3600) * interval '1 second' END`;
const CALLED = `'https://example.com/callbacks'`;

/** Each table's rows as columns that differ from those of what is copied. */
type Columns = Readonly<Record<string, string>>;

const MOVEMENT: Columns = {
  movement_id: 'r.id',
  template_id: 't.template_id',
  template_key: 't.template_key',
  template_version: 't.version',
  strategy_id: 'r.strategy',
  request_state: 'r.state',
  approval_status: `CASE WHEN r.state = 'PENDING_APPROVAL' THEN 'pending'
    WHEN r.state = 'REJECTED' THEN 'rejected' WHEN r.state = 'EXPIRED' THEN 'expired'
    ELSE 'approved' END`,
  reservation_status: `CASE WHEN r.state = 'COMPLETED' THEN 'consumed'
    WHEN r.state IN ('EXECUTING', 'WAITING_MANUAL_ACTION', 'MANUAL_INTERVENTION') THEN 'held'
    WHEN r.state = 'PENDING_APPROVAL' THEN 'none' ELSE 'released' END`,
  next_sequence: '6',
  asset: 'r.asset',
  amount: 'r.amount',
  metadata: 'r.pairs',
  outflow: `CASE WHEN r.i IN (1700, 2700)
    THEN p.outflow || '[{"asset": "${SEEDED.otherAsset}", "amount": "1"}]'::jsonb
    ELSE p.outflow END`,
  error_message: `CASE WHEN r.state = 'FAILED' THEN 'node n1 failed' END`,
  error_code: `CASE WHEN r.state = 'FAILED' THEN 'VENUE_REFUSED' END`,
  callback_url: CALLED,
  idempotency_key: `CASE WHEN r.i % 2 = 0 THEN 'key-' || r.i END`,
  agent: `substring(t.template_key FROM '^agent/([^/]+)/')`,
  auto_approve_result: `CASE WHEN r.by_policy AND r.state <> 'PENDING_APPROVAL'
    THEN jsonb_build_object('outcome', 'approved', 'policy_id', po.policy_id) END`,
  approved_at: `CASE WHEN r.state NOT IN ('PENDING_APPROVAL', 'REJECTED', 'EXPIRED') THEN r.at END`,
  expires_at: `r.at + interval '7 days'`,
  created_at: 'r.at',
  updated_at: `least(now(), coalesce(${ENDED}, r.at))`,
  ended_at: ENDED,
  swept_at: 'CASE WHEN r.open THEN now() END',
};

const NODE: Columns = {
  movement_id: 'r.id',
  state: `CASE r.state WHEN 'COMPLETED' THEN 'COMPLETED' WHEN 'EXECUTING' THEN
      CASE p.position WHEN 0 THEN 'OBSERVING' ELSE 'BLOCKED' END
    WHEN 'FAILED' THEN CASE p.position WHEN 0 THEN 'FAILED' ELSE 'SKIPPED' END
    WHEN 'MANUAL_INTERVENTION' THEN CASE p.position WHEN 0 THEN 'UNKNOWN' ELSE 'BLOCKED' END
    WHEN 'CANCELLED' THEN 'CANCELLED' WHEN 'WAITING_MANUAL_ACTION' THEN
      CASE p.position WHEN 0 THEN 'COMPLETED' ELSE 'READY' END
    ELSE 'BLOCKED' END`,
  preflight_passed: `r.state = 'COMPLETED'`,
  error_code: `CASE WHEN r.state = 'WAITING_MANUAL_ACTION' AND p.position = 1
    THEN 'LANE_BLOCKED' END`,
  amount: `CASE WHEN r.state = 'COMPLETED' THEN r.amount END`,
  output: `CASE WHEN r.state = 'COMPLETED' THEN '{"submitted_amount": "1"}'::jsonb END`,
  unanswered_since: `CASE WHEN r.open AND r.i % 100 = 5 AND p.position = 0
    THEN now() - interval '1 hour' END`,
  unanswered: 'CASE WHEN r.open AND r.i % 100 = 5 AND p.position = 0 THEN 1 ELSE 0 END',
  started_at: 'r.at',
  submitted_at: `CASE WHEN r.state <> 'PENDING_APPROVAL' THEN r.at END`,
  updated_at: `least(now(), coalesce(${ENDED}, r.at))`,
  completed_at: ENDED,
};

/** What a template's rows are copied from: the version that the movement was made of. */
const TEMPLATES = `
  INSERT INTO plan_templates (template_key, created_at, updated_at)
    SELECT k, now(), now() FROM (SELECT 'growth/t' || g AS k FROM generate_series(0, 18) AS g
      UNION ALL SELECT '${SEEDED.agentNamespace}/pay') keys ON CONFLICT DO NOTHING;
  CREATE UNLOGGED TABLE seed_templates AS
    SELECT place, gen_random_uuid() AS template_id, 1 + place % 2 AS version,
      CASE WHEN place >= 38 THEN '${SEEDED.agentNamespace}/pay' ELSE 'growth/t' || place / 2 END
        AS template_key
    FROM generate_series(0, 39) AS place;
  INSERT INTO plan_template_versions (template_id, template_key, version, name, owner, graph_shape,
    approval_policy, risk_controls, completion_assurance, created_by, created_at)
  SELECT t.template_id, t.template_key, t.version, v.name, v.owner, v.graph_shape,
    v.approval_policy, v.risk_controls, v.completion_assurance, v.created_by, now()
  FROM seed_templates t, plan_template_versions v
  WHERE v.template_id = (SELECT template_id FROM movements LIMIT 1);
  INSERT INTO plan_nodes SELECT (jsonb_populate_record(n, jsonb_build_object('id',
    gen_random_uuid(), 'template_id', t.template_id))).*
  FROM plan_nodes n, seed_templates t
  WHERE n.template_id = (SELECT template_id FROM movements LIMIT 1);
  INSERT INTO plan_edges SELECT (jsonb_populate_record(e, jsonb_build_object('id',
    gen_random_uuid(), 'template_id', t.template_id))).*
  FROM plan_edges e, seed_templates t
  WHERE e.template_id = (SELECT template_id FROM movements LIMIT 1);
  INSERT INTO api_clients (client_id, client_name, created_at)
    VALUES ('${SEEDED.client}', 'growth', now());
  INSERT INTO auto_approve_policies (policy_id, client_id, strategy_id, is_active,
    allowed_templates, allowed_assets, window_hours, max_amount_per_window, revision, created_at,
    updated_at)
  SELECT gen_random_uuid(), '${SEEDED.client}', 'strategy-' || g, true, '[]', '{USDC}', 24, 1e12, 1,
    now(), now() FROM generate_series(0, 49) AS g;
  CREATE UNLOGGED TABLE seed_policies AS
    SELECT policy_id, strategy_id FROM auto_approve_policies;`;

/** Tables that are filled from the movements, each by one statement; two run at a time. */
const PARTS: readonly string[] = [
  `INSERT INTO movement_metadata SELECT p.key, p.value, r.at, r.id
   FROM seed_rows r, jsonb_each_text(r.pairs) p`,
  `INSERT INTO timeline_events (event_id, movement_id, sequence, event_type, node_key, attempt,
     from_state, to_state, actor, message, data, occurred_at)
   SELECT ${idOf('r.i', 2, 's')}, r.id, s, CASE s WHEN 1 THEN 'movement_created'
       WHEN 2 THEN 'request_approved' ELSE 'node_completed' END,
     CASE WHEN s > 2 THEN 'n1' END, CASE WHEN s > 2 THEN 1 END, 'APPROVED', 'EXECUTING',
     '{"type": "system"}', 'A sentence that says what happened then', '{"note": "seeded"}', r.at
   FROM seed_rows r, generate_series(1, 5) AS s`,
  `INSERT INTO audit_events (event_id, occurred_at, actor_client_id, actor_key_id, actor_role,
     namespace, action, entity_type, entity_key, outcome, request_id, reason, details)
   SELECT ${idOf('r.i', 3, 's')}, r.at, CASE WHEN r.i % 50 = 0 THEN '${SEEDED.client}' END,
     CASE WHEN r.i % 50 = 0 THEN 'key-1' END, 'operator',
     CASE WHEN r.i % 250 = 0 THEN '${SEEDED.agentNamespace}' END,
     CASE s WHEN 1 THEN 'movement.create' ELSE 'movement.approve' END, 'movement', r.id::text,
     CASE WHEN r.i % 100 = 0 THEN 'denied' ELSE 'success' END, 'request-' || r.i, NULL,
     '{"amount": "1", "asset": "USDC"}' FROM seed_rows r, generate_series(1, 2) AS s`,
  `INSERT INTO audit_events (event_id, occurred_at, actor_role, action, entity_type, entity_key,
     outcome, details)
   SELECT gen_random_uuid(), now() - i * interval '1 day', 'admin', 'executor.update_status',
     'executor', '${SEEDED.rareEntity}', 'success', '{}' FROM generate_series(1, 300) AS i`,
  `INSERT INTO audit_seals (position, event_id, event_hash, chain_hash, sealed_at)
   SELECT 2 * (r.i - 1) + s, ${idOf('r.i', 3, 's')}, '\\x00', '\\x00', r.at
   FROM seed_rows r, generate_series(1, 2) AS s`,
  `INSERT INTO callbacks (event_id, movement_id, event_type, sequence, url, payload, nonce, status,
     attempts, next_attempt_at, created_at, updated_at)
   SELECT ${idOf('r.i', 2, 2)}, r.id, 'request_approved', 2, ${CALLED},
     '{"event_type": "request_approved", "request_state": "APPROVED", "sequence": 2}',
     ${idOf('r.i', 2, 2)}, CASE WHEN r.open AND r.i % 40 = 0 THEN 'pending'
       WHEN r.i % 200 = 1 THEN 'dead_letter' ELSE 'delivered' END, 1, r.at, r.at, r.at
   FROM seed_rows r`,
  `INSERT INTO commands (command_id, movement_id, kind, created_at, applied_at, claimed_until)
   SELECT ${idOf('r.i', 4)}, r.id, 'create', r.at,
     CASE WHEN NOT r.open OR r.i % 40 <> 1 THEN r.at END, r.at FROM seed_rows r`,
  `INSERT INTO node_attempts (idempotency_key, movement_id, node_key, attempt, external_ref,
     outcome, started_at, ended_at)
   SELECT r.id || ':n1:1', r.id, 'n1', 1, 'ref', CASE WHEN NOT r.open THEN 'COMPLETED' END, r.at,
     ${ENDED} FROM seed_rows r WHERE r.state IN ('COMPLETED', 'EXECUTING', 'MANUAL_INTERVENTION')`,
  `INSERT INTO artifacts (artifact_id, movement_id, node_key, attempt, kind, data, created_at)
   SELECT ${idOf('r.i', 5)}, r.id, 'n1', 1, 'receipt', '{"ref": "x"}', r.at
   FROM seed_rows r WHERE r.i % 4 = 0`,
  `INSERT INTO reservations (reservation_id, movement_id, node_key, venue_key, account_type, asset,
     amount, status, created_at, ended_at)
   SELECT ${idOf('r.i', 6)}, r.id, CASE WHEN r.state = 'COMPLETED' THEN 'n1' END, 'venue-' || r.i % 8,
     'SPOT', 'USDC', r.amount, CASE WHEN r.open THEN 'held' WHEN r.state = 'COMPLETED'
       THEN 'consumed' ELSE 'released' END, r.at, ${ENDED}
   FROM seed_rows r WHERE r.state IN ('COMPLETED', 'FAILED', 'EXECUTING', 'MANUAL_INTERVENTION')`,
  `INSERT INTO budget_reservations (reservation_id, movement_id, policy_id, amount, status,
     reserved_at, ended_at)
   SELECT ${idOf('r.i', 7)}, r.id, po.policy_id, r.amount,
     CASE WHEN r.open THEN 'reserved' ELSE 'consumed' END, r.at, ${ENDED}
   FROM seed_rows r JOIN seed_policies po ON po.strategy_id = r.strategy WHERE r.by_policy
     AND r.state <> 'PENDING_APPROVAL'`,
  `INSERT INTO evm_transactions (transaction_id, chain_id, address, nonce, signer_key, movement_id,
     node_key, attempt, unsigned, raw_tx, tx_hash, created_at, final_at, mined_hash)
   SELECT ${idOf('r.i', 8)}, 1, '0x' || lpad(to_hex(r.i % 5), 40, '0'), r.i / 5, 'signer-1', r.id,
     'n1', 1, '{"to": "0x01", "value": "0"}', '0x00', '0x' || lpad(to_hex(r.i), 64, '0'), r.at,
     CASE WHEN NOT r.open THEN r.at END, CASE WHEN NOT r.open
       THEN '0x' || lpad(to_hex(r.i), 64, '0') END
   FROM seed_rows r WHERE r.i % 7 = 0`,
  `INSERT INTO capital_transfers (transfer_id, client_scope, idempotency_key, request,
     request_state, source_venue, source_account_type, destination_venue, destination_account_type,
     asset, amount, reason, strategy_id, provider, created_by, version, seen_version,
     claimed_until, created_at, updated_at, ended_at)
   SELECT ${idOf('r.i', 9)}, 'growth', 'key-' || r.i, '{}',
     CASE WHEN NOT r.open THEN 'COMPLETED' WHEN r.i % 50 = 0 THEN 'MANUAL_INTERVENTION'
       ELSE 'PENDING_PROVIDER_CONFIRMATION' END,
     CASE WHEN r.i = 5000 THEN '${SEEDED.rareEntity}' ELSE 'venue-' || r.i % 8 END, 'SPOT',
     CASE WHEN r.i = 6000 THEN '${SEEDED.rareEntity}' ELSE 'venue-' || (r.i + 1) % 8 END, 'SPOT',
     CASE WHEN r.i = 7000 THEN '${SEEDED.rareAsset}' ELSE 'USDC' END, r.amount, 'seeded',
     CASE WHEN r.i = 8000 THEN '${SEEDED.rareStrategy}' ELSE r.strategy END, 'paper', '{}', 1, 1,
     CASE WHEN r.i % 400 = 0 THEN now() - interval '1 second' ELSE now() + interval '1 day' END,
     r.at, r.at, CASE WHEN NOT r.open THEN r.at END
   FROM seed_rows r WHERE r.i % 5 = 0`,
  `INSERT INTO capital_transfer_events (event_id, transfer_id, sequence, event_type, actor, message,
     data, occurred_at)
   SELECT ${idOf('r.i', 10, 's')}, ${idOf('r.i', 9)}, s, 'transfer_pending', '{"type": "system"}',
     'seeded', '{}', r.at FROM seed_rows r, generate_series(1, 3) AS s WHERE r.i % 5 = 0`,
  `INSERT INTO nonce_registry (key_id, nonce, used_at)
   SELECT 'key-1', 'nonce-' || r.i, now() - interval '10 minutes' FROM seed_rows r
   WHERE r.i % 10 = 0 ORDER BY r.i`,
];

/** What follows from the rows; small tables. */
const REST = `
  INSERT INTO reservation_pools (venue_key, account_type, asset, held)
    SELECT 'venue-' || g, 'SPOT', 'USDC', coalesce((SELECT sum(amount) FROM reservations
      WHERE status = 'held' AND venue_key = 'venue-' || g), 0) FROM generate_series(0, 7) AS g;
  INSERT INTO balance_snapshots (venue_key, account_type, asset, available, withdrawable, total,
    fetched_at)
    SELECT 'venue-' || g, 'SPOT', 'USDC', 1e12, 1e12, 1e12, now() FROM generate_series(0, 7) AS g;
  INSERT INTO nonce_lanes (chain_id, address, next_nonce, signer_key, mined_count, final_count)
    SELECT 1, address, max(nonce) + 1, 'signer-1', max(nonce) - 2, max(nonce) - 10
    FROM evm_transactions GROUP BY address;
  INSERT INTO executors (executor_key, kind, action_types, health_state, created_at, updated_at)
    VALUES ('bench.instant', 'local', '{bench_instant}', 'up', now(), now())
    ON CONFLICT DO NOTHING;
  INSERT INTO signers (signer_key, backend, chain_family, created_at, updated_at)
    VALUES ('signer-1', 'local', 'evm', now(), now()) ON CONFLICT DO NOTHING;
  INSERT INTO agent_authorities (authority_key, allowed_assets, allowed_chains, created_at,
    updated_at) VALUES ('${SEEDED.agent}', '{}', '{}', now(), now()) ON CONFLICT DO NOTHING;
  INSERT INTO template_proposals (proposal_id, authority_key, status, promotion_mode, proposal_kind,
    asset, requested_notional, request, bridge_attempt, reasons, template_id, template_key,
    template_version, plan_digest, max_amount, client_scope, idempotency_key, created_by, expires_at,
    created_at, updated_at)
    SELECT ${idOf('r.i', 8)}, '${SEEDED.agent}',
      CASE WHEN o.waits THEN 'submitted' WHEN o.lapsed THEN 'expired' ELSE 'auto_promoted' END,
      CASE WHEN m.made THEN CASE WHEN r.i % 10000 = 40 THEN 'admin' ELSE 'auto' END END, 'ephemeral',
      'USDC', 5, '{}', r.i % 40 = 0, '{}', CASE WHEN m.made THEN v.template_id END,
      CASE WHEN m.made THEN v.template_key END, CASE WHEN m.made THEN v.version END,
      CASE WHEN m.made THEN 'plan-' || r.i % 7 END, CASE WHEN m.made THEN 5 + r.i % 3 END, 'seeded',
      'proposal-' || r.i, '{}', now() + CASE WHEN o.waits THEN interval '1 day' ELSE '-1 day' END,
      r.at, r.at
    FROM seed_rows r CROSS JOIN (SELECT * FROM plan_template_versions
      WHERE template_key = '${SEEDED.agentNamespace}/pay' LIMIT 1) v
    CROSS JOIN LATERAL (SELECT r.i % 2000 = 0 AS waits, r.i % 2000 = 20 AS lapsed) o
    CROSS JOIN LATERAL (SELECT NOT (o.waits OR o.lapsed) AS made) m WHERE r.i % 20 = 0;
  INSERT INTO movement_other_assets SELECT '${SEEDED.otherAsset}', at, id FROM seed_rows
    WHERE i IN (1700, 2700);
  INSERT INTO bridge_chains (chain, endpoint_identity, finality_age_seconds, snapshot_stale,
    stale_detected_at, created_at, updated_at)
    SELECT 'chain-' || g, g || ':0x' || lpad(to_hex(g), 40, '0'), 900, true, now(), now(), now()
    FROM generate_series(1, 60) AS g;
  INSERT INTO bridge_paths (src_chain, dst_chain, asset, expected_latency_seconds,
    detection_latency_budget_seconds, fee_native_budget, enabled, created_at, updated_at)
    SELECT 'chain-' || s, 'chain-' || d, 'USDC', 60, 600, 0.01, true, now(), now()
    FROM generate_series(1, 20) AS s, generate_series(1, 20) AS d WHERE s <> d;
  INSERT INTO perp_master (master_address, signer_key, network, created_at)
    VALUES ('0x' || repeat('a', 40), 'signer-1', 'testnet', now());
  INSERT INTO perp_bindings (strategy_id, created_at, updated_at)
    SELECT 'strategy-' || g, now(), now() FROM generate_series(0, 49) AS g;
  INSERT INTO perp_agent_wallets (wallet_id, strategy_id, agent_name, signer_key, address,
    valid_until, state, next_look_at, created_at, updated_at)
    SELECT ${idOf('g', 9)}, 'strategy-' || g % 50, 'agent-' || g, 'agent-' || g,
      '0x' || lpad(to_hex(g), 40, '0'), now() + interval '90 days', 'active', now(), now(), now()
    FROM generate_series(0, 99) AS g;
  INSERT INTO perp_actions (address, nonce, wallet_id, created_at)
    SELECT '0x' || repeat('a', 40), g, ${idOf('g', 9)}, now() FROM generate_series(0, 99) AS g;
  SELECT rebuild_counts();`;

/** Fills the database and brings what Postgres knows of it up to date. */
export async function seed(url: string, { movements, prototype }: SeedOptions): Promise<void> {
  const clients = await Promise.all([connect(url), connect(url)]);
  const [first] = clients;
  try {
    await first.query(TEMPLATES);
    await first.query(`${rowsSql(movements)}; ANALYZE seed_rows;
      CREATE UNLOGGED TABLE seed_prototype AS SELECT * FROM movements
        WHERE movement_id = '${prototype}';
      CREATE UNLOGGED TABLE seed_plan AS SELECT * FROM movement_plans
        WHERE movement_id = '${prototype}';
      CREATE UNLOGGED TABLE seed_nodes AS SELECT * FROM movement_nodes
        WHERE movement_id = '${prototype}';`);
    const indexes = await dropIndexes(first);
    const copies = [
      await copySql(first, 'movements', MOVEMENT, 'seed_prototype', true),
      await copySql(first, 'movement_plans', { movement_id: 'r.id' }, 'seed_plan', false),
      await copySql(first, 'movement_nodes', NODE, 'seed_nodes', false),
    ];
    await each(clients, [...copies, ...PARTS]);
    await first.query(REST);
    // The slow ones first, so that neither connection is left with one of them at the end.
    await each(clients, indexes);
    await first.query(`DROP TABLE seed_rows, seed_prototype, seed_plan, seed_nodes, seed_templates,
      seed_policies`);
    const { rows } = await first.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class WHERE relkind = 'r'
         AND relnamespace = 'public'::regnamespace ORDER BY pg_relation_size(oid) DESC`,
    );
    await each(
      clients,
      rows.map(({ name }) => `VACUUM (ANALYZE) ${name}`),
    );
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
}

/** Foreign keys and triggers are asleep: what is written is consistent by itself. */
async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    options: '-c session_replication_role=replica',
  });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** Every statement once, by whichever client is free. */
async function each(clients: readonly pg.Client[], statements: readonly string[]): Promise<void> {
  const waiting = [...statements];
  await Promise.all(
    clients.map(async (client) => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
        await client.query(next);
    }),
  );
}

/** Takes away what would be kept up row by row; answers how to make it again. */
async function dropIndexes(client: pg.Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string; made: string }>(
    `SELECT i.indexrelid::regclass::text AS name, pg_get_indexdef(i.indexrelid) AS made
     FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
     WHERE t.relnamespace = 'public'::regnamespace
       AND NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.indexrelid)`,
  );
  for (const { name } of rows) await client.query(`DROP INDEX ${name}`);
  return rows.map(({ made }) => made);
}

/** The rows of `from`, once for each movement, with these columns made anew. */
async function copySql(
  client: pg.Client,
  table: string,
  columns: Columns,
  from: string,
  joined: boolean,
): Promise<string> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
     ORDER BY attnum`,
    [table],
  );
  const names = rows.map(({ name }) => name);
  const strangers = Object.keys(columns).filter((name) => !names.includes(name));
  if (strangers.length > 0) throw new Error(`${table} has no ${strangers.join(', ')}`);
  const values = names.map((name) => columns[name] ?? `p.${name}`);
  const more = joined
    ? `JOIN seed_templates t ON t.place = r.place
       LEFT JOIN seed_policies po ON po.strategy_id = r.strategy`
    : '';
  return `INSERT INTO ${table} (${names.join(', ')}) SELECT ${values.join(', ')}
    FROM seed_rows r CROSS JOIN ${from} p ${more}`;
}
