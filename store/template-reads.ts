/**
 * Reads plan templates. Each process checks whether a version can be executed when it first reads
 * that version.
 */
import type { CompletionAssurance } from '../domain/executor.ts';
import type { JsonObject } from '../domain/json.ts';
import type { EdgeType, GraphEdge, GraphShape, NodeKind } from '../domain/graph/types.ts';
import type { TemplateStatus } from '../domain/states/template-version.ts';
import { frozen } from '../domain/plan/kept.ts';
import type { CompletionPolicy, PlanTemplate, TemplateNode } from '../domain/plan/types.ts';
import type { Prisma } from '../prisma/generated/client.ts';
import type { Database } from '../prisma/client.ts';
import { run, type RetiredVersion } from './faults.ts';
import { decimalOrNull, iso, isoOrNull, object } from './json.ts';
import { judged } from './judged.ts';
import { inNamespace } from './namespaces.ts';
import type { PagePosition } from './paging.ts';

export interface TemplateSummary {
  readonly template_id: string;
  readonly template_key: string;
  readonly version: number;
  readonly name: string;
  readonly owner: string | null;
  readonly graph_shape: GraphShape;
  readonly non_executable_reasons: readonly string[];
  readonly completion_policy: CompletionPolicy;
  readonly created_by: string | null;
  readonly created_at: string;
  readonly status: TemplateStatus;
  readonly retired_at: string | null;
  readonly retired_by: string | null;
  readonly retired_reason: string | null;
}

export type TemplateNodeRecord = TemplateNode & { readonly id: string };
export type TemplateEdgeRecord = GraphEdge & { readonly id: string };

export interface TemplateDetail extends TemplateSummary {
  readonly approval_policy: JsonObject;
  readonly risk_controls: JsonObject;
  readonly nodes: readonly TemplateNodeRecord[];
  readonly edges: readonly TemplateEdgeRecord[];
  readonly auto_approve_enabled: boolean;
  readonly daily_cap_amount: string | null;
  readonly daily_cap_asset: string | null;
}

type VersionRow = Prisma.PlanTemplateVersionGetPayload<object>;
interface Graph {
  readonly nodes: readonly TemplateNodeRecord[];
  readonly edges: readonly TemplateEdgeRecord[];
}

/** Returns all data of one version, with the admin fields of its key; null for an unknown id. */
export async function readTemplate(
  db: Database,
  templateId: string,
): Promise<TemplateDetail | null> {
  const version = await run(() =>
    db.planTemplateVersion.findUnique({ where: { template_id: templateId } }),
  );
  if (version === null) return null;
  const [graphs, admin] = await Promise.all([
    readGraphs(db, [templateId]),
    run(() => db.planTemplate.findUnique({ where: { template_key: version.template_key } })),
  ]);
  const graph = graphOf(graphs, templateId);
  return {
    ...toSummary(version, await judged(db, templateId, graph)),
    approval_policy: object(version.approval_policy),
    risk_controls: object(version.risk_controls),
    ...graph,
    auto_approve_enabled: admin?.auto_approve_enabled ?? false,
    daily_cap_amount: decimalOrNull(admin?.daily_cap_amount ?? null),
    daily_cap_asset: admin?.daily_cap_asset ?? null,
  };
}

/**
 * Number of versions cached: as many as an installation uses at a time. A version never changes, so
 * the most recently read ones can be kept.
 */
const KEPT_VERSIONS = 200;
const versions = new WeakMap<Database, Map<string, PlanTemplate>>();

/**
 * Returns the version as it is compiled into plans: without the ids of nodes and edges, frozen at
 * every depth. Null for an unknown version.
 */
export async function readTemplateForPlan(
  db: Database,
  templateKey: string,
  version: number,
): Promise<PlanTemplate | null> {
  const kept = versions.get(db) ?? new Map<string, PlanTemplate>();
  versions.set(db, kept);
  const id = `${templateKey}@${String(version)}`;
  const found = kept.get(id) ?? (await readVersion(db, templateKey, version));
  if (found === null) return null;
  // Moves the entry to the end, so that the first entry is the least recently used.
  kept.delete(id);
  kept.set(id, found);
  const [oldest] = kept.keys();
  if (kept.size > KEPT_VERSIONS && oldest !== undefined) kept.delete(oldest);
  return found;
}

/**
 * Returns the version if it is retired now; else null. The cache of {@link readTemplateForPlan}
 * does not know whether a version is retired.
 */
export async function readRetired(
  db: Database,
  templateKey: string,
  version: number,
): Promise<RetiredVersion | null> {
  const rows = await run(
    () => db.sql<RetiredVersion>`
      SELECT template_key, version AS template_version,
        latest_active_version(template_key) AS latest_active_version
      FROM plan_template_versions
      WHERE template_key = ${templateKey} AND version = ${version} AND status = 'retired'`,
  );
  return rows[0] ?? null;
}

async function readVersion(
  db: Database,
  templateKey: string,
  version: number,
): Promise<PlanTemplate | null> {
  const rows = await run(
    () => db.sql<PlanRow>`
      SELECT v.template_id, v.template_key, v.version, v.risk_controls, v.completion_assurance,
        (SELECT json_agg(n ORDER BY n.position) FROM plan_nodes n
          WHERE n.template_id = v.template_id) AS nodes,
        (SELECT json_agg(e ORDER BY e.position) FROM plan_edges e
          WHERE e.template_id = v.template_id) AS edges
      FROM plan_template_versions v WHERE v.template_key = ${templateKey}
        AND v.version = ${version}`,
  );
  const [row] = rows;
  if (row === undefined) return null;
  return frozen({
    template_id: row.template_id,
    template_key: row.template_key,
    version: row.version,
    ...graphOfRow(row),
    risk_controls: row.risk_controls,
    completion_policy: completionOf(row),
  });
}

/** Nodes and edges of a version in plan order, each as one JSON array; null when there are none. */
export interface GraphRow {
  readonly nodes: readonly Prisma.PlanNodeGetPayload<object>[] | null;
  readonly edges: readonly Prisma.PlanEdgeGetPayload<object>[] | null;
}

/** Returns the graph without the ids of its nodes and edges. */
export function graphOfRow(row: GraphRow): {
  readonly nodes: readonly TemplateNode[];
  readonly edges: readonly GraphEdge[];
} {
  return {
    nodes: (row.nodes ?? []).map(toNode).map(({ id: _id, ...node }) => node),
    edges: (row.edges ?? []).map(toEdge).map(({ id: _id, ...edge }) => edge),
  };
}

type PlanRow = Pick<
  VersionRow,
  'template_id' | 'template_key' | 'version' | 'completion_assurance'
> &
  GraphRow & { readonly risk_controls: JsonObject };

export interface TemplateFilter {
  readonly template_key?: string | undefined;
  readonly executable?: boolean | undefined;
  readonly status?: TemplateStatus | undefined;
  /** The namespace of an agent, who must not see templates of other agents. */
  readonly namespace?: string | undefined;
}

/** Number of rows for each read when only some of them match. */
const FILTERED_BATCH = 100;

/**
 * Returns up to `limit` versions after `page.after`, newest first. Whether a version is executable
 * is not stored, so rows are read and checked until enough match.
 */
export async function listTemplates(
  db: Database,
  filter: TemplateFilter,
  page: { readonly limit: number; readonly after: PagePosition | null },
): Promise<readonly TemplateSummary[]> {
  const found: TemplateSummary[] = [];
  const limit = filter.executable === undefined ? page.limit : Math.max(page.limit, FILTERED_BATCH);
  for (let after = page.after; ;) {
    const rows = await run(() => listRows(db, filter, { limit, after }));
    const graphs = await readGraphs(
      db,
      rows.map((row) => row.template_id),
    );
    const batch: TemplateSummary[] = [];
    for (const row of rows)
      batch.push(
        toSummary(row, await judged(db, row.template_id, graphOf(graphs, row.template_id))),
      );
    found.push(
      ...batch.filter(
        (each) => filter.executable === undefined || isExecutable(each) === filter.executable,
      ),
    );
    const last = batch.at(-1);
    if (last === undefined || rows.length < limit || found.length >= page.limit)
      return found.slice(0, page.limit);
    after = { created_at: last.created_at, id: last.template_id };
  }
}

function isExecutable(template: TemplateSummary): boolean {
  return template.non_executable_reasons.length === 0;
}

/**
 * Returns a filter for what an agent may read: templates outside agents' namespaces, and those in
 * its own.
 */
function outsideOtherNamespaces(namespace: string): Prisma.PlanTemplateVersionWhereInput {
  return { OR: [{ NOT: { template_key: { startsWith: 'agent/' } } }, inNamespace(namespace)] };
}

function listRows(
  db: Database,
  { template_key: templateKey, status, namespace }: TemplateFilter,
  page: { readonly limit: number; readonly after: PagePosition | null },
): Promise<VersionRow[]> {
  const at = page.after === null ? null : new Date(page.after.created_at);
  return db.planTemplateVersion.findMany({
    where: {
      ...(templateKey === undefined ? {} : { template_key: templateKey }),
      ...(status === undefined ? {} : { status }),
      ...(namespace === undefined ? {} : { AND: outsideOtherNamespaces(namespace) }),
      ...(page.after === null || at === null
        ? {}
        : {
            OR: [
              { created_at: { lt: at } },
              { created_at: at, template_id: { lt: page.after.id } },
            ],
          }),
    },
    orderBy: [{ created_at: 'desc' }, { template_id: 'desc' }],
    take: page.limit,
  });
}

/** Reads nodes and edges of several versions in plan order; returns them by version. */
async function readGraphs(
  db: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Graph>> {
  const query: { where: { template_id: { in: string[] } }; orderBy: { position: 'asc' } } = {
    where: { template_id: { in: [...ids] } },
    orderBy: { position: 'asc' },
  };
  const [nodes, edges] = await Promise.all([
    run(() => db.planNode.findMany(query)),
    run(() => db.planEdge.findMany(query)),
  ]);
  return new Map(
    ids.map((id) => [
      id,
      {
        nodes: nodes.filter((row) => row.template_id === id).map(toNode),
        edges: edges.filter((row) => row.template_id === id).map(toEdge),
      },
    ]),
  );
}

function graphOf(graphs: ReadonlyMap<string, Graph>, templateId: string): Graph {
  return graphs.get(templateId) ?? { nodes: [], edges: [] };
}

function toSummary(row: VersionRow, reasons: readonly string[]): TemplateSummary {
  return {
    template_id: row.template_id,
    template_key: row.template_key,
    version: row.version,
    name: row.name,
    owner: row.owner,
    graph_shape: row.graph_shape as GraphShape,
    non_executable_reasons: reasons,
    completion_policy: completionOf(row),
    created_by: row.created_by,
    created_at: iso(row.created_at),
    status: row.status as TemplateStatus,
    retired_at: isoOrNull(row.retired_at),
    retired_by: row.retired_by,
    retired_reason: row.retired_reason,
  };
}

function completionOf(row: Pick<VersionRow, 'completion_assurance'>): CompletionPolicy {
  return { completion_assurance: row.completion_assurance as CompletionAssurance };
}

function toNode(row: Prisma.PlanNodeGetPayload<object>): TemplateNodeRecord {
  return {
    id: row.id,
    node_key: row.node_key,
    node_kind: row.node_kind as NodeKind,
    action_type: row.action_type,
    ...present<TemplateNode, 'executor_selector'>('executor_selector', row.executor_selector),
    ...present<TemplateNode, 'signer_selector'>('signer_selector', row.signer_selector),
    ...present<TemplateNode, 'input_schema'>('input_schema', row.input_schema),
    ...present<TemplateNode, 'config'>('config', row.config),
    has_side_effect: row.has_side_effect,
    ...present<TemplateNode, 'timeout_policy'>('timeout_policy', row.timeout_policy),
    ...present<TemplateNode, 'retry_policy'>('retry_policy', row.retry_policy),
    ...present<TemplateNode, 'risk_patch'>('risk_patch', row.risk_patch),
  };
}

/**
 * Returns an optional jsonb column as an optional field, absent for SQL null. Its content was
 * validated before it was written.
 */
function present<T, K extends keyof T & string>(
  key: K,
  value: unknown,
): { readonly [P in K]?: NonNullable<T[P]> } {
  return value === null ? {} : ({ [key]: value } as { readonly [P in K]?: NonNullable<T[P]> });
}

function toEdge(row: Prisma.PlanEdgeGetPayload<object>): TemplateEdgeRecord {
  return {
    id: row.id,
    from: row.from_key,
    to: row.to_key,
    edge_type: row.edge_type as EdgeType,
    priority: row.priority,
    join_key: row.join_key,
    condition_expr: row.condition_expr,
  };
}
