/** From a template version and an intent to the plan that is approved, hashed and run. */
import canonicalize from 'canonicalize';
import type { JsonObject } from '../executor.ts';
import { hasSideEffect } from './actions.ts';
import type { NodeBindings } from './bindings.ts';
import type { CompiledNode, CompiledPlan, Intent, PlanTemplate, TemplateNode } from './types.ts';

/**
 * `input_params.node_config`, when an object, is flat: its keys are added to every node's config and
 * the template's value wins.
 */
export function compilePlan(
  template: PlanTemplate,
  request: { readonly intent: Intent; readonly input_params: JsonObject },
  bindings: ReadonlyMap<string, NodeBindings>,
): CompiledPlan {
  return {
    template: { template_id: template.template_id, template_key: template.template_key, version: template.version },
    nodes: template.nodes.map((node) => compileNode(node, sharedConfig(request.input_params), bindings)),
    edges: template.edges,
    risk_controls: template.risk_controls,
    completion_policy: template.completion_policy,
    intent: request.intent,
    input_params: request.input_params,
  };
}

function compileNode(node: TemplateNode, shared: JsonObject, bindings: ReadonlyMap<string, NodeBindings>): CompiledNode {
  const bound = bindings.get(node.node_key);
  if (bound === undefined) throw new Error(`node ${node.node_key} is compiled without a binding`);
  const { executor_selector: _executor, signer_selector: _signer, config, ...kept } = node;
  return { ...kept, has_side_effect: hasSideEffect(node), config: { ...shared, ...config }, ...bound };
}

function sharedConfig(inputParams: JsonObject): JsonObject {
  const shared = inputParams['node_config'];
  return isObject(shared) ? shared : {};
}

/** A JSON object: neither null, nor an array, nor a scalar. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** RFC 8785 canonical JSON of a plan: equal plans give equal text, whatever the order of their keys. */
export function canonicalPlan(plan: CompiledPlan): string {
  const text = canonicalize(plan);
  if (text === undefined) throw new Error('a compiled plan has no canonical form');
  return text;
}
