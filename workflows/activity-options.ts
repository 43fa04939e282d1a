/** How Temporal runs each phase: functions return the options as data, and a test pins them. */
import type { ActivityOptions, LocalActivityOptions } from '@temporalio/workflow';
import {
  TAKE_SECONDS,
  TASK_QUEUE,
  type LoadedNode,
  type Phase,
  type PhaseArgs,
} from '../domain/messages.ts';

/**
 * A worker that sends no heartbeat for this long during a phase counts as dead; it sends one every
 * 2 s.
 */
const HEARTBEAT = '10 seconds';

/**
 * Returns the options of a phase. submit has exactly one attempt: if it fails, recover decides.
 * Other phases repeat without limit here, since the database counts attempts and time-outs, and a
 * lost worker or restart cannot lose that count.
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

/**
 * Returns the options of a look (a phase that only reads the outcome), which can be cancelled as
 * soon as its answer is not needed.
 */
export function lookOptions(nodeKey: string): ActivityOptions {
  return { ...phaseOptions('recover', nodeKey), cancellationType: 'TRY_CANCEL' };
}

/**
 * How long a call may wait on a venue's own queue. Longer than a burst waits at the venue's rate:
 * after it the call is scheduled again, and loses its place.
 */
const QUEUE_WAIT = '15 minutes';

/**
 * Returns the options of a call on a venue's own queue. A call that no worker takes has certainly
 * not started.
 */
export function queuedOptions(options: ActivityOptions, taskQueue: string): ActivityOptions {
  return { ...options, taskQueue, scheduleToStartTimeout: QUEUE_WAIT };
}

/**
 * Returns whether a phase runs inside the workflow's task: a module does it, and it has no outside
 * effects or waits.
 */
export function runsLocally(phase: Phase, node: Pick<LoadedNode, 'in_process'>): boolean {
  return node.in_process === true && phase === 'preflight';
}

/** Returns whether the next phase runs in the same activity; see activities/phases/chain.ts. */
export function chains(
  phase: Phase,
  node: Pick<LoadedNode, 'in_process' | 'chained' | 'node_kind'>,
): boolean {
  return (
    (node.in_process === true || node.chained === true) &&
    (phase === 'submit' || (phase === 'preflight' && node.node_kind !== 'observe'))
  );
}

/**
 * Returns the options of a local phase: one attempt of one second. If it fails, its regular
 * activity does the work.
 */
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
 * Returns the options of a call to an executor team's own worker. Temporal never repeats the call;
 * the code that counts the node's attempts decides what a failure means. A call that no worker
 * takes has certainly not started.
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

/** How many phases and nodes one activity runs; see activities/phases/chain.ts. */
type Extent = Pick<PhaseArgs, 'chained' | 'whole' | 'onward'>;

const CHAINED: Partial<Record<Phase | 'cancel', string>> = {
  preflight: 'preflight, prepare',
  submit: 'submit, observe',
};
const WHOLE: Partial<Record<Phase | 'cancel', string>> = {
  submit: 'preflight, prepare, submit, observe',
  preflight: 'preflight, observe',
};

/**
 * Longest summary in characters of at most three bytes each; a Temporal server may refuse more than
 * 400 bytes.
 */
const LONGEST_SUMMARY = 130;

function summaryOf(phase: Phase | 'cancel', nodeKey: string, extent: Extent = {}): string {
  const more = extent.whole === true ? WHOLE : extent.chained === true ? CHAINED : {};
  const own = `${nodeKey} · ${more[phase] ?? phase}`;
  const all = [own, ...(extent.onward ?? []).map(({ node_key }) => node_key)].join(' → ');
  return all.length > LONGEST_SUMMARY ? `${all.slice(0, LONGEST_SUMMARY - 1)}…` : all;
}

/**
 * Temporal options of loads and decisions: one short database call each, repeated until the
 * database is back.
 */
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
 * Returns the options for preparing a call to a team's worker, if the service may first have to
 * sign or to read a chain. Repeated like a phase that only reads the outcome, since the node may
 * have sent already.
 */
export function askOptions(phase: Phase | 'cancel', nodeKey: string): ActivityOptions {
  return { ...phaseOptions('recover', nodeKey), summary: summaryOf(phase, nodeKey) };
}

/**
 * Returns the options of a decision, which may include the first phases of the only node that it
 * makes ready.
 */
export function decideOptions(begins?: string): LocalActivityOptions {
  return begins === undefined
    ? LOCAL_OPTIONS
    : { ...LOCAL_OPTIONS, summary: summaryOf('preflight', begins, { chained: true }) };
}

/** Temporal options for sending a capital transfer: one attempt, like every submit. */
export const SUBMIT_TRANSFER_OPTIONS: ActivityOptions = {
  taskQueue: TASK_QUEUE,
  summary: 'submit',
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout: HEARTBEAT,
  retry: { maximumAttempts: 1 },
};

/**
 * Temporal options for looking for a transfer until it is found; a resolve ends the wait
 * immediately.
 */
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
