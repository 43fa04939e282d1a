/**
 * Every version flag of the workflows. A flag guards a change in the order of commands, which would
 * contradict a workflow history of an earlier release.
 *
 * | flag | since | why | may be removed |
 * |---|---|---|---|
 * | `ask-executor-to-cancel` | 0.2.0 | a cancel sends a request to the executors of nodes in
 * flight, which schedules an activity | once no run of 0.1.0 is open |
 * | `ask-about-unknown` | 0.3.0 | the run looks at an UNKNOWN node once a minute, which schedules
 * an activity | once no run of 0.2.0 is open |
 *
 * A difference that a result in the history shows needs no flag, and neither does one that a signal
 * shows: only a run whose history has the signal `leave_build`, for the build that the history
 * names, leaves its build. Code without the handler keeps the signal, and does nothing.
 * Likewise only a run whose load names a `venue_queue` calls on that queue; code that does not know
 * the field calls on the workers' own.
 * `conduct` is the version of the run's behaviour, which each load returns.
 * - 0.1.0: a load has no `conduct` (details and search attributes were written at every change), no
 *   `in_process` and no `task_queue`; phases and decisions return no `phase` and no `begun`.
 * - From `conduct` 2 on (0.3.0): a run has one local activity open at a time, continues as new
 *   while it waits, and starts no send once it should continue. Earlier runs had one local activity
 *   per node, and continued only after a wake. The run also retries a closed fence when it finds
 *   that no person is needed; earlier runs did so only after a wake.
 * - From `conduct` 3 on: the run shows the signalled reason why a person is needed, and a load may
 *   report that fences must be retried.
 * - From `conduct` 4 on (0.4.0): each node that the service's own workers call has one activity
 *   (`chained`). The activity also writes the decision that follows its node's completion, and may
 *   continue with other nodes (`carried`). No local activity runs first phases, and no decision
 *   carries their result (`begun`).
 * - From `conduct` 5 on (0.5.0): a second leg of a bridge transfer whose first leg was sent is not
 *   skipped when no path leads to it any longer, and what follows it waits for a path.
 */
import { patched } from '@temporalio/workflow';

const FLAGS = ['ask-executor-to-cancel', 'ask-about-unknown'] as const;

/** Returns whether this run was started by, or has reached, code with the change. */
export function has(flag: (typeof FLAGS)[number]): boolean {
  return patched(flag);
}
