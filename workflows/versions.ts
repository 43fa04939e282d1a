/**
 * Every version flag of the workflows, in one place. A flag guards a change in the order of commands
 * that a history of an earlier release would contradict.
 *
 * | flag | since | why | may be removed |
 * |---|---|---|---|
 * | `ask-executor-to-cancel` | 0.2.0 | a cancel asks the executors of nodes in flight, which schedules an activity | once no run of 0.1.0 is open |
 *
 * What can be told from a result in the history needs no flag: a load of 0.1.0 has no `conduct` (details and
 * search attributes were then written at every change), no `in_process` and no `task_queue`, and its
 * phases and decisions answer without `phase` and `begun`.
 */
import { patched } from '@temporalio/workflow';

const FLAGS = ['ask-executor-to-cancel'] as const;

/** Whether this run was begun by, or has reached, code that has the change. */
export function has(flag: (typeof FLAGS)[number]): boolean {
  return patched(flag);
}
