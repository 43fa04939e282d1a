/** How surely a node's completion must be shown: the plan's last nodes keep its promise. */
import { specOf } from '../actions/built-in.ts';
import {
  COMPLETION_ASSURANCES,
  type CompletionAssurance,
  type ExecutionResult,
} from '../executor.ts';
import { reachableFrom } from '../graph/paths.ts';
import { rootNodes } from '../graph/shape.ts';
import type { GraphEdge } from '../graph/types.ts';
import type { CompletionPolicy, TemplateNode } from './types.ts';

interface Plan {
  readonly nodes: readonly Pick<
    TemplateNode,
    'node_key' | 'node_kind' | 'action_type' | 'config'
  >[];
  readonly edges: readonly Pick<GraphEdge, 'from' | 'to' | 'edge_type'>[];
  readonly completion_policy: CompletionPolicy;
}

const LEAST: CompletionAssurance = 'provider_completed';

/** Whether what was shown is at or above what is required. */
export function suffices(shown: CompletionAssurance, required: CompletionAssurance): boolean {
  return COMPLETION_ASSURANCES.indexOf(shown) >= COMPLETION_ASSURANCES.indexOf(required);
}

/**
 * The assurance that each node must show, by its key: for the last nodes what the plan promises,
 * for the others the provider's word or the template's `config.completion_assurance`.
 */
export function requiredAssurances(plan: Plan): ReadonlyMap<string, CompletionAssurance> {
  const last = lastNodes(plan);
  return new Map(
    plan.nodes.map((node) => [
      node.node_key,
      last.has(node.node_key) ? plan.completion_policy.completion_assurance : ownAssurance(node),
    ]),
  );
}

function ownAssurance({ config }: Plan['nodes'][number]): CompletionAssurance {
  return COMPLETION_ASSURANCES.find((known) => known === config?.['completion_assurance']) ?? LEAST;
}

/**
 * The nodes that send or observe and from which, when all goes well, no other such node is reached.
 */
function lastNodes({ nodes, edges }: Plan): ReadonlySet<string> {
  const uncancelled = reachableFrom(
    edges.filter(({ edge_type }) => edge_type !== 'on_cancel'),
    rootNodes({ nodes, edges }),
  );
  const moving = new Set(
    nodes.filter(isMoving).flatMap(({ node_key }) => (uncancelled.has(node_key) ? [node_key] : [])),
  );
  const onward = edges.filter(
    ({ edge_type }) => edge_type === 'on_success' || edge_type === 'on_manual_resume',
  );
  const isLast = (key: string): boolean => {
    const next = onward.flatMap(({ from, to }) => (from === key ? [to] : []));
    return ![...reachableFrom(onward, next)].some((after) => moving.has(after));
  };
  return new Set([...moving].filter(isLast));
}

/**
 * Gates and no-ops show nothing; compensations and post-actions do not serve the plan's purpose.
 */
function isMoving({ node_kind, action_type }: Plan['nodes'][number]): boolean {
  return (node_kind === 'action' || node_kind === 'observe') && !specOf(action_type).idle;
}

export interface UnsupportedAssurance {
  readonly node_key: string;
  readonly executor_key: string;
  readonly asked: CompletionAssurance;
  readonly supported: readonly CompletionAssurance[];
}

/** Every node that must show more than its executor ever can. */
export function unsupportedAssurances(
  nodes: readonly {
    readonly node_key: string;
    readonly completion_assurance?: CompletionAssurance;
    readonly executor_binding: { readonly executor_key: string };
  }[],
  supportedBy: (executorKey: string) => readonly CompletionAssurance[],
): readonly UnsupportedAssurance[] {
  return nodes.flatMap(
    ({ node_key, completion_assurance: required = LEAST, executor_binding: { executor_key } }) => {
      const supported = supportedBy(executor_key);
      return supported.some((shown) => suffices(shown, required))
        ? []
        : [{ node_key, executor_key, asked: required, supported }];
    },
  );
}

/**
 * An answer as it counts: COMPLETED with less than the required assurance is still to be observed.
 */
export function heldTo(required: CompletionAssurance, answer: ExecutionResult): ExecutionResult {
  if (answer.next_state !== 'COMPLETED' || suffices(answer.assurance ?? LEAST, required))
    return answer;
  return { ...answer, next_state: 'OBSERVING' };
}
