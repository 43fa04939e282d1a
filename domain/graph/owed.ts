/**
 * Finds second legs of bridge transfers. The funds that the first leg sent are in transit, so the
 * second leg runs to its end even when no other node of the movement starts.
 */
import { isSettled } from '../states/node.ts';
import type { WalkNode } from './walk-types.ts';

type Leg = Pick<WalkNode, 'state' | 'brings'>;

/** Returns whether the node's first leg was sent; `open` while this is not proven. */
export function sentBefore(
  { brings }: Pick<WalkNode, 'brings'>,
  stateOf: (nodeKey: string) => WalkNode['state'] | undefined,
): 'sent' | 'open' | 'no' {
  const state = brings == null ? undefined : stateOf(brings);
  if (state === 'COMPLETED') return 'sent';
  return state === undefined || state === 'BLOCKED' || isSettled(state) ? 'no' : 'open';
}

/**
 * Returns whether the node is a second leg that has not started and whose first leg was or may have
 * been sent.
 */
export function isOwed(
  node: Leg,
  stateOf: (nodeKey: string) => WalkNode['state'] | undefined,
): boolean {
  return node.state === 'BLOCKED' && sentBefore(node, stateOf) !== 'no';
}
