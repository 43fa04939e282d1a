/** The withdrawals of an exchange's books as orders, as the judges read those of desks. */
import { fencesOf, type Act } from '../acts.ts';
import type { Order } from './desk.ts';
import { ARRIVES_WITHIN_MS, leftWith, type Sent } from './exchange.ts';

interface Node {
  readonly movement_id: string;
  readonly node_key: string;
}

const STATES = { pending: 'taken', completed: 'paid', failed: 'refused' } as const;

/**
 * Each withdrawal is of the movement whose request made it, and of the attempt that had passed its
 * fence last; of none if there is no such movement or attempt.
 */
export function ordersAt(
  sent: readonly Sent[],
  nodes: readonly Node[],
  acts: readonly Act[],
): readonly Order[] {
  const fences = fencesOf(acts);
  return sent.map(({ withdrawal, movement_id, at }) => {
    const { id, asset, address, status } = withdrawal;
    const movement = movement_id ?? 'no movement';
    const node_key = nodes.find((node) => node.movement_id === movement_id)?.node_key ?? 'no node';
    const fence = fences.findLast((each) => each.subject === movement && each.at <= at);
    return {
      key: `${movement}:${node_key}:${String(fence?.attempt ?? 'none')}`,
      movement_id: movement,
      payee: address.toLowerCase(),
      amount: leftWith(withdrawal),
      state: STATES[status],
      arrives_within_ms: ARRIVES_WITHIN_MS,
      ...{ id, node_key, asset, at },
    };
  });
}
