/** The executor of `noop` nodes and of gates that a person opens; it does nothing. */
import { LEAST_ASSURANCES, type ExecutionResult, type Executor } from '../../domain/executor.ts';

const COMPLETED: ExecutionResult = { next_state: 'COMPLETED', output: {} };

/**
 * Creates `builtin.noop`, which passes every check and completes in submit, without any effect. It
 * never throws.
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
