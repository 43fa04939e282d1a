/** How each phase is run by Temporal: data, decided by functions that a test pins. */
import type { ActivityOptions, LocalActivityOptions } from '@temporalio/workflow';
import {
  TAKE_SECONDS,
  TASK_QUEUE,
  type LoadedNode,
  type Phase,
  type PhaseArgs,
} from '../domain/messages.ts';

/**
 * Longest that a worker may be silent during a phase before it counts as dead; it beats every two
 * seconds.
 */
const HEARTBEAT = '10 seconds';

/**
 * submit has exactly one attempt: whatever happens to it, recover decides. The others repeat
 * without limit, since what limits them (attempts, time-outs) is counted in the database, where a
 * lost worker or a restart cannot forget it.
 */
export function phaseOptions(
  phase: Phase | 'cancel',
  nodeKey: string,
  extent: Extent = {},
): ActivityOptions {
  const summary = summaryOf(phase, nodeKey, extent);
  if (phase === 'submit') {
    return {
      taskQueue: TASK_QUEUE,
      summary,
      startToCloseTimeout: '5 minutes',
      heartbeatTimeout: HEARTBEAT,
      retry: { maximumAttempts: 1 },
    };
  }
  return {
    taskQueue: TASK_QUEUE,
    summary,
    startToCloseTimeout: '2 minutes',
    heartbeatTimeout: HEARTBEAT,
    retry: {
      initialInterval: '500 milliseconds',
      backoffCoefficient: 2,
      maximumInterval: '30 seconds',
    },
  };
}

/** A question that is called off as soon as nobody needs its answer any more. */
export function lookOptions(nodeKey: string): ActivityOptions {
  return { ...phaseOptions('recover', nodeKey), cancellationType: 'TRY_CANCEL' };
}

/**
 * What changes nothing outside and waits for nothing may run inside the workflow's own task when
 * its executor is a module.
 */
export function runsLocally(phase: Phase, node: Pick<LoadedNode, 'in_process'>): boolean {
  return node.in_process === true && phase === 'preflight';
}

/** Whether the next phase is carried out in the same activity; see activities/phases/chain.ts. */
export function chains(
  phase: Phase,
  node: Pick<LoadedNode, 'in_process' | 'chained' | 'node_kind'>,
): boolean {
  return (
    (node.in_process === true || node.chained === true) &&
    (phase === 'submit' || (phase === 'preflight' && node.node_kind !== 'observe'))
  );
}

/** A local phase takes at most a second, once; what it could not do its regular form does. */
export function localPhaseOptions(
  phase: Phase,
  nodeKey: string,
  extent: Extent = {},
): LocalActivityOptions {
  return {
    summary: summaryOf(phase, nodeKey, extent),
    startToCloseTimeout: '1 second',
    retry: { maximumAttempts: 1 },
  };
}

/**
 * A call of an executor team's own worker. Never repeated by Temporal: what a failure means is
 * decided where the node's attempts are counted. One that no worker takes is known never to have
 * begun.
 */
export function teamOptions(
  phase: Phase | 'cancel',
  nodeKey: string,
  taskQueue: string,
  timeoutMs: number,
): ActivityOptions {
  return {
    taskQueue,
    summary: summaryOf(phase, nodeKey),
    scheduleToStartTimeout: TAKE_SECONDS * 1000,
    startToCloseTimeout: timeoutMs,
    retry: { maximumAttempts: 1 },
  };
}

/** How much one activity carries out; see activities/phases/chain.ts. */
type Extent = Pick<PhaseArgs, 'chained' | 'whole' | 'onward'>;

const CHAINED: Partial<Record<Phase | 'cancel', string>> = {
  preflight: 'preflight, prepare',
  submit: 'submit, observe',
};
const WHOLE: Partial<Record<Phase | 'cancel', string>> = {
  submit: 'preflight, prepare, submit, observe',
  preflight: 'preflight, observe',
};

/** A server may refuse what is longer than 400 bytes; a character has three of them at most. */
const LONGEST_SUMMARY = 130;

function summaryOf(phase: Phase | 'cancel', nodeKey: string, extent: Extent = {}): string {
  const more = extent.whole === true ? WHOLE : extent.chained === true ? CHAINED : {};
  const own = `${nodeKey} · ${more[phase] ?? phase}`;
  const all = [own, ...(extent.onward ?? []).map(({ node_key }) => node_key)].join(' → ');
  return all.length > LONGEST_SUMMARY ? `${all.slice(0, LONGEST_SUMMARY - 1)}…` : all;
}

/** Loads and decisions: one short database call each, repeated until the database is back. */
export const LOCAL_OPTIONS: LocalActivityOptions = {
  startToCloseTimeout: '10 seconds',
  localRetryThreshold: '30 seconds',
  retry: {
    initialInterval: '200 milliseconds',
    backoffCoefficient: 2,
    maximumInterval: '10 seconds',
  },
};

/**
 * What a team's worker is called with, where something may have to be signed for it or followed on
 * a chain first: repeated like a look, since a node behind its fence is asked about.
 */
export function askOptions(phase: Phase | 'cancel', nodeKey: string): ActivityOptions {
  return { ...phaseOptions('recover', nodeKey), summary: summaryOf(phase, nodeKey) };
}

/** A decision, which may carry the first phases of the one node that it makes ready. */
export function decideOptions(begins?: string): LocalActivityOptions {
  return begins === undefined
    ? LOCAL_OPTIONS
    : { ...LOCAL_OPTIONS, summary: summaryOf('preflight', begins, { chained: true }) };
}

/** Sends a capital transfer: one attempt, like every submit. */
export const SUBMIT_TRANSFER_OPTIONS: ActivityOptions = {
  taskQueue: TASK_QUEUE,
  summary: 'submit',
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout: HEARTBEAT,
  retry: { maximumAttempts: 1 },
};

/** Asks what became of it, as often as it takes; a resolve ends the waiting at once. */
export const LOOK_TRANSFER_OPTIONS: ActivityOptions = {
  taskQueue: TASK_QUEUE,
  summary: 'ask the provider',
  startToCloseTimeout: '2 minutes',
  heartbeatTimeout: HEARTBEAT,
  cancellationType: 'TRY_CANCEL',
  retry: {
    initialInterval: '500 milliseconds',
    backoffCoefficient: 2,
    maximumInterval: '30 seconds',
  },
};
