/** Upper bounds that CI holds; lower them when a change makes a movement cheaper. */
export const COST_LIMITS = {
  /** Measured 16.3: the movement's own events, spread over three nodes. */
  events_a_node: 17,
  /** Measured 4,472; names of hosts and processes are part of it. */
  bytes_a_node: 4_900,
  /** Measured 3: submit alone is a regular activity. */
  dispatches_a_movement: 3,
  /** Measured 5, of which one begins the run and one takes the approval. */
  workflow_tasks_a_movement: 6,
  /** One statement to read and one to write. */
  sql_a_phase: 2,
  /** Measured 31: twenty-four of the phases, two of the loads, five of the decisions. */
  sql_a_movement: 32,
} as const;
