/** Computes which failures a plan handles itself. */
import { isSettled } from '../states/node.ts';
import { triggers, type EdgeStatus } from './edges.ts';
import type { WalkEdge, WalkNode } from './walk-types.ts';

export interface Failure {
  readonly node_key: string;
  readonly error_code: string;
}

export interface Failures {
  /** Failures without an edge, or whose edge led to no completed handler; first failure first. */
  readonly unhandled: readonly Failure[];
  /** Failures whose handler is still running and may complete. */
  readonly pending: readonly Failure[];
}

interface FailureInput {
  readonly nodes: readonly WalkNode[];
  readonly edges: readonly WalkEdge[];
  readonly statuses: ReadonlyMap<WalkEdge, EdgeStatus>;
}

/**
 * Returns the failures that the plan has not handled. A failure is handled when an on_failure or
 * on_timeout edge leads to a node that is not a compensation, and that node completes or its own
 * failure is handled. If the failed node is the second leg of a bridge transfer, a resumed gate
 * alone does not handle the failure. Post-actions never count, neither as failed nor as handler. A
 * condition that could not be evaluated is an unhandled failure of the edge's source, whatever the
 * source's outcome.
 */
export function failureOf(input: FailureInput): Failures {
  const byKey = new Map(input.nodes.map((node) => [node.node_key, node]));
  const unhandled: Failure[] = [];
  const pending: Failure[] = [];
  const fates = new Map<string, Fate>();
  const ordered = [...input.nodes].sort((a, b) => a.settled_order - b.settled_order);
  for (const node of ordered) {
    if (node.node_kind === 'post_action') continue;
    const fate = node.state === 'FAILED' ? fateOf(node, byKey, input, fates) : 'handled';
    const failure = { node_key: node.node_key, error_code: node.error_code ?? 'NODE_FAILED' };
    if (hasConditionError(node, input.edges))
      unhandled.push({ node_key: node.node_key, error_code: 'CONDITION_ERROR' });
    else if (fate === 'unhandled') unhandled.push(failure);
    else if (fate === 'pending') pending.push(failure);
  }
  return { unhandled, pending };
}

type Fate = 'handled' | 'pending' | 'unhandled';

/**
 * Returns whether a condition on an edge of the node could not be evaluated. on_cancel edges are
 * ignored until a cancel. A result is also ignored if an earlier attempt with another outcome left
 * it on an edge that the present outcome does not trigger.
 */
function hasConditionError(node: WalkNode, edges: readonly WalkEdge[]): boolean {
  const failed = edges.filter(
    (edge) =>
      edge.from === node.node_key && edge.condition === 'error' && edge.edge_type !== 'on_cancel',
  );
  if (failed.length === 0) return false;
  const siblings = edges.filter((edge) => edge.from === node.node_key);
  return failed.some((edge) => triggers(edge, node, siblings));
}

/** Returns the fate of a failed node; judges each once, however many paths lead through it. */
function fateOf(
  node: WalkNode,
  byKey: ReadonlyMap<string, WalkNode>,
  input: FailureInput,
  fates: Map<string, Fate>,
): Fate {
  const known = fates.get(node.node_key);
  if (known !== undefined) return known;
  const handlers = failureTargets(node, byKey, input).filter(
    (handler) => handler.node_kind !== 'compensation' && handler.node_kind !== 'post_action',
  );
  // Resuming a gate does not deliver the funds that a bridge still holds; only the nodes after the
  // gate can.
  const each = handlers.map((handler): Fate =>
    node.brings != null && handler.node_kind === 'manual_gate' && handler.state === 'COMPLETED'
      ? best(targetsOf(handler, byKey, input).map((next) => fateBy(next, byKey, input, fates)))
      : fateBy(handler, byKey, input, fates),
  );
  const fate = best(each);
  fates.set(node.node_key, fate);
  return fate;
}

/** Returns the outcome of a failure that `handler` handles. */
function fateBy(
  handler: WalkNode,
  byKey: ReadonlyMap<string, WalkNode>,
  input: FailureInput,
  fates: Map<string, Fate>,
): Fate {
  if (handler.state === 'FAILED') return fateOf(handler, byKey, input, fates);
  if (handler.state === 'COMPLETED') return 'handled';
  return isSettled(handler.state) ? 'unhandled' : 'pending';
}

function best(fates: readonly Fate[]): Fate {
  if (fates.includes('handled')) return 'handled';
  return fates.includes('pending') ? 'pending' : 'unhandled';
}

/** Returns the nodes that a completed gate has led to. */
function targetsOf(
  gate: WalkNode,
  byKey: ReadonlyMap<string, WalkNode>,
  { edges, statuses }: FailureInput,
): readonly WalkNode[] {
  return edges.flatMap((edge) => {
    const target = byKey.get(edge.to);
    const taken = edge.from === gate.node_key && statuses.get(edge) === 'fired';
    return taken && target !== undefined ? [target] : [];
  });
}

/** Returns the nodes that the fired on_failure and on_timeout edges of a failed node lead to. */
export function failureTargets(
  node: WalkNode,
  byKey: ReadonlyMap<string, WalkNode>,
  input: Pick<FailureInput, 'edges' | 'statuses'>,
): readonly WalkNode[] {
  return input.edges.flatMap((edge) => {
    const taken = edge.from === node.node_key && input.statuses.get(edge) === 'fired';
    const target = byKey.get(edge.to);
    return taken &&
      target !== undefined &&
      (edge.edge_type === 'on_failure' || edge.edge_type === 'on_timeout')
      ? [target]
      : [];
  });
}
