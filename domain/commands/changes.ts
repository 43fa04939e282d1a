/** Functions that the operators' commands share. */
import { SYSTEM_ACTOR, type Actor } from '../roles.ts';
import type { MovementSnapshot, NodeSnapshot } from '../snapshot.ts';
import type { NodeState } from '../states/node.ts';
import type { NodeChange, TimelineEntry } from '../transition.ts';
import { settle, type Settlement } from './conditions.ts';

/** Evaluates the conditions on the edges out of a node that settles as `node`. */
export function settleIn(snapshot: MovementSnapshot, node: NodeSnapshot): Settlement {
  return settle(
    snapshot.plan,
    Object.fromEntries(snapshot.nodes.map((each) => [each.node_key, each])),
    node,
  );
}

/** Returns the change that moves a BLOCKED node to READY. */
export function readied(snapshot: MovementSnapshot, key: string): NodeChange {
  return { node_key: key, from: 'BLOCKED', moves: ['READY'], attempt: attemptOf(snapshot, key) };
}

/** Returns the timeline entry for a node that became READY. */
export function readyEvent(snapshot: MovementSnapshot, key: string): TimelineEntry {
  return {
    event_type: 'node_ready',
    message: 'Ready to run',
    actor: SYSTEM_ACTOR,
    node_key: key,
    attempt: attemptOf(snapshot, key),
    from_state: 'BLOCKED',
    to_state: 'READY',
  };
}

function attemptOf(snapshot: MovementSnapshot, key: string): number {
  return snapshot.nodes.find((node) => node.node_key === key)?.attempt ?? 1;
}

/** Returns a change that requires the node to be as in the snapshot. */
export function changeOf(node: NodeSnapshot, moves: readonly NodeState[]): NodeChange {
  return { node_key: node.node_key, from: node.state, moves, attempt: node.attempt };
}

/** Returns the timeline entry for a state change of a node. */
export function nodeEvent(
  event_type: TimelineEntry['event_type'],
  node: NodeSnapshot,
  to: NodeState,
  actor: Actor,
  message: string,
): TimelineEntry {
  return {
    event_type,
    message,
    actor,
    node_key: node.node_key,
    attempt: node.attempt,
    from_state: node.state,
    to_state: to,
  };
}

/** Returns the snapshot with the changed nodes in place of the old ones. */
export function replace(
  snapshot: MovementSnapshot,
  changed: readonly NodeSnapshot[],
): MovementSnapshot {
  const byKey = new Map(changed.map((node) => [node.node_key, node]));
  return { ...snapshot, nodes: snapshot.nodes.map((node) => byKey.get(node.node_key) ?? node) };
}

/** Returns the node that was changed the longest time ago. */
export function oldest(nodes: readonly NodeSnapshot[]): NodeSnapshot | undefined {
  return [...nodes].sort((a, b) =>
    a.updated_at < b.updated_at
      ? -1
      : a.updated_at > b.updated_at
        ? 1
        : a.node_key < b.node_key
          ? -1
          : 1,
  )[0];
}
