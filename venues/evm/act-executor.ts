/** What all executors of the service that send acts to a chain have in common. */
import type { ExecutorDescriptor } from '../../domain/executor.ts';

export const ACT_EXECUTOR = {
  kind: 'local',
  chain_family: 'evm',
  // Its bytes are stored before they are sent, and one nonce lands once.
  same_key_safe: true,
  // Recover never believes a "not found": it asks who used the nonce in a finalized block.
  settle_seconds: 0,
  timeout_seconds: 30,
  // The module is, but its endpoints are elsewhere and may take seconds.
  in_process: false,
  sends: true,
  not_payees: [],
} as const satisfies Partial<ExecutorDescriptor>;
