/** The executor that a node is bound to. */
import { ExecutorFault, type Executor, type ExecutorDescriptor } from '../../domain/executor.ts';
import type { PhaseRow } from '../../store/phases.ts';
import type { PhaseDependencies } from './context.ts';

/** The executor a node is bound to; a fault when this worker does not have it. */
export function executorOf(deps: PhaseDependencies, row: PhaseRow): Executor {
  const key = row.node.executor_binding.executor_key;
  const executor = deps.executors.get(key);
  if (executor === undefined)
    throw new ExecutorFault('unreachable', 'EXECUTOR_MISSING', `executor ${key} is not registered in this worker`);
  return executor;
}

/** What the registry says about the executor a node is bound to; a fault when this worker does not know it. */
export function descriptorOf(deps: PhaseDependencies, row: PhaseRow): ExecutorDescriptor {
  const key = row.node.executor_binding.executor_key;
  const descriptor = deps.executors.describe(key);
  if (descriptor === undefined)
    throw new ExecutorFault('unreachable', 'EXECUTOR_MISSING', `executor ${key} is not registered in this worker`);
  return descriptor;
}
