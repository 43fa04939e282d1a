/**
 * Decides what must be written next for a movement, and how that changes the run's view of the
 * movement. Pure: used by the workflow run, and by the activities that write a decision for the
 * run.
 */
import { withConditions } from './conditions/apply.ts';
import { walk, type WalkResult } from './graph/walk.ts';
import type { DecideArgs, LoadedMovement, LoadedNode } from './messages.ts';
import { walkNode } from './snapshot.ts';
import { isSettled } from './states/node.ts';

/**
 * Returns what must be written before anything runs; null if the database is already up to date.
 */
export function decide(
  view: LoadedMovement,
  next: WalkResult,
  stopped: ReadonlySet<string>,
): DecideArgs | null {
  const nodes = (keys: readonly string[]): { node_key: string; attempt: number }[] =>
    view.nodes
      .filter((node) => keys.includes(node.node_key))
      .map(({ node_key, attempt }) => ({ node_key, attempt }));
  const overtaken =
    view.state !== 'CANCELLED'
      ? []
      : view.nodes
          .filter((node) => node.state === 'READY' && stopped.has(attemptOf(node)))
          .map((node) => node.node_key);
  const ended = next.ended && !view.ended;
  const same = next.state === view.state && next.frontier.join('\n') === view.frontier.join('\n');
  if (same && !ended && next.ready.length + next.skip.length + overtaken.length === 0) return null;
  return {
    movement_id: view.movement_id,
    version: view.version,
    from: view.state,
    to: next.state,
    ready: nodes(next.ready),
    skip: nodes(next.skip),
    stop: nodes(overtaken),
    frontier: next.frontier,
    ended,
    failure: next.failure,
  };
}

/** Returns the next step of the graph. */
export function nextOf(view: LoadedMovement): WalkResult {
  return walk({
    state: view.state,
    nodes: view.nodes.map(walkNode),
    edges: withConditions(view.edges, view.conditions ?? {}),
    // A view without a conduct is no load of a run, or one of 0.1.0, whose nodes are no legs.
    skips_legs: (view.conduct ?? 5) < 5,
  });
}

/** Returns a key for one attempt of a node. */
export function attemptOf({ node_key, attempt }: Pick<LoadedNode, 'node_key' | 'attempt'>): string {
  return `${node_key}:${String(attempt)}`;
}

/** Returns the view after a decision was written. */
export function decided(
  view: LoadedMovement,
  decision: DecideArgs,
  version: number,
): LoadedMovement {
  const state = (node: LoadedNode): LoadedNode['state'] => {
    const among = (list: DecideArgs['ready']): boolean =>
      list.some((each) => each.node_key === node.node_key);
    if (among(decision.ready)) return 'READY';
    if (among(decision.skip)) return 'SKIPPED';
    return among(decision.stop) ? 'CANCELLED' : node.state;
  };
  return {
    ...view,
    version,
    state: decision.to,
    ended: decision.ended,
    frontier: decision.frontier,
    error_code: decision.failure?.error_code ?? view.error_code,
    nodes: view.nodes.map((node) => ({ ...node, state: state(node) })),
  };
}

/**
 * Returns what must be written together with the completion of `node`. Undefined if only the
 * workflow run can decide: conditions must be evaluated first, a person is needed, or a failure
 * ends the movement.
 */
export function followsCompletion(
  view: LoadedMovement,
  node: Pick<LoadedNode, 'node_key'>,
): DecideArgs | undefined {
  if (view.state !== 'EXECUTING' || view.ended) return undefined;
  if (
    view.edges.some(({ from, condition_expr }) => from === node.node_key && condition_expr !== null)
  )
    return undefined;
  const after = completed(view, node);
  const decision = decide(after, nextOf(after), new Set());
  if (decision === null || decision.failure !== null) return undefined;
  return decision.to === 'EXECUTING' || decision.to === 'COMPLETED' ? decision : undefined;
}

/**
 * Returns whether no other node is at work, so that no other node can cause a decision meanwhile.
 */
export function isAlone(view: LoadedMovement, { node_key }: Pick<LoadedNode, 'node_key'>): boolean {
  return view.nodes.every((each) => each.node_key === node_key || !isAtWork(each));
}

/** Returns whether the node has started and has not settled. */
export function isAtWork({ state }: Pick<LoadedNode, 'state'>): boolean {
  return state !== 'BLOCKED' && !isSettled(state);
}

/** Returns the view with `node` completed. */
export function completed(
  view: LoadedMovement,
  { node_key }: Pick<LoadedNode, 'node_key'>,
): LoadedMovement {
  return {
    ...view,
    nodes: view.nodes.map((each) =>
      each.node_key === node_key ? { ...each, state: 'COMPLETED', error_code: null } : each,
    ),
  };
}
