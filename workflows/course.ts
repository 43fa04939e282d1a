/** What an activity is told of what the completion of its node leads to. Pure. */
import { completed, decided, followsCompletion, isAlone, isAtWork } from '../domain/decision.ts';
import type { LoadedMovement, LoadedNode, PhaseArgs } from '../domain/messages.ts';

/** What the activity of a node is told of what its completion leads to. */
export type Course = Pick<PhaseArgs, 'decides' | 'then' | 'onward'>;

/** Most nodes that one activity may go on to; its argument stands in the history. */
const MOST_CARRIED = 7;

/**
 * Most nodes at work of which each decides for itself; of more, the run decides about many at once
 * and none has to try again.
 */
const MOST_DECIDING = 4;

/** That the activity decides with the completion, and the nodes that it may go on to. */
export function courseOf(view: LoadedMovement, node: LoadedNode, goesOn: boolean): Course {
  if ((view.conduct ?? 0) < 4 || view.nodes.filter(isAtWork).length > MOST_DECIDING) return {};
  const [own, ...onward] = legs(view, node, goesOn ? MOST_CARRIED : 0);
  return {
    decides: true,
    ...(own?.then === undefined ? {} : { then: own.then }),
    ...(onward.length === 0 ? {} : { onward }),
  };
}

/** The node, and those that follow it one after the other and answer at once as it does. */
function legs(view: LoadedMovement, node: LoadedNode, most: number): readonly PhaseArgs[] {
  const alone = isAlone(view, node);
  const ends = most === 0 || node.carried !== true;
  // A walk for each of many nodes that begin together would hold up the run.
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

/** Only `from` can make it ready, so that no other activity goes on to it. */
function mayBeCarried({ edges }: LoadedMovement, from: LoadedNode, node: LoadedNode): boolean {
  return (
    node.carried === true &&
    node.node_kind === 'action' &&
    !node.recover_first &&
    edges.every((edge) => edge.to !== node.node_key || edge.from === from.node_key)
  );
}
