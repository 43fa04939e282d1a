/**
 * Reads the data of the route catalog. The number of statements does not depend on the number of
 * template versions.
 */
import type { JsonObject } from '../domain/json.ts';
import type { GraphShape } from '../domain/graph/types.ts';
import type { StoredHealth } from '../domain/fund-routes/health.ts';
import {
  toFundRoute,
  type FundRoute,
  type FundRouteStats,
} from '../domain/fund-routes/fund-route.ts';
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';
import { isoOf } from './json.ts';
import { judged } from './judged.ts';
import type { SignerRow } from './registry-rows.ts';
import { graphOfRow, type GraphRow } from './template-reads.ts';

/**
 * The most routes that are cached. Versions never change, so their routes stay valid; a full cache
 * is cleared.
 */
const MOST_KEPT = 20_000;
const kept = new WeakMap<Database, Map<string, FundRoute>>();

/**
 * Returns the route of every active version, ordered by key and version; for an agent, without
 * those in other agents' namespaces.
 */
export async function listFundRoutes(
  db: Database,
  namespace: string | undefined,
): Promise<readonly FundRoute[]> {
  const within = namespace ?? null;
  const rows = await run(
    () => db.sql<{ template_id: string }>`
      SELECT template_id FROM plan_template_versions
      WHERE status = 'active' AND (${within}::text IS NULL
        OR NOT starts_with(template_key, 'agent/')
        OR starts_with(template_key, ${within}::text || '/'))
      ORDER BY template_key COLLATE "C", version`,
  );
  const routes = kept.get(db) ?? new Map<string, FundRoute>();
  kept.set(db, routes);
  const ids = rows.map((row) => row.template_id);
  const unknown = ids.filter((id) => !routes.has(id));
  const fresh =
    unknown.length === 0 ? new Map<string, FundRoute>() : await readFundRoutes(db, unknown);
  const found = ids.flatMap((id) => routes.get(id) ?? fresh.get(id) ?? []);
  if (routes.size + fresh.size > MOST_KEPT) routes.clear();
  for (const [id, route] of fresh) if (routes.size < MOST_KEPT) routes.set(id, route);
  return found;
}

type VersionRow = GraphRow & {
  readonly template_id: string;
  readonly template_key: string;
  readonly version: number;
  readonly name: string;
  readonly graph_shape: string;
  readonly risk_controls: JsonObject;
};

async function readFundRoutes(
  db: Database,
  ids: readonly string[],
): Promise<Map<string, FundRoute>> {
  const wanted = JSON.stringify(ids);
  const rows = await run(
    () => db.sql<VersionRow>`
      WITH wanted AS (SELECT value::uuid AS template_id
        FROM jsonb_array_elements_text(${wanted}::jsonb))
      SELECT v.template_id, v.template_key, v.version, v.name, v.graph_shape, v.risk_controls,
        n.nodes, e.edges
      FROM plan_template_versions v JOIN wanted USING (template_id)
      LEFT JOIN (SELECT n.template_id, json_agg(n ORDER BY n.position) AS nodes
                 FROM plan_nodes n JOIN wanted USING (template_id)
                   GROUP BY n.template_id) n USING (template_id)
      LEFT JOIN (SELECT e.template_id, json_agg(e ORDER BY e.position) AS edges
                 FROM plan_edges e JOIN wanted USING (template_id)
                   GROUP BY e.template_id) e USING (template_id)`,
  );
  const routes = new Map<string, FundRoute>();
  for (const row of rows) {
    const graph = graphOfRow(row);
    const reasons = await judged(db, row.template_id, graph);
    routes.set(
      row.template_id,
      toFundRoute(
        { ...row, graph_shape: row.graph_shape as GraphShape, ...graph },
        reasons.length === 0,
      ),
    );
  }
  return routes;
}

/** The changing facts of routes: results of their movements, health of executors, signers. */
export interface FundRouteFacts {
  readonly at: string;
  readonly statsOf: (templateId: string) => FundRouteStats | null;
  readonly executors: readonly StoredHealth[];
  readonly signers: readonly RouteSignerRow[];
}

/** A stored signer as far as it decides about routes. */
export type RouteSignerRow = Pick<
  SignerRow,
  | 'signer_key'
  | 'status'
  | 'chain_family'
  | 'profile'
  | 'expected_signer_address'
  | 'observed_signer_address'
> & { readonly replaced_by: string | null };

interface FactsRow {
  readonly at: string;
  readonly stats: readonly StatsRow[] | null;
  readonly executors: readonly StoredHealth[] | null;
  readonly signers: readonly RouteSignerRow[] | null;
}
type StatsRow = Omit<FundRouteStats, 'success_rate'> & { readonly template_id: string };

/** Reads all of these facts at one moment. */
export async function readFundRouteFacts(db: Database): Promise<FundRouteFacts> {
  const rows = await run(
    () => db.sql<FactsRow>`
      SELECT to_json(svc_now()) #>> '{}' AS at,
        (SELECT json_agg(s) FROM (SELECT template_id, total_completed, total_failed,
          round(avg_duration_seconds, 3) AS avg_duration_seconds,
                                         round(max_duration_seconds, 3) AS max_duration_seconds
                                           FROM route_stats) s) AS stats,
        (SELECT json_agg(x) FROM (SELECT executor_key, status, health_state
          FROM executors) x) AS executors,
        (SELECT json_agg(k) FROM (SELECT signer_key, status, chain_family, profile, replaced_by,
          expected_signer_address, observed_signer_address
          FROM signers ORDER BY signer_key) k) AS signers`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the query for the facts of fund routes returned no row');
  const stats = new Map((row.stats ?? []).map((each) => [each.template_id, toStats(each)]));
  return {
    at: isoOf(row.at),
    statsOf: (templateId) => stats.get(templateId) ?? null,
    executors: row.executors ?? [],
    signers: row.signers ?? [],
  };
}

function toStats({
  total_completed,
  total_failed,
  avg_duration_seconds,
  max_duration_seconds,
}: StatsRow): FundRouteStats {
  const success_rate = total_completed / (total_completed + total_failed);
  return {
    total_completed,
    total_failed,
    success_rate,
    avg_duration_seconds,
    max_duration_seconds,
  };
}
