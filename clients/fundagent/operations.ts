/** All operations that the agent CLI may send to the service. */
import { PROPOSE, READS, type AgentTable } from '../agent/operations.ts';

export const CLI_OPERATIONS = {
  ...READS,
  getMovementTimeline: { method: 'GET', path: '/movements/{movement_id}/timeline' },
  getMovementPlan: { method: 'GET', path: '/movements/{movement_id}/plan' },
  ...PROPOSE,
  createBridgeAttempt: {
    method: 'POST',
    path: '/agent-authorities/{authority_key}/bridge-attempt',
    writes: true,
  },
  createMovement: { method: 'POST', path: '/movements', writes: true, dryRun: true },
} as const satisfies AgentTable<string>;
export type CliOperation = keyof typeof CLI_OPERATIONS;
