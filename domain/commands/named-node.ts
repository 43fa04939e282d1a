/**
 * The node that a resume or retry is meant for, as its sender saw it. The service chooses the node;
 * the name only says which choice the sender expected, so that a command that arrives twice or late
 * changes no other node.
 */
import type { NodeSnapshot } from '../snapshot.ts';
import type { NodeState } from '../states/node.ts';

export interface NamedNode {
  readonly node_key?: string | undefined;
  readonly attempt?: number | undefined;
  readonly state?: NodeState | undefined;
}

type Chosen = Pick<NodeSnapshot, 'node_key' | 'attempt' | 'state'>;

/** Whether any named fact differs from the node that would run. */
export function differs(named: NamedNode, chosen: Chosen): boolean {
  return (
    (named.node_key !== undefined && named.node_key !== chosen.node_key) ||
    (named.attempt !== undefined && named.attempt !== chosen.attempt) ||
    (named.state !== undefined && named.state !== chosen.state)
  );
}

/** The facts by which a caller names the node. */
export function nameOf({ node_key, attempt, state }: Chosen): Required<Chosen> {
  return { node_key, attempt, state };
}
