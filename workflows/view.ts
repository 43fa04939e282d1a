/** Functions that compute values from a workflow run's view of the movement. Pure. */
import { decided, nextOf } from '../domain/decision.ts';
import type {
  ConditionResults,
  DecideArgs,
  LoadedMovement,
  LoadedNode,
  PhaseArgs,
} from '../domain/messages.ts';
import { chains, runsLocally } from './activity-options.ts';
import type { NodeEnd } from './node.ts';

/**
 * Returns the only node that this decision starts, if its first phases can run in the decision's
 * activity.
 */
export function beginning(
  view: LoadedMovement,
  decision: DecideArgs,
  idle: (node: LoadedNode) => boolean,
): PhaseArgs | undefined {
  const after = decided(view, decision, view.version);
  // Not every ready node runs: a gate waits for a person, and after a failure nothing new starts.
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

/**
 * Returns the view after nodes ended. Date.now() in a workflow returns the same value in a replay.
 */
export function withEnds(view: LoadedMovement, ends: ReadonlyMap<string, NodeEnd>): LoadedMovement {
  const nodes = view.nodes.map((node) => {
    const end = ends.get(node.node_key);
    if (end === undefined || end.state === node.state) return node;
    const { state, error_code, ended_by_stop = false } = end;
    return { ...node, state, error_code, ended_by_stop, settled_order: Date.now() };
  });
  const conditions = [...ends.values()].reduce<ConditionResults>(
    (all, end) => ({ ...all, ...end.conditions }),
    view.conditions ?? {},
  );
  return { ...view, nodes, conditions };
}
