/**
 * The rules of the graph once more, written straight from their description and without care for
 * speed.
 */
import type { WalkEdge, WalkInput, WalkNode } from '../../../domain/graph/walk-types.ts';
import type { WalkResult } from '../../../domain/graph/walk.ts';

const SETTLED = ['COMPLETED', 'FAILED', 'SKIPPED', 'CANCELLED'];

/** Throws where a walk's answer is not what the description says. */
export function judge(input: WalkInput, next: WalkResult): void {
  const cancelled = input.state === 'CANCELLED';
  if (
    !cancelled &&
    !['APPROVED', 'EXECUTING', 'WAITING_MANUAL_ACTION', 'MANUAL_INTERVENTION'].includes(input.state)
  )
    return;
  const after = (key: string): string =>
    next.ready.includes(key) ? 'READY' : next.skip.includes(key) ? 'SKIPPED' : at(input, key).state;
  const open = input.nodes.filter(
    (node) => !SETTLED.includes(after(node.node_key)) && after(node.node_key) !== 'BLOCKED',
  );
  for (const node of input.nodes) {
    const { node_key: key, state } = node;
    const says = `${key} (${state}) in ${input.state}`;
    if (next.ready.includes(key)) {
      ensure(state === 'BLOCKED', `only what is BLOCKED becomes READY: ${says}`);
      ensure(cancelled ? undoes(input, node) : satisfied(input, node), `nothing leads to ${says}`);
      if (node.node_kind === 'post_action' && !cancelled)
        ensure(postActionsAlone(input, next), `${says} is not the last`);
    }
    if (next.skip.includes(key))
      ensure(state === 'BLOCKED', `only what is BLOCKED is skipped: ${says}`);
    if (next.skip.includes(key) && !cancelled && open.length > 0)
      ensure(dead(input, node), `a way still leads to ${says}`);
    const clean =
      !input.nodes.some((each) => each.state === 'FAILED') &&
      !input.edges.some((edge) => edge.condition === 'error');
    if (
      !cancelled &&
      clean &&
      state === 'BLOCKED' &&
      node.node_kind !== 'post_action' &&
      satisfied(input, node)
    ) {
      ensure(next.ready.includes(key), `the way to ${says} is open`);
    }
  }
  if (open.length > 0 && !cancelled && input.state !== 'APPROVED')
    ensure(next.state === derived(open, after), `state with ${next.frontier}`);
  ensure(
    next.frontier.join() === open.map((node) => node.node_key).join() || next.ended,
    `frontier ${next.frontier.join()} with ${open.map((node) => node.node_key).join()}`,
  );
}

/** What a retry of one node must open again: every skipped node that would not be skipped anew. */
export function openedBy(input: WalkInput, retried: string): readonly string[] {
  const nodes = input.nodes.map((node): WalkNode => {
    if (node.node_key === retried) return { ...node, state: 'READY' };
    return node.state === 'SKIPPED' ? { ...node, state: 'BLOCKED' } : node;
  });
  const again = { ...input, nodes };
  return input.nodes
    .filter((node) => node.state === 'SKIPPED' && !dead(again, at(again, node.node_key)))
    .map((node) => node.node_key);
}

function ensure(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

function at(input: WalkInput, key: string): WalkNode {
  const found = input.nodes.find((node) => node.node_key === key);
  if (found === undefined) throw new Error(`no node ${key}`);
  return found;
}

/** An open UNKNOWN, else a waiting gate, else running. */
function derived(open: readonly WalkNode[], after: (key: string) => string): string {
  if (open.some((node) => node.state === 'UNKNOWN')) return 'MANUAL_INTERVENTION';
  const waits = open.some(
    (node) => node.node_kind === 'manual_gate' && after(node.node_key) === 'READY',
  );
  return waits ? 'WAITING_MANUAL_ACTION' : 'EXECUTING';
}

function postActionsAlone(input: WalkInput, next: WalkResult): boolean {
  return input.nodes.every(
    (node) =>
      node.node_kind === 'post_action' ||
      SETTLED.includes(node.state) ||
      (node.state === 'BLOCKED' && !next.ready.includes(node.node_key)),
  );
}

/** The outcome is the one that the edge's type waits for. */
function matches(input: WalkInput, edge: WalkEdge): boolean {
  const source = at(input, edge.from);
  const hasTimeout = input.edges.some(
    (other) => other.from === edge.from && other.edge_type === 'on_timeout',
  );
  switch (edge.edge_type) {
    case 'on_success':
    case 'on_cancel':
      return source.state === 'COMPLETED';
    case 'on_manual_resume':
      return source.state === 'COMPLETED' && source.resumed;
    case 'on_timeout':
      return source.state === 'FAILED' && source.timed_out;
    case 'on_failure':
      return source.state === 'FAILED' && !(source.timed_out && hasTimeout);
  }
}

function fires(input: WalkInput, edge: WalkEdge): boolean {
  const holds = (each: WalkEdge): boolean =>
    each.condition_expr === null || each.condition === true;
  const rivals = input.edges.filter(
    (other) => other.from === edge.from && other.edge_type === edge.edge_type && holds(other),
  );
  return (
    matches(input, edge) && holds(edge) && rivals.every((other) => other.priority <= edge.priority)
  );
}

/** An edge of the main lane that will never fire as things stand. */
function lost(input: WalkInput, edge: WalkEdge): boolean {
  if (edge.edge_type === 'on_cancel') return true;
  const source = at(input, edge.from);
  return SETTLED.includes(source.state)
    ? !fires(input, edge)
    : source.state === 'BLOCKED' && allLost(input, source);
}

function allLost(input: WalkInput, node: WalkNode): boolean {
  const ways = input.edges.filter((edge) => edge.to === node.node_key);
  return ways.length > 0 && ways.every((edge) => lost(input, edge));
}

/** Unreachable in the main branch, and after a cancel. */
function dead(input: WalkInput, node: WalkNode): boolean {
  return (
    allLost(input, node) &&
    !input.edges.some((edge) => edge.to === node.node_key && edge.edge_type === 'on_cancel')
  );
}

function satisfied(input: WalkInput, node: WalkNode): boolean {
  const ways = input.edges.filter(
    (edge) => edge.to === node.node_key && edge.edge_type !== 'on_cancel',
  );
  const groups = [...new Set(ways.map((edge) => edge.join_key))].map((key) =>
    ways.filter((edge) => edge.join_key === key),
  );
  return groups.some(
    (group) =>
      group.every((edge) => fires(input, edge) || lost(input, edge)) &&
      group.some((edge) => fires(input, edge)),
  );
}

function undoes(input: WalkInput, node: WalkNode): boolean {
  return input.edges.some(
    (edge) => edge.to === node.node_key && edge.edge_type === 'on_cancel' && fires(input, edge),
  );
}
