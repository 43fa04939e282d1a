/** Finds the executor that a node is bound to. */
import { ExecutorFault, type Executor, type ExecutorDescriptor } from '../../domain/executor.ts';
import type { PhaseRow } from '../../store/phases.ts';
import type { PhaseDependencies } from './context.ts';

/**
 * Returns the executor that the node is bound to.
 *
 * @throws ExecutorFault when this process cannot call that executor.
 */
export function executorOf({ executors }: PhaseDependencies, row: PhaseRow): Executor {
  return boundTo(row, (key) => executors.get(key));
}

/**
 * Returns the registry's description of the executor that the node is bound to.
 *
 * @throws ExecutorFault when this worker does not know that executor.
 */
export function descriptorOf({ executors }: PhaseDependencies, row: PhaseRow): ExecutorDescriptor {
  return boundTo(row, (key) => executors.describe(key));
}

function boundTo<T>(row: PhaseRow, find: (key: string) => T | undefined): T {
  const key = row.node.executor_binding.executor_key;
  const found = find(key);
  if (found === undefined)
    throw new ExecutorFault(
      'unreachable',
      'EXECUTOR_MISSING',
      `executor ${key} is not registered in this worker`,
    );
  return found;
}
