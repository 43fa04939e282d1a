/** Which failures a plan handles itself. */
import { isSettled } from '../states/node.ts';
import { triggers, type EdgeStatus } from './edges.ts';
import type { WalkEdge, WalkNode } from './walk-types.ts';

export interface Failure {
  readonly node_key: string;
  readonly error_code: string;
}

export interface Failures {
  /** No edge takes these, or the edge that took them led nowhere; first failure first. */
  readonly unhandled: readonly Failure[];
  /** A handler is running; it may still complete. */
  readonly pending: readonly Failure[];
}

interface FailureInput {
  readonly nodes: readonly WalkNode[];
  readonly edges: readonly WalkEdge[];
  readonly statuses: ReadonlyMap<WalkEdge, EdgeStatus>;
}

/**
 * A failure is handled when an on_failure or on_timeout edge reaches a node that is not a
 * compensation and that completes, or whose own failure is handled. A gate alone does not handle
 * that of a bridge's second leg. Post-actions never count,
 * neither as what failed nor as what handles it. A condition that could not be evaluated is an
 * unhandled failure of its source, however that ended.
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
 * on_cancel edges and their conditions are ignored until a cancel. So are results that an earlier
 * attempt with another outcome left on edges that this outcome does not trigger.
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

/** Each failed node is judged once, however many paths of handlers lead through it. */
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
  // Resuming a gate does not settle what a bridge owes; the nodes behind the gate do.
  const each = handlers.map((handler): Fate =>
    node.brings != null && handler.node_kind === 'manual_gate' && handler.state === 'COMPLETED'
      ? best(targetsOf(handler, byKey, input).map((next) => fateBy(next, byKey, input, fates)))
      : fateBy(handler, byKey, input, fates),
  );
  const fate = best(each);
  fates.set(node.node_key, fate);
  return fate;
}

/** The outcome of a failure that this node handles. */
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

/** The nodes that a completed gate has led to. */
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

/** The nodes that a failure's own edges lead to. */
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
