/** Views of plan templates for responses. */
import type { z } from 'zod';
import type { GraphShape } from '../../domain/graph/types.ts';
import type { CompletionPolicy } from '../../domain/plan/types.ts';
import type { TemplateDetail, TemplateSummary } from '../../store/templates.ts';
import type { planTemplateCreated, planTemplateDetail, planTemplateSummary } from './schema.ts';

interface Created {
  readonly template_id: string;
  readonly template_key: string;
  readonly version: number;
  readonly graph_shape: GraphShape;
  readonly non_executable_reasons: readonly string[];
  readonly completion_policy: CompletionPolicy;
}

/** Returns the fields that all views of a version share. */
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

/** Returns a version as lists show it. */
export function summaryView(template: TemplateSummary): z.input<typeof planTemplateSummary> {
  const { name, owner, created_by, created_at } = template;
  const { status, retired_at, retired_by, retired_reason } = template;
  return {
    ...createdView(template),
    name,
    owner,
    created_by,
    created_at,
    status,
    retired_at,
    retired_by,
    retired_reason,
  };
}

/** Returns a version with all fields. */
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
