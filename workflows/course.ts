/**
 * Computes which decision and which nodes follow the completion of a node, as an argument of the
 * node's activity. Pure.
 */
import { completed, decided, followsCompletion, isAlone, isAtWork } from '../domain/decision.ts';
import type { LoadedMovement, LoadedNode, PhaseArgs } from '../domain/messages.ts';

/** The arguments of a node's activity that state what its completion leads to. */
export type Course = Pick<PhaseArgs, 'decides' | 'then' | 'onward'>;

/**
 * Most nodes that one activity may continue with; the activity's argument lists them and is stored
 * in the history.
 */
const MOST_CARRIED = 7;

/**
 * With at most this many running nodes, each activity writes its own decision. With more, the run
 * decides about many at once, so that activities do not conflict and retry.
 */
const MOST_DECIDING = 4;

/**
 * Returns the course of a node: its activity writes the decision together with the completion. With
 * `mayContinue`, also the nodes with which the activity continues.
 */
export function courseOf(view: LoadedMovement, node: LoadedNode, mayContinue: boolean): Course {
  if ((view.conduct ?? 0) < 4 || view.nodes.filter(isAtWork).length > MOST_DECIDING) return {};
  const [own, ...onward] = legs(view, node, mayContinue ? MOST_CARRIED : 0);
  return {
    decides: true,
    ...(own?.then === undefined ? {} : { then: own.then }),
    ...(onward.length === 0 ? {} : { onward }),
  };
}

/** Returns the node, and the nodes that follow it one by one and can run in the same activity. */
function legs(view: LoadedMovement, node: LoadedNode, most: number): readonly PhaseArgs[] {
  const alone = isAlone(view, node);
  const ends = most === 0 || node.carried !== true;
  // The graph is not walked for each of many nodes that start together, since this would delay the
  // run.
  const decision = alone || !ends ? followsCompletion(view, node) : undefined;
  const own: PhaseArgs = {
    movement_id: view.movement_id,
    node_key: node.node_key,
    attempt: node.attempt,
    executor_key: node.executor_key,
    whole: true,
    decides: true,
    ...(decision === undefined || !alone ? {} : { then: decision }),
  };
  if (ends || decision === undefined) return [own];
  const after = decided(completed(view, node), decision, decision.version + 1);
  const [next, ...others] = after.nodes.filter(({ node_key }) =>
    decision.ready.some((ready) => ready.node_key === node_key),
  );
  if (next === undefined || others.length > 0 || !mayBeCarried(after, node, next)) return [own];
  return [own, ...legs(after, next, most - 1)];
}

/**
 * Returns whether the activity of `from` may continue with `node`: only `from` can make it ready,
 * so no other activity continues with it.
 */
function mayBeCarried({ edges }: LoadedMovement, from: LoadedNode, node: LoadedNode): boolean {
  return (
    node.carried === true &&
    node.node_kind === 'action' &&
    !node.recover_first &&
    edges.every((edge) => edge.to !== node.node_key || edge.from === from.node_key)
  );
}
