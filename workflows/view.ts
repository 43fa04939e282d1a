/**
 * What a run makes of its view of the movement: what to write next, and the view that follows from
 * it. Pure.
 */
import { withConditions } from '../domain/conditions/apply.ts';
import { walk, type WalkResult } from '../domain/graph/walk.ts';
import type {
  ConditionResults,
  DecideArgs,
  LoadedMovement,
  LoadedNode,
  PhaseArgs,
} from '../domain/messages.ts';
import { walkNode } from '../domain/snapshot.ts';
import { chains, runsLocally } from './activity-options.ts';
import type { NodeEnd } from './node.ts';

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

/**
 * The one node that begins because of this decision, where its executor is at hand: its first
 * phases need no activity of their own.
 */
export function beginning(
  view: LoadedMovement,
  decision: DecideArgs,
  idle: (node: LoadedNode) => boolean,
): PhaseArgs | undefined {
  const after = decided(view, decision, view.version);
  // Ready is not yet running: a gate waits for a person, and after a failure nothing new begins.
  const { run } = nextOf(after);
  const [node, ...others] = after.nodes.filter((each) => run.includes(each.node_key) && idle(each));
  if (node === undefined || others.length > 0 || node.state !== 'READY' || node.recover_first)
    return undefined;
  if (!runsLocally('preflight', node) || !chains('preflight', node)) return undefined;
  return {
    movement_id: view.movement_id,
    node_key: node.node_key,
    attempt: node.attempt,
    executor_key: node.executor_key,
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

/** The view after nodes came to their end; Date.now() is the workflow's own, replayable time. */
export function withEnds(view: LoadedMovement, ends: ReadonlyMap<string, NodeEnd>): LoadedMovement {
  const nodes = view.nodes.map((node) => {
    const end = ends.get(node.node_key);
    if (end === undefined || end.state === node.state) return node;
    return { ...node, state: end.state, error_code: end.error_code, settled_order: Date.now() };
  });
  const conditions = [...ends.values()].reduce<ConditionResults>(
    (all, end) => ({ ...all, ...end.conditions }),
    view.conditions ?? {},
  );
  return { ...view, nodes, conditions };
}
