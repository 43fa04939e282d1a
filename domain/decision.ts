/**
 * What a view of a movement says is to be written next, and the view that follows from that. Pure:
 * the run asks it, and so do the activities that write a decision for the run.
 */
import { withConditions } from './conditions/apply.ts';
import { walk, type WalkResult } from './graph/walk.ts';
import type { DecideArgs, LoadedMovement, LoadedNode } from './messages.ts';
import { walkNode } from './snapshot.ts';
import { isSettled } from './states/node.ts';

/** What must be written before anything runs; null when the database already says it all. */
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

/** Where the graph goes on from here. */
export function nextOf(view: LoadedMovement): WalkResult {
  return walk({
    state: view.state,
    nodes: view.nodes.map(walkNode),
    edges: withConditions(view.edges, view.conditions ?? {}),
  });
}

/** One attempt of a node, as a key. */
export function attemptOf({ node_key, attempt }: Pick<LoadedNode, 'node_key' | 'attempt'>): string {
  return `${node_key}:${String(attempt)}`;
}

/** The view after a decision was written. */
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
 * What is to be written with the completion of `node`. Undefined where only the run can tell:
 * conditions are to be looked at first, people wait for something, or a failure is about to end the
 * movement.
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

/** Whether `node` alone is at work, so that no other node can cause a decision meanwhile. */
export function isAlone(view: LoadedMovement, { node_key }: Pick<LoadedNode, 'node_key'>): boolean {
  return view.nodes.every((each) => each.node_key === node_key || !isAtWork(each));
}

/** Whether the node has started and not settled. */
export function isAtWork({ state }: Pick<LoadedNode, 'state'>): boolean {
  return state !== 'BLOCKED' && !isSettled(state);
}

/** The view with `node` completed. */
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
