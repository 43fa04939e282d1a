/**
 * Decides from what Temporal shows of a run whether the run cannot go on: its workflow tasks fail
 * again and again, or no worker takes them or its calls.
 */
import { storable } from './text.ts';

export type StuckCause = 'nondeterminism' | 'task_fails' | 'no_worker';

/** What a run is started for. */
export type RunKind = 'movement' | 'capital_transfer';

/**
 * Failed workflow tasks in a row after which a run counts as stuck. Temporal repeats them with
 * growing pauses, so a worker that was slow or restarted has completed one long before.
 */
const MOST_FAILURES = 4;

/** A workflow task that Temporal has for a run and that no worker has completed. */
export interface PendingTask {
  /** Attempt of the task, from 1. A signal in between sets it back to 1. */
  readonly attempt: number;
  /**
   * Failed and timed-out tasks in the history since the last completed one. Temporal writes only
   * the first failure of several attempts there. Null: the part that was read shows neither.
   */
  readonly failures: number | null;
  /** Milliseconds that the task has waited for a worker; null while a worker has it. */
  readonly waitsMs: number | null;
  /**
   * Whether each build to which Temporal may give the task has a worker that polled in about the
   * last minute. A build without workers keeps what it gets, whoever else polls.
   */
  readonly hasWorker: boolean;
  /** The newest failure since the last completed task; null: the history shows none. */
  readonly failure: { readonly nondeterminism: boolean; readonly message: string } | null;
}

/** Activities of a run that wait on one task queue, and that no worker has taken. */
export interface WaitingCalls {
  readonly taskQueue: string;
  /** Milliseconds that the oldest of them has waited. */
  readonly waitsMs: number;
  /**
   * As of a {@link PendingTask}, for the activities of this queue; null: they wait too short a time
   * for a look.
   */
  readonly hasWorker: boolean | null;
}

/**
 * `goes_on`: a worker completed the last task. `unclear`: neither that nor a stuck run is proven,
 * so what was known before stays.
 */
export type RunVerdict =
  'goes_on' | 'unclear' | { readonly cause: StuckCause; readonly message: string | null };

/**
 * Returns what a look at an open run proves. `task`: null when the run has no unfinished workflow
 * task. `noWorkerMs`: how long a task may wait while no worker polls.
 */
export function verdictOf(task: PendingTask | null, noWorkerMs: number): RunVerdict {
  if (task === null) return 'goes_on';
  const { attempt, failures, waitsMs, hasWorker, failure } = task;
  const repeated = Math.max(0, attempt - 1);
  const failed = Math.max(repeated, (failures ?? 0) + Math.max(0, repeated - 1));
  if (failed >= MOST_FAILURES)
    return {
      cause: failure?.nondeterminism === true ? 'nondeterminism' : 'task_fails',
      message: failure?.message ?? null,
    };
  const waitsLong = waitsMs !== null && waitsMs > noWorkerMs;
  if (waitsLong && !hasWorker) return { cause: 'no_worker', message: failure?.message ?? null };
  return attempt === 1 && failures === 0 && !waitsLong ? 'goes_on' : 'unclear';
}

/** Longest message that is stored, as the database checks it. */
export const LONGEST_MESSAGE = 500;

/**
 * Returns what a look at an open run proves of its task ({@link verdictOf}) and of its calls. A
 * queue that workers poll slowly is a backlog, however long a call waits in it.
 */
export function verdictOfRun(
  { task, calls }: { readonly task: PendingTask | null; readonly calls: readonly WaitingCalls[] },
  noWorkerMs: number,
): RunVerdict {
  const verdict = verdictOf(task, noWorkerMs);
  if (typeof verdict === 'object') return verdict;
  const left = calls.find(({ waitsMs, hasWorker }) => hasWorker === false && waitsMs > noWorkerMs);
  if (left !== undefined)
    return {
      cause: 'no_worker',
      message: storable(
        `no worker polls the task queue ${left.taskQueue}, or all of its slots are in use`,
        LONGEST_MESSAGE,
      ),
    };
  // A call that was scheduled again waits anew, and proves nothing.
  return calls.some(({ hasWorker }) => hasWorker !== true) ? 'unclear' : verdict;
}

const WHY: Readonly<Record<StuckCause, string>> = {
  nondeterminism:
    'the workers run code that does not fit its history. Start workers of a build that fits it, the one before or a mended one',
  task_fails:
    "its workflow tasks fail again and again. Look at the worker's log, and start a mended worker",
  no_worker:
    'no worker polls for its tasks, or for the calls of one of its nodes. Start a worker of the build that it runs on; if it runs on none yet, promote a build that has workers, or end the ramp to one that has none; for the queue of a venue, start workers whose venues file has it',
};

/** A run that cannot go on, as it is stored. */
export interface StuckRun {
  readonly cause: StuckCause;
  /** When a look first found it so; any timestamp that `Date` reads. */
  readonly since: string;
}

/** Returns what is wrong with a stuck run and what to do. Null: no cause is stored. */
export function stuckSentence(run: StuckRun | null): string {
  if (run === null) return 'Its run cannot go on.';
  const since = new Date(run.since).toISOString();
  return `Its run cannot go on since ${since}: ${WHY[run.cause]}. Until then nothing of it goes on, and nothing is sent twice for it. A run that is terminated is started again from the database.`;
}
