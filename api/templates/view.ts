/** Plan templates as responses show them. */
import type { z } from 'zod';
import type { GraphEdge, GraphShape } from '../../domain/graph/types.ts';
import type { CompletionPolicy, TemplateNode } from '../../domain/plan/types.ts';
import type { TemplateDetail, TemplateSummary } from '../../store/templates.ts';
import type {
  PlanEdgeCreate,
  PlanNodeCreate,
  planTemplateCreated,
  planTemplateDetail,
  planTemplateSummary,
} from './schema.ts';

/** A node as the plan holds it: what was not given, or given as null, is absent. */
export function toNode(node: PlanNodeCreate): TemplateNode {
  return {
    node_key: node.node_key,
    node_kind: node.node_kind,
    action_type: node.action_type,
    has_side_effect: node.has_side_effect,
    ...(node.executor_selector ? { executor_selector: node.executor_selector } : {}),
    ...(node.signer_selector ? { signer_selector: node.signer_selector } : {}),
    ...(node.input_schema ? { input_schema: node.input_schema } : {}),
    ...(node.config ? { config: node.config } : {}),
    ...(node.timeout_policy ? { timeout_policy: node.timeout_policy } : {}),
    ...(node.retry_policy ? { retry_policy: node.retry_policy } : {}),
    ...(node.risk_patch ? { risk_patch: node.risk_patch } : {}),
  };
}

/** An edge as the plan holds it. */
export function toEdge(edge: PlanEdgeCreate): GraphEdge {
  const { from, to, edge_type, priority } = edge;
  return {
    from,
    to,
    edge_type,
    priority,
    join_key: edge.join_key ?? null,
    condition_expr: edge.condition_expr ?? null,
  };
}

interface Created {
  readonly template_id: string;
  readonly template_key: string;
  readonly version: number;
  readonly graph_shape: GraphShape;
  readonly non_executable_reasons: readonly string[];
  readonly completion_policy: CompletionPolicy;
}

/** The fields that every view of a version begins with. */
export function createdView(template: Created): z.input<typeof planTemplateCreated> {
  return {
    template_id: template.template_id,
    template_key: template.template_key,
    version: template.version,
    graph_shape: template.graph_shape,
    requires_graph_runtime: template.graph_shape !== 'linear',
    executable_in_v3_0: template.non_executable_reasons.length === 0,
    non_executable_reasons: template.non_executable_reasons,
    completion_policy: template.completion_policy,
  };
}

/** A version in a list. */
export function summaryView(template: TemplateSummary): z.input<typeof planTemplateSummary> {
  const { name, owner, created_by, created_at } = template;
  return { ...createdView(template), name, owner, created_by, created_at };
}

/** A version with everything. */
export function detailView(template: TemplateDetail): z.input<typeof planTemplateDetail> {
  return {
    ...summaryView(template),
    approval_policy: template.approval_policy,
    risk_controls: template.risk_controls,
    nodes: template.nodes.map((node) => ({
      ...node,
      executor_selector: node.executor_selector ?? null,
      signer_selector: node.signer_selector ?? null,
      input_schema: node.input_schema ?? null,
      config: node.config ?? null,
      timeout_policy: node.timeout_policy ?? null,
      retry_policy: node.retry_policy ?? null,
      risk_patch: node.risk_patch ?? null,
    })),
    edges: template.edges,
    auto_approve_enabled: template.auto_approve_enabled,
    daily_cap_amount: template.daily_cap_amount,
    daily_cap_asset: template.daily_cap_asset,
  };
}
