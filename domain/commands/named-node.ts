/**
 * The node that a resume or retry is meant for, as whoever sends it saw it. The service chooses the
 * node; what is named here only says which choice was expected, so that a command that arrives
 * twice, or late, does nothing to another node.
 */
import type { NodeSnapshot } from '../snapshot.ts';
import type { NodeState } from '../states/node.ts';

export interface NamedNode {
  readonly node_key?: string | undefined;
  readonly attempt?: number | undefined;
  readonly state?: NodeState | undefined;
}

type Chosen = Pick<NodeSnapshot, 'node_key' | 'attempt' | 'state'>;

/** Whether anything that is named is another than the node that would go on. */
export function differs(named: NamedNode, chosen: Chosen): boolean {
  return (
    (named.node_key !== undefined && named.node_key !== chosen.node_key) ||
    (named.attempt !== undefined && named.attempt !== chosen.attempt) ||
    (named.state !== undefined && named.state !== chosen.state)
  );
}

/** The node by what a caller names it with. */
export function nameOf({ node_key, attempt, state }: Chosen): Required<Chosen> {
  return { node_key, attempt, state };
}
