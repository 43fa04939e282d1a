/**
 * Decides from what Temporal shows of a run whether the run cannot go on: its workflow tasks or its
 * activities fail again and again, or no worker takes them. Says so of one that is not seen, too.
 */
import { storable } from './text.ts';

/** `not_seen`: looks at the run fail, though Temporal answers for others. */
export type StuckCause = 'nondeterminism' | 'task_fails' | 'no_worker' | 'not_seen';

/** What a run is started for. */
export type RunKind = 'movement' | 'capital_transfer';

/**
 * Failed workflow tasks in a row after which a run counts as stuck. Temporal repeats them with
 * growing pauses, so a worker that was slow or restarted has completed one long before.
 */
const MOST_FAILURES = 4;
/**
 * Attempt of an activity from which on its unexpected errors count. Temporal repeats it with
 * growing pauses, so a call that only fails has then been tried for half a minute.
 */
const MANY_ATTEMPTS = 8;
/**
 * Milliseconds for which a worker may prolong a workflow task. Only a local activity that is
 * repeated takes so long: one try has ten seconds, and its result ends the prolongation. More than
 * an outage of the database after which missing workers still count.
 */
const LONGEST_PROLONGED_MS = 150_000;

/**
 * Type of the failure that activities report of an error that no outage explains: a bug, or a right
 * that the database does not grant.
 */
export const UNEXPECTED_FAILURE = 'UNEXPECTED';

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
   * Milliseconds from the first to the last time that a worker prolonged the task, because a local
   * activity of it had not ended; null: no worker has prolonged it.
   */
  readonly prolongedMs: number | null;
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
 * An activity of a run whose last attempt ended with an {@link UNEXPECTED_FAILURE}; or sends of a
 * run, of one attempt each, that have all ended so.
 */
export interface FailingCall {
  /** The id of the run, and that of the activity, or `send`. */
  readonly call: string;
  /**
   * The attempt that runs or comes next, from 1. Of sends, the event id of the last failure: it
   * grows with each one, and is always above the number of attempts that counts.
   */
  readonly attempt: number;
  readonly message: string;
}

/** What a look is held against. */
export interface LookTerms {
  /** How long a task or a call may wait while no worker polls. */
  readonly noWorkerMs: number;
  /**
   * False: the workers may only start to poll, or to go on, so neither a missing one nor a
   * prolonged task proves anything.
   */
  readonly isSteady: boolean;
  /** The failing call of the looks before, at the first of them; null: the last look saw none. */
  readonly before: FailingCall | null;
}

/**
 * `goes_on`: a worker completed the last task. `unclear`: neither that nor a stuck run is proven,
 * so what was known before stays.
 */
export type RunVerdict =
  'goes_on' | 'unclear' | { readonly cause: StuckCause; readonly message: string | null };

/** Returns what a look at an open run proves; `task` is null when it has no unfinished one. */
export function verdictOf(
  task: PendingTask | null,
  { noWorkerMs, isSteady }: Pick<LookTerms, 'noWorkerMs' | 'isSteady'>,
): RunVerdict {
  if (task === null) return 'goes_on';
  const { attempt, failures, waitsMs, prolongedMs, hasWorker, failure } = task;
  const repeated = Math.max(0, attempt - 1);
  const failed = Math.max(repeated, (failures ?? 0) + Math.max(0, repeated - 1));
  if (failed >= MOST_FAILURES)
    return {
      cause: failure?.nondeterminism === true ? 'nondeterminism' : 'task_fails',
      message: failure?.message ?? null,
    };
  if (isSteady && prolongedMs !== null && prolongedMs > LONGEST_PROLONGED_MS)
    return { cause: 'task_fails', message: REPEATED };
  const waitsLong = waitsMs !== null && waitsMs > noWorkerMs;
  if (isSteady && waitsLong && !hasWorker)
    return { cause: 'no_worker', message: failure?.message ?? null };
  const isFresh = attempt === 1 && failures === 0 && !waitsLong && prolongedMs === null;
  return isFresh ? 'goes_on' : 'unclear';
}

const REPEATED = 'a local activity of its workflow task is repeated again and again';

/** Longest message that is stored, as the database checks it. */
export const LONGEST_MESSAGE = 500;

/**
 * Returns what a look at an open run proves of its task ({@link verdictOf}) and of its calls. A
 * queue that workers poll slowly is a backlog, however long a call waits in it.
 */
export function verdictOfRun(
  {
    task,
    calls,
    failing,
  }: {
    readonly task: PendingTask | null;
    readonly calls: readonly WaitingCalls[];
    readonly failing: FailingCall | null;
  },
  terms: LookTerms,
): RunVerdict {
  const verdict = verdictOf(task, terms);
  if (typeof verdict === 'object') return verdict;
  const { noWorkerMs, isSteady, before } = terms;
  const tried = failing !== null && failing.attempt >= MANY_ATTEMPTS ? failing : null;
  // A call that polls has many attempts, of which a single one may have failed.
  if (tried !== null && before?.call === tried.call && tried.attempt > before.attempt)
    return { cause: 'task_fails', message: tried.message };
  const left = calls.find(({ waitsMs, hasWorker }) => hasWorker === false && waitsMs > noWorkerMs);
  if (isSteady && left !== undefined)
    return {
      cause: 'no_worker',
      message: storable(
        `no worker polls the task queue ${left.taskQueue}, or all of its slots are in use`,
        LONGEST_MESSAGE,
      ),
    };
  // A call that was scheduled again waits anew, and proves nothing.
  const isUnclear = tried !== null || calls.some(({ hasWorker }) => hasWorker !== true);
  return isUnclear ? 'unclear' : verdict;
}

const WHY: Readonly<Record<StuckCause, string>> = {
  nondeterminism:
    'the workers run code that does not fit its history. Start workers of a build that fits it, the one before or a mended one',
  task_fails:
    "its workflow tasks, or one of its activities, fail again and again. Look at the worker's log for the cause: start a mended worker, or grant what its database role lacks",
  no_worker:
    'no worker polls for its tasks, or for the calls of one of its nodes. Start a worker of the build that it runs on; if it runs on none yet, promote a build that has workers, or end the ramp to one that has none; for the queue of a venue, start workers whose venues file has it',
  not_seen:
    'all looks at it fail, while Temporal answers for other runs. A part of Temporal is away, or refuses these looks. Mend that: each shard of the history service needs an owner, and the log of the worker has the error ("a run was not looked at")',
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
  const isSeen = run.cause !== 'not_seen';
  const cannot = isSeen ? 'cannot' : 'most likely cannot';
  // What no look sees, terminating does not reach either.
  const way = isSeen ? ' A run that is terminated is started again from the database.' : '';
  return `Its run ${cannot} go on since ${since}: ${WHY[run.cause]}. Until then at least a part of it stands still, and nothing is sent twice for it.${way}`;
}
