/** Converts the template of a request to the form that a plan stores. */
import type { GraphEdge } from '../graph/types.ts';
import type { TemplateNode } from './types.ts';

type Optional =
  | 'executor_selector'
  | 'signer_selector'
  | 'input_schema'
  | 'config'
  | 'timeout_policy'
  | 'retry_policy'
  | 'risk_patch';

/** A node whose optional fields may be null too. */
export type RequestedNode = Omit<TemplateNode, Optional> & {
  readonly [Field in Optional]?: TemplateNode[Field] | null | undefined;
};

/** An edge whose join_key and condition_expr may be missing or null. */
export type RequestedEdge = Omit<GraphEdge, 'join_key' | 'condition_expr'> & {
  readonly join_key?: string | null | undefined;
  readonly condition_expr?: string | null | undefined;
};

/**
 * Returns the node as the plan stores it: fields that are missing or null in the request are
 * absent.
 */
export function nodeOf(node: RequestedNode): TemplateNode {
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

/** Returns the edge as the plan stores it. */
export function edgeOf(edge: RequestedEdge): GraphEdge {
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

/**
 * Returns whether only the service itself registers versions of this template and creates movements
 * from them.
 */
export function isReservedTemplate(templateKey: string): boolean {
  return templateKey.startsWith('system/');
}
