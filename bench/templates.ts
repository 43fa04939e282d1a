/** The plans that are measured, as bodies for `POST plan-templates`. */
import { ACTIONS } from './executors.ts';

/** A template as the bench sends it. */
export interface TemplateBody {
  readonly template_key: string;
  readonly version: number;
  readonly name: string;
  readonly nodes: readonly object[];
  readonly edges: readonly object[];
  readonly completion_policy: object;
}

type Action = keyof typeof ACTIONS;

const LANES = ['a', 'b', 'c'];

/** `length` nodes one after the other. */
export function chain(action: Action, length: number): TemplateBody {
  const keys = Array.from({ length }, (_, index) => `n${index + 1}`);
  return template(`bench/${action}-chain-${length}`, action, keys, pairs(keys));
}

/** As {@link chain}; the first node draws from the spot account of this venue. */
export function chainFrom(venue: string, action: Action, length: number): TemplateBody {
  const plan = chain(action, length);
  const [first, ...rest] = plan.nodes;
  const template_key = `${plan.template_key}-${venue}`;
  return { ...plan, template_key, nodes: [{ ...first, config: { venue } }, ...rest] };
}

/**
 * A root, three lanes of `depth` nodes each that run beside each other, and a node that joins them.
 */
export function threeLanes(action: Action, depth: number): TemplateBody {
  const lanes = LANES.map((lane) =>
    Array.from({ length: depth }, (_, index) => `${lane}${index + 1}`),
  );
  const keys = ['root', ...lanes.flat(), 'join'];
  const edges = lanes.flatMap((lane) => pairs(['root', ...lane, 'join']));
  return template(`bench/${action}-lanes-${depth}`, action, keys, edges);
}

/** Nodes of {@link threeLanes}. */
export function nodesOfLanes(depth: number): number {
  return 2 + LANES.length * depth;
}

function pairs(keys: readonly string[]): (readonly [string, string])[] {
  return keys.slice(1).map((key, index) => [keys[index] ?? '', key] as const);
}

function template(
  key: string,
  action: Action,
  nodes: readonly string[],
  edges: readonly (readonly [string, string])[],
): TemplateBody {
  const action_type = ACTIONS[action];
  return {
    template_key: key,
    version: 1,
    name: key,
    nodes: nodes.map((node_key) => ({
      node_key,
      node_kind: 'action',
      action_type,
      executor_selector: { action_type },
      has_side_effect: true,
      config: {},
    })),
    edges: edges.map(([from, to]) => ({ from, to, edge_type: 'on_success' })),
    completion_policy: { completion_assurance: 'provider_completed' },
  };
}
