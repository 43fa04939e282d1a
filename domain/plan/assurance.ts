/**
 * The assurance with which a node's completion must be shown. The plan's last nodes must show what
 * the plan promises.
 */
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

/** Returns whether the shown assurance is at or above the required one. */
export function suffices(shown: CompletionAssurance, required: CompletionAssurance): boolean {
  return COMPLETION_ASSURANCES.indexOf(shown) >= COMPLETION_ASSURANCES.indexOf(required);
}

/**
 * Returns the assurance that each node must show, by node key. Last nodes: the plan's
 * `completion_policy`. Other nodes: the template's `config.completion_assurance`, else only that
 * the provider reports completion.
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

/** Returns the nodes that send or observe and, when no node fails, lead to no other such node. */
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
 * Returns whether the node sends or observes for the plan's purpose. Gates and no-ops show nothing;
 * compensations and post-actions do not serve that purpose.
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

/** Returns every node that must show a stronger assurance than its executor ever can. */
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
 * Returns the executor's answer with COMPLETED replaced by OBSERVING if it shows less than the
 * required assurance.
 */
export function heldTo(required: CompletionAssurance, answer: ExecutionResult): ExecutionResult {
  if (answer.next_state !== 'COMPLETED' || suffices(answer.assurance ?? LEAST, required))
    return answer;
  return { ...answer, next_state: 'OBSERVING' };
}
