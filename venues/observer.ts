/** Executors of observe nodes: they look for an effect and never send. */
import type { Executor, ExecutorDescriptor } from '../domain/executor.ts';
import { rejected } from './node-plan.ts';

/** Returns the descriptor of an executor that only observes; `own`: its fields that differ. */
export function observerDescriptor(
  own: Pick<
    ExecutorDescriptor,
    | 'executor_key'
    | 'action_types'
    | 'provider'
    | 'chain_family'
    | 'timeout_seconds'
    | 'completion_assurances'
  >,
): ExecutorDescriptor {
  return {
    kind: 'local',
    same_key_safe: true,
    settle_seconds: 0,
    in_process: false,
    sends: false,
    not_payees: [],
    ...own,
  };
}

/** Returns the executor of an observe node. It refuses prepare and submit: it never sends. */
export function createObserver(
  own: Pick<Executor, 'descriptor' | 'preflight' | 'observe' | 'recover' | 'health'>,
): Executor {
  const refuse = () =>
    Promise.reject(
      rejected(
        'PHASE_NOT_SUPPORTED',
        `${own.descriptor.action_types.join(', ')} only observes: use it in an observe node`,
      ),
    );
  return {
    ...own,
    prepare: refuse,
    submit: refuse,
    cancel: () => Promise.resolve({ next_state: 'OBSERVING' }),
  };
}
