/**
 * What must be true after a run, whatever was killed. Each invariant answers with its
 * contradictions.
 */
import { CALLBACK_EVENTS } from '../../domain/events.ts';
import { ENDED_STATES } from '../../domain/states/movement.ts';
import { assertConsistent } from '../support/evidence.ts';
import type { Evidence, MovementEvidence } from './evidence.ts';
import {
  budgetIsExact,
  chainIsExact,
  holdingsFollowStates,
  holdsAddUp,
  ledgerIsExact,
  nonceLanesAreWhole,
  nothingIsLeft,
  outflowsAreKept,
  teamPaysOnce,
} from './invariants-money.ts';
import { transfersAreOnce, transfersEndAsRecorded } from './invariants-transfers.ts';
import type { Act } from './life.ts';

export type Invariant = (evidence: Evidence) => readonly string[];

const MANUAL_STATES: readonly string[] = ['WAITING_MANUAL_ACTION', 'MANUAL_INTERVENTION'];

/** A movement is over, or waits for a person. */
export const endsOrWaits: Invariant = ({ movements }) =>
  movements
    .filter(
      ({ request_state }) => !isFinal(request_state) && !MANUAL_STATES.includes(request_state),
    )
    .map(
      (each) =>
        `${each.movement_id} is still ${each.request_state} (${each.nodes.map((n) => `${n.node_key} ${n.state}`).join(', ')})`,
    );

/** A movement and its timeline tell the same story. */
export const agreesWithTimeline: Invariant = ({ movements }) =>
  movements.flatMap((movement) => {
    try {
      assertConsistent(movement, movement.timeline);
      return [];
    } catch (error) {
      return [error instanceof Error ? error.message : String(error)];
    }
  });

/** Every create is one movement, under its own key, with the requested amount. */
export const createsAreOnce: Invariant = ({ lives, movements }) => {
  const byKey = groupBy(movements, (movement) => movement.idempotency_key ?? 'none');
  const wrong = lives.flatMap((life) => {
    const found = byKey.get(life.idempotency_key) ?? [];
    if (found.length !== 1) return [`${life.idempotency_key} made ${found.length} movements`];
    const [movement] = found;
    if (movement?.movement_id !== life.movement_id)
      return [`${life.idempotency_key} is ${movement?.movement_id}, not ${life.movement_id}`];
    return movement?.amount === life.script.amount
      ? []
      : [`${life.movement_id} moves ${movement?.amount}, not ${life.script.amount}`];
  });
  const keys = new Set(lives.map((life) => life.idempotency_key));
  return [
    ...wrong,
    ...movements
      .filter((m) => !keys.has(m.idempotency_key ?? ''))
      .map((m) => `no caller requested ${m.movement_id}`),
  ];
};

const EVENT_OF: Record<Act, string> = {
  approve: 'request_approved',
  reject: 'request_rejected',
  resume: 'request_resumed',
  retry: 'request_retried',
  cancel: 'request_cancelled',
};

/**
 * What the service accepted is on the timeline, as often as it was accepted; calls in doubt may
 * have counted too.
 */
export const acceptedIsDone: Invariant = ({ lives, movements }) => {
  const byId = new Map(movements.map((movement) => [movement.movement_id, movement]));
  return lives.flatMap(({ movement_id, accepted }) =>
    [...groupBy(accepted, ({ action }) => action)].flatMap(([action, times]) => {
      const done = countOf(
        byId.get(movement_id ?? '')?.timeline ?? [],
        (event) => event.event_type === EVENT_OF[action],
      );
      const most = times.length + times.reduce((sum, each) => sum + each.doubts, 0);
      if (done >= times.length && done <= most) return [];
      return [
        `${movement_id}: ${action} was accepted ${times.length} times (at most ${most}), its timeline has ${done}`,
      ];
    }),
  );
};

/** Answers that contradicted earlier answers to the same caller. */
export const callersHeardTheTruth: Invariant = ({ lives }) =>
  lives.flatMap(({ movement_id, complaints }) =>
    complaints.map((complaint) => `${movement_id}: ${complaint}`),
  );

/** No command is left that no run has seen. */
export const commandsAreApplied: Invariant = ({ unappliedCommands }) =>
  unappliedCommands.map(
    ({ movement_id, kind, wakes }) => `${movement_id}: ${kind} was never applied (${wakes} wakes)`,
  );

const AUDITED: readonly (readonly [event: string, action: string, outcome: string])[] = [
  ['movement_created', 'movement.create', 'success'],
  ['request_approved', 'movement.approve', 'success'],
  ['request_rejected', 'movement.reject', 'success'],
  ['request_expired', 'movement.expire', 'success'],
  ['request_resumed', 'movement.resume', 'success'],
  ['request_retried', 'movement.retry', 'success'],
  ['request_cancelled', 'movement.cancel', 'success'],
  ['request_completed', 'movement.complete', 'success'],
  ['request_failed', 'movement.fail', 'failed'],
];

/** The audit has a row for everything that changed a movement, and none for what did not happen. */
export const auditAgrees: Invariant = ({ movements, audit }) => {
  const rows = groupBy(
    audit,
    ({ entity_key, action, outcome }) => `${entity_key} ${action} ${outcome}`,
  );
  return movements.flatMap(({ movement_id, timeline }) =>
    AUDITED.flatMap(([event, action, outcome]) => {
      const happened = countOf(timeline, (each) => each.event_type === event);
      const audited = rows.get(`${movement_id} ${action} ${outcome}`)?.length ?? 0;
      return happened === audited
        ? []
        : [
            `${movement_id}: ${event} happened ${happened} times, the audit has ${audited} of ${action}`,
          ];
    }),
  );
};

/**
 * Every event with callbacks has its callback: delivered and received, or a dead letter with a
 * reason.
 */
export const callbacksArrive: Invariant = ({ movements, callbacks, received, delivers }) => {
  const rows = new Map(callbacks.map((row) => [row.event_id, row]));
  const seen = new Set(
    received.filter(({ answered }) => answered === 200).map(({ event_id }) => event_id),
  );
  const events = movements
    .filter(({ callback_url }) => callback_url !== null)
    .flatMap(({ timeline, movement_id }) => timeline.map((event) => ({ ...event, movement_id })))
    .filter(({ event_type }) => CALLBACK_EVENTS.some((each) => each === event_type));
  const missing = events.flatMap(({ event_id, movement_id, event_type, sequence }) => {
    const row = rows.get(event_id);
    const same =
      row?.event_type === event_type &&
      row.sequence === sequence &&
      row.movement_id === movement_id;
    return same ? [] : [`${movement_id}: ${event_type} (${sequence}) has no callback`];
  });
  const known = new Set(events.map(({ event_id }) => event_id));
  const invented = callbacks
    .filter(({ event_id }) => !known.has(event_id))
    .map(({ event_id }) => `callback ${event_id} is of no event`);
  const strange = received.flatMap(({ event_id, event_type, sequence, movement_id }) => {
    const row = rows.get(event_id);
    const same =
      row?.event_type === event_type &&
      row.sequence === sequence &&
      row.movement_id === movement_id;
    return same
      ? []
      : [`${movement_id}: ${event_type} (${sequence}) was received, and there is no such callback`];
  });
  if (!delivers) return [...missing, ...invented, ...strange];
  const lost = callbacks.flatMap(({ event_id, movement_id, event_type, status, last_error }) => {
    if (status === 'delivered')
      return seen.has(event_id)
        ? []
        : [`${movement_id}: ${event_type} counts as delivered and was not received`];
    if (status === 'dead_letter' && last_error !== null) return [];
    return [`${movement_id}: callback ${event_type} is ${status} (${last_error ?? 'no reason'})`];
  });
  return [...missing, ...invented, ...strange, ...lost];
};

/** An open movement has a run, an ended one does not keep one. */
export const runsAreWhereNeeded: Invariant = ({ movements }) =>
  movements.flatMap(({ movement_id, ended, run_status, request_state }) => {
    if (!ended && run_status !== 'RUNNING')
      return [`${movement_id} is open (${request_state}), its run is ${run_status ?? 'missing'}`];
    return ended && run_status === 'RUNNING'
      ? [`${movement_id} has ended ${request_state}, its run has not`]
      : [];
  });

/** Every invariant by the name under which a run reports it. */
export const INVARIANTS: Readonly<Record<string, Invariant>> = {
  endsOrWaits,
  agreesWithTimeline,
  createsAreOnce,
  acceptedIsDone,
  callersHeardTheTruth,
  commandsAreApplied,
  auditAgrees,
  callbacksArrive,
  runsAreWhereNeeded,
  ledgerIsExact,
  chainIsExact,
  teamPaysOnce,
  outflowsAreKept,
  holdsAddUp,
  holdingsFollowStates,
  budgetIsExact,
  nothingIsLeft,
  nonceLanesAreWhole,
  transfersAreOnce,
  transfersEndAsRecorded,
};

/** All contradictions of a run, each with the name of its invariant. */
export function contradictions(evidence: Evidence): readonly string[] {
  return Object.entries(INVARIANTS).flatMap(([name, invariant]) =>
    invariant(evidence).map((each) => `${name}: ${each}`),
  );
}

function isFinal(state: MovementEvidence['request_state']): boolean {
  return ENDED_STATES.some((each) => each === state);
}

function countOf<T>(items: readonly T[], wanted: (item: T) => boolean): number {
  return items.filter(wanted).length;
}

function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}
