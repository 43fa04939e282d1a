/**
 * The cancel-transaction command: a person wants the signed transaction of a node never to be
 * mined.
 */
import { specOf } from '../actions/built-in.ts';
import type { MovementSnapshot } from '../snapshot.ts';
import type { NodeState } from '../states/node.ts';
import type { Transition } from '../transition.ts';
import { changeOf } from './changes.ts';
import { actorOf, movementAudit, type Requester } from './context.ts';

/** States of a node in which its transaction can be cancelled. */
export const CANCELLABLE: readonly NodeState[] = ['UNKNOWN', 'OBSERVING'];

/** Returns whether it is too late to cancel what such a node has signed. */
export function isPastCancelling(actionType: string, state: NodeState): boolean {
  const { signs, crossing } = specOf(actionType);
  // A message to a venue is not a transaction. A transfer to another chain is observed there only
  // after its own transaction is mined.
  return signs === 'venue_message' || (crossing !== null && state !== 'UNKNOWN');
}

/** Returns the consequence of the command as a sentence. */
export function takesNonce(nodeKey: string): string {
  return `A zero-value transaction with the same nonce is signed and sent; whichever of the two transactions is mined decides the outcome of ${nodeKey}.`;
}

/**
 * Returns the transition that requests a zero-value transaction with the same nonce; whichever of
 * the two is mined decides. Null if the node is in another state (the caller returns
 * `invalid_state`).
 */
export function cancelTransaction(
  snapshot: MovementSnapshot,
  request: { readonly node_key: string; readonly reason: string },
  requester: Requester,
): Transition | null {
  const { node_key, reason } = request;
  const node = snapshot.nodes.find((each) => each.node_key === node_key);
  if (node === undefined || !CANCELLABLE.includes(node.state)) return null;
  return {
    movement_id: snapshot.movement_id,
    from: [snapshot.state],
    version: snapshot.version,
    bump: true,
    nodes: [{ ...changeOf(node, []), set: { cancel_asked: node.attempt } }],
    timeline: [
      {
        event_type: 'transaction_cancel_requested',
        message: 'A person requested that the transaction be cancelled',
        actor: actorOf(requester),
        node_key,
        attempt: node.attempt,
        data: { reason },
      },
    ],
    ...movementAudit(requester, 'movement.cancel_transaction', snapshot.movement_id, {
      reason,
      details: { node_key },
    }),
    command: 'cancel_transaction',
  };
}
