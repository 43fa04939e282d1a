/**
 * Second legs of bridges: what the first leg has sent is on its way, so they run to their end even
 * where nothing else of the movement starts.
 */
import { isSettled } from '../states/node.ts';
import type { WalkNode } from './walk-types.ts';

type Leg = Pick<WalkNode, 'state' | 'brings'>;

/** Whether its first leg was sent; `open` while that leg may still prove to be unsent. */
export function sentBefore(
  { brings }: Pick<WalkNode, 'brings'>,
  stateOf: (nodeKey: string) => WalkNode['state'] | undefined,
): 'sent' | 'open' | 'no' {
  const state = brings == null ? undefined : stateOf(brings);
  if (state === 'COMPLETED') return 'sent';
  return state === undefined || state === 'BLOCKED' || isSettled(state) ? 'no' : 'open';
}

/** A second leg that has not started, and whose first leg was or may have been sent. */
export function isOwed(
  node: Leg,
  stateOf: (nodeKey: string) => WalkNode['state'] | undefined,
): boolean {
  return node.state === 'BLOCKED' && sentBefore(node, stateOf) !== 'no';
}
