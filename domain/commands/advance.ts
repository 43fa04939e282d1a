/**
 * Builds the transition for a decision of the workflow itself: the frontier advances, or the
 * movement ends.
 */
import type { DecideArgs } from '../messages.ts';
import { SYSTEM_ACTOR } from '../roles.ts';
import type { ReservationStatus } from '../states/movement.ts';
import {
  NOW,
  type AuditEntry,
  type MovementFields,
  type NodeChange,
  type TimelineEntry,
  type Transition,
} from '../transition.ts';

/** Returns the transition for the result of a graph walk, with its records and releases. */
export function advance(
  args: DecideArgs,
  reservation: ReservationStatus,
  keepsHold: boolean,
): Transition {
  const moved = args.from !== args.to;
  return {
    movement_id: args.movement_id,
    from: [args.from],
    ...(moved ? { to: args.to } : {}),
    version: args.version,
    bump: true,
    set: fields(args, reservation, keepsHold),
    nodes: [
      ...args.skip.map(({ node_key, attempt }): NodeChange => ({
        node_key,
        attempt,
        from: 'BLOCKED',
        moves: ['SKIPPED'],
        set: { completed_at: NOW },
      })),
      ...args.ready.map(({ node_key, attempt }): NodeChange => ({
        node_key,
        attempt,
        from: 'BLOCKED',
        moves: ['READY'],
      })),
      ...args.stop.map(({ node_key, attempt }): NodeChange => ({
        node_key,
        attempt,
        from: 'READY',
        moves: ['CANCELLED'],
        set: { completed_at: NOW },
      })),
    ],
    timeline: [
      ...args.skip.map((node) =>
        nodeEntry(node, 'node_skipped', 'BLOCKED', 'SKIPPED', 'Skipped: unreachable'),
      ),
      ...args.stop.map((node) =>
        nodeEntry(node, 'node_cancelled', 'READY', 'CANCELLED', 'Cancelled before it was sent'),
      ),
      ...args.ready.map((node) =>
        nodeEntry(node, 'node_ready', 'BLOCKED', 'READY', 'Ready to run'),
      ),
      ...movementEntries(args),
    ],
    audit: auditEntries(args),
  };
}

function fields(
  args: DecideArgs,
  reservation: ReservationStatus,
  keepsHold: boolean,
): MovementFields {
  return {
    current_frontier: args.frontier,
    ...(args.ended ? { ended_at: NOW } : {}),
    ...(args.failure === null || !args.ended
      ? {}
      : {
          error_code: args.failure.error_code,
          error_message: `node ${args.failure.node_key} failed`,
        }),
    ...(args.ended && args.to === 'COMPLETED' ? { reservation_status: 'consumed' } : {}),
    ...(args.ended &&
    reservation === 'held' &&
    (args.to === 'FAILED' || (args.to === 'CANCELLED' && !keepsHold))
      ? { reservation_status: 'released' }
      : {}),
  };
}

function movementEntries(args: DecideArgs): TimelineEntry[] {
  const moved = args.from === args.to ? {} : { from_state: args.from, to_state: args.to };
  const entry = (event_type: TimelineEntry['event_type'], message: string): TimelineEntry[] => [
    {
      event_type,
      message,
      actor: SYSTEM_ACTOR,
      ...moved,
      ...(args.failure === null
        ? {}
        : { node_key: args.failure.node_key, data: { error_code: args.failure.error_code } }),
    },
  ];
  if (args.ended && args.to === 'COMPLETED') return entry('request_completed', 'Completed');
  if (args.ended && args.to === 'FAILED')
    return entry('request_failed', `Failed: ${args.failure?.error_code ?? 'unknown'}`);
  if (args.from !== args.to && args.to === 'WAITING_MANUAL_ACTION')
    return entry('request_attention', 'A gate waits for a person');
  if (args.from !== args.to && args.to === 'MANUAL_INTERVENTION')
    return entry('request_attention', 'The outcome of a node is unknown');
  if (args.ready.length > 0 || args.from !== args.to)
    return entry(
      'frontier_advanced',
      args.from === 'APPROVED' ? 'Execution began' : 'The frontier advanced',
    );
  return [];
}

function auditEntries(args: DecideArgs): AuditEntry[] {
  if (!args.ended || (args.to !== 'COMPLETED' && args.to !== 'FAILED')) return [];
  const failed = args.to === 'FAILED';
  return [
    {
      action: failed ? 'movement.fail' : 'movement.complete',
      entity_type: 'movement',
      entity_key: args.movement_id,
      outcome: failed ? 'failed' : 'success',
      actor_role: 'system',
      ...(args.failure === null
        ? {}
        : { details: { node_key: args.failure.node_key, error_code: args.failure.error_code } }),
    },
  ];
}

function nodeEntry(
  node: { readonly node_key: string; readonly attempt: number },
  event_type: TimelineEntry['event_type'],
  from_state: string,
  to_state: string,
  message: string,
): TimelineEntry {
  return {
    event_type,
    message,
    actor: SYSTEM_ACTOR,
    node_key: node.node_key,
    attempt: node.attempt,
    from_state,
    to_state,
  };
}
