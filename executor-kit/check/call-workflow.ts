/** The small workflow with which the check calls a task-queue executor: one activity, once. */
import {
  ActivityFailure,
  ApplicationFailure,
  proxyActivities,
  TimeoutFailure,
} from '@temporalio/workflow';

export interface QueueCall {
  readonly phase: string;
  readonly input: unknown;
  readonly task_queue: string;
  readonly timeout_ms: number;
  /** Milliseconds within which a worker must take the call. */
  readonly pickup_ms: number;
}

export type QueueOutcome =
  | { readonly ok: true; readonly answer: unknown }
  | {
      readonly ok: false;
      readonly kind: 'application' | 'not_picked_up' | 'timeout' | 'other';
      readonly type: string;
      readonly message: string;
    };

export async function executorCheckCall(call: QueueCall): Promise<QueueOutcome> {
  const activities = proxyActivities<Record<string, (input: unknown) => Promise<unknown>>>({
    taskQueue: call.task_queue,
    startToCloseTimeout: call.timeout_ms,
    scheduleToStartTimeout: call.pickup_ms,
    retry: { maximumAttempts: 1 },
  });
  const activity = activities[call.phase];
  if (activity === undefined) throw ApplicationFailure.nonRetryable(`no activity ${call.phase}`);
  try {
    return { ok: true, answer: await activity(call.input) };
  } catch (error) {
    return outcomeOf(error instanceof ActivityFailure ? error.cause : error);
  }
}

function outcomeOf(cause: unknown): QueueOutcome {
  if (cause instanceof ApplicationFailure)
    return { ok: false, kind: 'application', type: cause.type ?? '', message: cause.message };
  if (!(cause instanceof TimeoutFailure))
    return { ok: false, kind: 'other', type: '', message: String(cause) };
  const kind = cause.timeoutType === 'SCHEDULE_TO_START' ? 'not_picked_up' : 'timeout';
  return { ok: false, kind, type: kind, message: cause.message };
}
