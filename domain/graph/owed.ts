/**
 * Finds second legs of bridge transfers. The funds that the first leg sent are in transit, so the
 * second leg runs to its end even when no other node of the movement starts, or when the plan's
 * paths to it are all dead.
 */
import { isSettled } from '../states/node.ts';
import { keyOf, type WalkNode } from './walk-types.ts';

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
function isOwed(node: Leg, stateOf: (nodeKey: string) => WalkNode['state'] | undefined): boolean {
  return node.state === 'BLOCKED' && sentBefore(node, stateOf) !== 'no';
}

/**
 * Returns the second legs among the `unreachable` nodes that are not skipped: their first leg was
 * or may still be sent. In the main branch the second legs of one first leg are alternatives, so
 * one is held (the first in plan order), and none if the plan has taken or may still take another.
 */
export function heldLegs(
  { nodes, cancelled }: { readonly nodes: readonly WalkNode[]; readonly cancelled: boolean },
  unreachable: ReadonlySet<string>,
): ReadonlySet<string> {
  const byKey = new Map(nodes.map((node) => [node.node_key, node]));
  const legs = nodes.filter(({ brings }) => brings != null);
  const lost = legs.filter(({ node_key }) => unreachable.has(node_key));
  if (cancelled)
    return new Set(lost.filter((leg) => isOwed(leg, (key) => byKey.get(key)?.state)).map(keyOf));
  const isReached = ({ node_key, state }: WalkNode): boolean =>
    !unreachable.has(node_key) && state !== 'SKIPPED' && state !== 'CANCELLED';
  // A FAILED leg counts as taken: a person retries it, or the plan goes on from its failure.
  const taken = new Set(legs.filter(isReached).map(({ brings }) => brings));
  const held = new Set<string>();
  for (const { node_key, brings } of lost) {
    const first = byKey.get(brings ?? '');
    if (first === undefined || !isReached(first) || first.state === 'FAILED') continue;
    if (taken.has(brings)) continue;
    taken.add(brings);
    held.add(node_key);
  }
  return held;
}
