/** Writes plan templates: versions, which never change, and their key's admin fields. */
import type { GraphEdge, GraphShape } from '../domain/graph/types.ts';
import type { CompletionPolicy, TemplateNode } from '../domain/plan/types.ts';
import type { JsonObject } from '../domain/json.ts';
import { assertMove } from '../domain/states/table.ts';
import { TEMPLATE_TABLE, type TemplateStatus } from '../domain/states/template-version.ts';
import type { AuditEntry } from '../domain/transition.ts';
import { newId } from '../platform/ids.ts';
import type { Database } from '../prisma/client.ts';
import { auditRows } from './event-ids.ts';
import { run, writeOrFind } from './faults.ts';
import { isoOf } from './json.ts';

export { judged } from './judged.ts';
export {
  listTemplates,
  readTemplate,
  readRetired,
  readTemplateForPlan,
  type TemplateDetail,
  type TemplateFilter,
  type TemplateNodeRecord,
  type TemplateEdgeRecord,
  type TemplateSummary,
} from './template-reads.ts';

export interface NewTemplate {
  readonly template_key: string;
  readonly version: number;
  readonly name: string;
  readonly owner: string | null;
  readonly graph_shape: GraphShape;
  readonly approval_policy: JsonObject;
  readonly risk_controls: JsonObject;
  readonly completion_policy: CompletionPolicy;
  readonly nodes: readonly TemplateNode[];
  readonly edges: readonly GraphEdge[];
  readonly created_by: string | null;
  /** Returns the audit rows for the new id. */
  readonly audit: (templateId: string) => readonly AuditEntry[];
}

/** The outcome of a create. `created: false`: this version of this key exists already. */
export type CreateTemplateOutcome =
  { readonly created: true; readonly template_id: string } | { readonly created: false };

/**
 * Writes a version with its nodes, edges and audit rows in one statement. If the connection breaks,
 * looks up the row by its id before returning.
 */
export async function createTemplate(
  db: Database,
  template: NewTemplate,
): Promise<CreateTemplateOutcome> {
  const templateId = newId();
  const doc = JSON.stringify(templateDocument(db, templateId, template));
  const created = { created: true, template_id: templateId } as const;
  const write = async (): Promise<CreateTemplateOutcome> => {
    const rows = await db.sql<{
      answer: { created: boolean };
    }>`SELECT create_template(${doc}::jsonb) AS answer`;
    return rows[0]?.answer.created === true ? created : { created: false };
  };
  return writeOrFind(db, write, async () => {
    const found = await db.planTemplateVersion.findUnique({ where: { template_id: templateId } });
    return found === null ? null : created;
  });
}

/** Returns the input of the SQL function `create_template`. */
export function templateDocument(
  db: Database,
  templateId: string,
  template: NewTemplate,
): Record<string, unknown> {
  return {
    version: {
      template_id: templateId,
      template_key: template.template_key,
      version: template.version,
      name: template.name,
      owner: template.owner,
      graph_shape: template.graph_shape,
      approval_policy: template.approval_policy,
      risk_controls: template.risk_controls,
      completion_assurance: template.completion_policy.completion_assurance,
      created_by: template.created_by,
    },
    nodes: template.nodes.map((node, position) => ({
      ...node,
      id: newId(),
      template_id: templateId,
      position,
    })),
    edges: template.edges.map(({ from, to, ...edge }, position) => ({
      ...edge,
      id: newId(),
      template_id: templateId,
      position,
      from_key: from,
      to_key: to,
    })),
    audit: auditRows(db, template.audit(templateId)),
  };
}

/** The admin fields to change; an absent field stays unchanged, null clears a field. */
export interface TemplateAdminPatch {
  readonly auto_approve_enabled?: boolean;
  readonly daily_cap_amount?: string | null;
  readonly daily_cap_asset?: string | null;
}

export interface TemplateAdmin {
  readonly template_key: string;
  readonly latest_version: number;
  readonly auto_approve_enabled: boolean;
  readonly daily_cap_amount: string | null;
  readonly daily_cap_asset: string | null;
  readonly updated_at: string;
}

/** `ok: false`: auto-approval would be enabled without complete caps; nothing was written. */
export type TemplateAdminOutcome =
  { readonly ok: true; readonly template: TemplateAdmin } | { readonly ok: false };

type AdminAnswer =
  { readonly ok: false } | ({ readonly ok: true } & Omit<TemplateAdmin, 'template_key'>);

/**
 * Changes the admin fields of a key and writes the audit rows in one statement; null for an unknown
 * key.
 */
export async function updateTemplateAdmin(
  db: Database,
  templateKey: string,
  patch: TemplateAdminPatch,
  audit: readonly AuditEntry[],
): Promise<TemplateAdminOutcome | null> {
  const doc = JSON.stringify({
    template_key: templateKey,
    patch,
    audit: auditRows(db, audit),
  });
  const rows = await run(
    () =>
      db.sql<{ answer: AdminAnswer | null }>`SELECT update_template_admin(${doc}::jsonb) AS answer`,
  );
  const answer = rows[0]?.answer ?? null;
  if (answer === null) return null;
  if (!answer.ok) return { ok: false };
  const { ok: _ok, updated_at, ...fields } = answer;
  return {
    ok: true,
    template: {
      template_key: templateKey,
      ...fields,
      updated_at: new Date(updated_at).toISOString(),
    },
  };
}

export interface RetiredTemplate {
  readonly template_id: string;
  readonly template_key: string;
  readonly version: number;
  readonly status: TemplateStatus;
  readonly retired_at: string;
  readonly retired_by: string | null;
  readonly retired_reason: string;
  readonly latest_active_version: number | null;
}

/** Retires a version, or finds that it is retired already; null for an unknown version. */
export async function retireTemplate(
  db: Database,
  {
    audit,
    ...retirement
  }: {
    readonly template_id: string;
    readonly reason: string;
    readonly by: string | null;
    readonly audit: AuditEntry;
  },
): Promise<RetiredTemplate | null> {
  assertMove(TEMPLATE_TABLE, 'active', 'retired');
  const doc = JSON.stringify({ ...retirement, audit: auditRows(db, [audit]) });
  const rows = await run(
    () =>
      db.sql<{ answer: RetiredTemplate | null }>`
        SELECT retire_template_version(${doc}::jsonb) AS answer`,
  );
  const answer = rows[0]?.answer ?? null;
  return answer === null ? null : { ...answer, retired_at: isoOf(answer.retired_at) };
}

/**
 * Returns in `found` the newest version whose only node is this one (null: none), and in `latest`
 * the newest version of the key (0: none).
 */
export async function findVersionOf(
  db: Database,
  templateKey: string,
  node: Pick<TemplateNode, 'action_type' | 'config' | 'signer_selector'>,
): Promise<{ readonly found: number | null; readonly latest: number }> {
  const [config, selector] = [JSON.stringify(node.config), JSON.stringify(node.signer_selector)];
  const rows = await run(
    () => db.sql<{ found: number | null; latest: number | null }>`
      SELECT max(v.version) FILTER (WHERE n.action_type = ${node.action_type}
          AND n.config = ${config}::jsonb AND n.signer_selector = ${selector}::jsonb) AS found,
        max(v.version) AS latest
      FROM plan_template_versions v JOIN plan_nodes n USING (template_id)
      WHERE v.template_key = ${templateKey}`,
  );
  return { found: rows[0]?.found ?? null, latest: rows[0]?.latest ?? 0 };
}
