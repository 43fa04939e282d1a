/** Templates to be recommended, and what became of their movements. */
import pg from 'pg';
import { ACTIONS } from '../executors.ts';

/** Asset of every route of the bench. */
export const ROUTE_ASSET = 'BENCH';

export interface RouteRows {
  /** Keys begin with it. */
  readonly prefix: string;
  readonly templates: number;
  /** Movements that ended within the last days, over all templates in turn. */
  readonly movements: number;
}

/**
 * Writes them straight into the tables: through the API it would take longer than everything that
 * is measured.
 */
export async function writeRoutes(
  databaseUrl: string,
  { prefix, templates, movements }: RouteRows,
): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(
      `INSERT INTO plan_templates (template_key, created_at, updated_at)
        SELECT $1 || i, now(), now() FROM generate_series(1, $2::int) AS i`,
      [prefix, templates],
    );
    await client.query(VERSIONS, [prefix, templates]);
    await client.query(NODES, [prefix, ACTIONS.instant, ROUTE_ASSET]);
    await client.query(EDGES, [prefix]);
    await client.query(MOVEMENTS, [prefix, movements, ROUTE_ASSET]);
    await client.query('ANALYZE');
  } finally {
    await client.end();
  }
}

const VERSIONS = `
  INSERT INTO plan_template_versions (template_id, template_key, version, name, graph_shape,
    approval_policy, risk_controls, completion_assurance, created_at)
  SELECT gen_random_uuid(), $1 || i, 1, 'bench', 'linear', '{}',
    jsonb_build_object('expected_fee', (i % 100)::text, 'max_amount', (i * 10)::text),
         'provider_completed', now()
  FROM generate_series(1, $2::int) AS i`;

const NODES = `
  INSERT INTO plan_nodes (id, template_id, position, node_key, node_kind, action_type,
    has_side_effect, config)
  SELECT gen_random_uuid(), template_id, p, 'n' || p, 'action', $2, true,
    jsonb_build_object('asset', $3::text, 'venue', 'v' || p)
  FROM plan_template_versions, generate_series(1, 3) AS p WHERE starts_with(template_key, $1)`;

const EDGES = `
  INSERT INTO plan_edges (id, template_id, position, from_key, to_key, edge_type)
  SELECT gen_random_uuid(), template_id, p, 'n' || p, 'n' || (p + 1), 'on_success'
  FROM plan_template_versions, generate_series(1, 2) AS p WHERE starts_with(template_key, $1)`;

/** Ended movements as far as the statistics read them; nothing else ever looks at these rows. */
const MOVEMENTS = `
  INSERT INTO movements (movement_id, template_id, template_key, template_version, request_state,
    approval_status, reservation_status,
    asset, amount, intent, current_frontier, client_scope, expires_at, created_at, updated_at,
    ended_at)
  SELECT gen_random_uuid(), v.template_id, v.template_key, 1, CASE WHEN i % 20 = 0 THEN 'FAILED'
    ELSE 'COMPLETED' END, 'approved', 'consumed',
    $3, 1, '{}', '{}', 'bench', at, at, at, at + make_interval(secs => i % 1000)
  FROM (SELECT template_id, template_key, row_number() OVER () - 1 AS place,
    count(*) OVER () AS total
        FROM plan_template_versions WHERE starts_with(template_key, $1)) v
  JOIN (SELECT i, now() - make_interval(mins => i % 10000) - interval '20 minutes' AS at
    FROM generate_series(1, $2::int) AS i) s
    ON s.i % v.total = v.place`;
