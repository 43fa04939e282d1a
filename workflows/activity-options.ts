/** How each phase is run by Temporal: data, decided by one function that a test pins. */
import type { ActivityOptions, LocalActivityOptions } from '@temporalio/workflow';
import { TASK_QUEUE } from '../domain/messages.ts';

export type Phase = 'preflight' | 'prepare' | 'submit' | 'observe' | 'recover';

/** Longest that a worker may be silent during a phase before it counts as dead; it beats every two seconds. */
const HEARTBEAT = '10 seconds';

/**
 * submit has exactly one attempt: whatever happens to it, recover decides. The others repeat without
 * limit, since what limits them (attempts, time-outs) is counted in the database, where a lost worker
 * or a restart cannot forget it.
 */
export function phaseOptions(phase: Phase, nodeKey: string): ActivityOptions {
  const summary = `${nodeKey} · ${phase}`;
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
    retry: { initialInterval: '500 milliseconds', backoffCoefficient: 2, maximumInterval: '30 seconds' },
  };
}

/** Loads and decisions: one short database call each, repeated until the database is back. */
export const LOCAL_OPTIONS: LocalActivityOptions = {
  startToCloseTimeout: '10 seconds',
  localRetryThreshold: '30 seconds',
  retry: { initialInterval: '200 milliseconds', backoffCoefficient: 2, maximumInterval: '10 seconds' },
};
