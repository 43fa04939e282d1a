/** Upper bounds that CI holds; lower them when a change makes a movement cheaper. */
export const COST_LIMITS = {
  /** Measured 7.7: the movement's own events, spread over three nodes. */
  events_a_node: 8,
  /** Measured 2,727; names of hosts and processes are part of it. */
  bytes_a_node: 3_000,
  /** Measured 1: a chain of modules that answer at once is one activity. */
  dispatches_a_movement: 1,
  /** Measured 3: one begins the run, one takes the approval, one the end. */
  workflow_tasks_a_movement: 4,
  /** Of everything that is done for a movement, over its phases. Counted 1.08. */
  sql_a_phase: 1.09,
  /**
   * Counted 13: four of the first node, three of each of the others (the completion before reads
   * the node), two of the loads, one of the first decision.
   */
  sql_a_movement: 13,
} as const;
