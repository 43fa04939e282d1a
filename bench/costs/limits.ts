/** Upper bounds that CI holds; lower them when a change makes a movement cheaper. */
export const COST_LIMITS = {
  /** Measured 13.3: the movement's own events, spread over three nodes. */
  events_a_node: 14,
  /** Measured 3,354; names of hosts and processes are part of it. */
  bytes_a_node: 3_700,
  /** Measured 3: submit alone is a regular activity. */
  dispatches_a_movement: 3,
  /** Measured 5, of which one begins the run and one takes the approval. */
  workflow_tasks_a_movement: 6,
  /** Of everything that is done for a movement, over its phases. Measured 1.83. */
  sql_a_phase: 2,
  /** Measured 22: fifteen of the phases, two of the loads, five of the decisions. */
  sql_a_movement: 22,
} as const;
