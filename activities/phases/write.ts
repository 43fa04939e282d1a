/**
 * Stores an outcome of a node with its timeline entry in one write, if the node has not changed.
 */
import type { Settlement } from '../../domain/commands/conditions.ts';
import type { Claim } from '../../domain/claims.ts';
import type { TimelineEventType } from '../../domain/events.ts';
import type { Artifact } from '../../domain/executor.ts';
import type { ConditionResults } from '../../domain/messages.ts';
import type { Actor } from '../../domain/roles.ts';
import type { NodeState } from '../../domain/states/node.ts';
import type {
  NodeChange,
  NodeFields,
  Refusal,
  TimelineEntry,
  Transition,
  TransitionOutcome,
} from '../../domain/transition.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { applyTransition } from '../../store/transition.ts';
import { Overtaken } from '../failures.ts';
import { claimRefused } from './claims.ts';
import type { PhaseDependencies } from './context.ts';

export interface NodeWrite {
  readonly moves: readonly NodeState[];
  readonly set?: NodeFields;
  readonly artifacts?: readonly Artifact[];
  readonly claims?: readonly Claim[];
  readonly event: TimelineEventType;
  readonly message: string;
  readonly data?: Readonly<Record<string, string | number | boolean | null>>;
  /** Results of the conditions that are decided when the node is settled. */
  readonly conditions?: Settlement;
}

/**
 * Writes the changes in this order and in one database transaction, if the node has not changed
 * since it was read; the caller checks `ok`.
 */
export function writeNode(
  deps: PhaseDependencies,
  row: PhaseRow,
  ...writes: readonly NodeWrite[]
): Promise<TransitionOutcome> {
  return applyTransition(deps.db, transitionOf(row, writes));
}

/** Combines the writes into one transition. */
export function transitionOf(row: PhaseRow, writes: readonly NodeWrite[]): Transition {
  const claims = writes.flatMap((write) => write.claims ?? []);
  const change: NodeChange = {
    node_key: row.node_key,
    from: row.state,
    moves: writes.flatMap(({ moves }) => moves),
    attempt: row.attempt,
    epoch: row.epoch,
    ...fieldsOf(writes),
    ...(claims.length === 0 ? {} : { claims }),
  };
  const conditions = writes.flatMap((write) => write.conditions ?? []);
  const entries = writes.map((write) => entryOf(row, write));
  return {
    movement_id: row.movement_id,
    nodes: [change],
    ...(conditions.length === 0
      ? {}
      : {
          conditions: conditions.reduce<ConditionResults>(
            (all, { results }) => ({ ...all, ...results }),
            {},
          ),
        }),
    timeline: [...entries, ...conditions.flatMap(({ timeline }) => timeline)],
  };
}

/** Returns the fields and artifacts that the writes set. */
export function fieldsOf(
  writes: readonly NodeWrite[],
): Required<Pick<NodeChange, 'set' | 'artifacts'>> {
  return {
    set: writes.reduce<NodeFields>((all, { set }) => ({ ...all, ...set }), {}),
    artifacts: writes.flatMap(({ artifacts }) => artifacts ?? []),
  };
}

/** Writes as {@link writeNode} does; throws when an operator or a recovery wrote first. */
export async function mustWrite(
  deps: PhaseDependencies,
  row: PhaseRow,
  ...writes: readonly NodeWrite[]
): Promise<void> {
  const outcome = await writeNode(deps, row, ...writes);
  if (!outcome.ok) throw notWritten(row, outcome.reason);
}

/** Returns the error for a refused write. */
export function notWritten(row: PhaseRow, reason: Refusal): Error {
  return (
    claimRefused(row, reason) ??
    new Overtaken(`${row.node_key} changed while it was worked on (${reason}); it is read again`)
  );
}

/** Returns the executor as the actor of a timeline entry. */
export function executorActor(row: PhaseRow): Actor {
  return { type: 'executor', label: row.node.executor_binding.executor_key };
}

/** Returns the timeline entry of a write. */
export function entryOf(row: PhaseRow, write: NodeWrite): TimelineEntry {
  const last = write.moves.at(-1);
  return {
    event_type: write.event,
    message: write.message,
    actor: executorActor(row),
    node_key: row.node_key,
    attempt: row.attempt,
    ...(last === undefined ? {} : { from_state: row.state, to_state: last }),
    ...(write.data === undefined ? {} : { data: write.data }),
  };
}
