/**
 * The node that the sender of a resume or retry expects. The service chooses the node itself. A
 * command whose named node differs changes nothing, so a late or repeated command cannot affect
 * another node.
 */
import type { NodeSnapshot } from '../snapshot.ts';
import type { NodeState } from '../states/node.ts';

export interface NamedNode {
  readonly node_key?: string | undefined;
  readonly attempt?: number | undefined;
  readonly state?: NodeState | undefined;
}

type Chosen = Pick<NodeSnapshot, 'node_key' | 'attempt' | 'state'>;

/** Returns whether any named fact differs from the node that would run. */
export function differs(named: NamedNode, chosen: Chosen): boolean {
  return (
    (named.node_key !== undefined && named.node_key !== chosen.node_key) ||
    (named.attempt !== undefined && named.attempt !== chosen.attempt) ||
    (named.state !== undefined && named.state !== chosen.state)
  );
}

/** Returns the facts with which a caller names the node. */
export function nameOf({ node_key, attempt, state }: Chosen): Required<Chosen> {
  return { node_key, attempt, state };
}
