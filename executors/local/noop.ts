/** An executor that has nothing to do: `noop` nodes and the gate that a person opens. */
import { LEAST_ASSURANCES, type ExecutionResult, type Executor } from '../../domain/executor.ts';

const COMPLETED: ExecutionResult = { next_state: 'COMPLETED', output: {} };

/**
 * `builtin.noop`: passes every check and completes in submit, without any effect anywhere. Never
 * throws.
 */
export function createNoopExecutor(): Executor {
  return {
    descriptor: {
      executor_key: 'builtin.noop',
      kind: 'local',
      action_types: ['noop', 'manual_gate'],
      same_key_safe: true,
      settle_seconds: 0,
      timeout_seconds: 5,
      in_process: true,
      sends: false,
      not_payees: [],
      completion_assurances: LEAST_ASSURANCES,
    },
    preflight: async () => null,
    prepare: async () => ({ next_state: 'SUBMITTING', prepared_action: {} }),
    submit: async () => COMPLETED,
    observe: async () => COMPLETED,
    recover: async () => COMPLETED,
    cancel: async () => COMPLETED,
    health: async () => ({ state: 'up' }),
  };
}
