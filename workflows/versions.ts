/**
 * Every version flag of the workflows, in one place. A flag guards a change in the order of
 * commands that a history of an earlier release would contradict.
 *
 * | flag | since | why | may be removed |
 * |---|---|---|---|
 * | `ask-executor-to-cancel` | 0.2.0 | a cancel asks the executors of nodes in flight, which
 * schedules an activity | once no run of 0.1.0 is open |
 * | `ask-about-unknown` | 0.3.0 | a node in UNKNOWN is asked about once a minute, which schedules
 * an activity | once no run of 0.2.0 is open |
 *
 * What can be told from a result in the history needs no flag: a load of 0.1.0 has no `conduct`
 * (details and search attributes were then written at every change), no `in_process` and no
 * `task_queue`, and its phases and decisions answer without `phase` and `begun`. From `conduct` 2
 * on (0.3.0) a run has one local activity open at a time, continues as new while it waits, and
 * begins no send once it is to; before, it had as many as nodes, and continued only after something
 * had woken it. A closed fence is then tried again also when the run itself has found that no
 * person is needed any more; before, only after a wake. From `conduct` 3 on it shows what it is
 * told of why a person is needed, and a load may say that fences are to be tried again. From
 * `conduct` 4 on (0.4.0) nodes that our own workers call are carried out by one activity each
 * (`chained`), which writes the decision behind its node and may go on to others (`carried`); the
 * first phases are then in no local activity, and no decision says what they came to (`begun`).
 */
import { patched } from '@temporalio/workflow';

const FLAGS = ['ask-executor-to-cancel', 'ask-about-unknown'] as const;

/** Whether this run was begun by, or has reached, code that has the change. */
export function has(flag: (typeof FLAGS)[number]): boolean {
  return patched(flag);
}
