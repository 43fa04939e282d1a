/** Upper bounds that CI holds; lower them when a change makes a movement cheaper. */
export const COST_LIMITS = {
  /** Measured 31.3: the movement's own events, spread over three nodes. */
  events_a_node: 32,
  /** Measured 6,050; names of hosts and processes are part of it. */
  bytes_a_node: 6_600,
  /** Measured 12: each of four phases is a regular activity. */
  dispatches_a_movement: 12,
  /** Measured 14, of which one begins the run and one takes the approval. */
  workflow_tasks_a_movement: 15,
  /** Measured 2.5; the goal is 2. */
  sql_a_phase: 2.5,
  /** Measured 37: thirty of the phases, two of the loads, five of the decisions. */
  sql_a_movement: 37,
} as const;
