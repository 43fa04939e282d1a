/** How Temporal runs each phase: options as data, from functions that a test pins. */
import type { ActivityOptions, LocalActivityOptions } from '@temporalio/workflow';
import {
  TAKE_SECONDS,
  TASK_QUEUE,
  type LoadedNode,
  type Phase,
  type PhaseArgs,
} from '../domain/messages.ts';

/** A worker that is silent for longer during a phase counts as dead; it beats every 2 s. */
const HEARTBEAT = '10 seconds';

/**
 * submit has exactly one attempt: if it fails, recover decides. The others repeat without limit,
 * since the database counts their limits (attempts, time-outs), where no lost worker or restart can
 * lose the count.
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

/** A look that is cancelled as soon as its answer is no longer needed. */
export function lookOptions(nodeKey: string): ActivityOptions {
  return { ...phaseOptions('recover', nodeKey), cancellationType: 'TRY_CANCEL' };
}

/** A phase without outside effects or waits runs inside the workflow's task if a module does it. */
export function runsLocally(phase: Phase, node: Pick<LoadedNode, 'in_process'>): boolean {
  return node.in_process === true && phase === 'preflight';
}

/** Whether the next phase runs in the same activity; see activities/phases/chain.ts. */
export function chains(
  phase: Phase,
  node: Pick<LoadedNode, 'in_process' | 'chained' | 'node_kind'>,
): boolean {
  return (
    (node.in_process === true || node.chained === true) &&
    (phase === 'submit' || (phase === 'preflight' && node.node_kind !== 'observe'))
  );
}

/** A local phase gets one attempt of a second; if it fails, its regular activity does the work. */
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
 * A call of an executor team's own worker. Temporal never repeats it: what a failure means is
 * decided where the node's attempts are counted. A call that no worker takes certainly never
 * started.
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

/** How much one activity does; see activities/phases/chain.ts. */
type Extent = Pick<PhaseArgs, 'chained' | 'whole' | 'onward'>;

const CHAINED: Partial<Record<Phase | 'cancel', string>> = {
  preflight: 'preflight, prepare',
  submit: 'submit, observe',
};
const WHOLE: Partial<Record<Phase | 'cancel', string>> = {
  submit: 'preflight, prepare, submit, observe',
  preflight: 'preflight, observe',
};

/** In characters of at most three bytes; a server may refuse more than 400 bytes. */
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
 * Prepares a call of a team's worker where the service may have to sign or follow a chain first:
 * repeated like a look, since a node behind its fence is looked at.
 */
export function askOptions(phase: Phase | 'cancel', nodeKey: string): ActivityOptions {
  return { ...phaseOptions('recover', nodeKey), summary: summaryOf(phase, nodeKey) };
}

/** A decision, which may include the first phases of the only node that it makes ready. */
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

/** Looks for the transfer until it is found; a resolve ends the wait at once. */
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
