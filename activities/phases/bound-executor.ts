/** The executor that a node is bound to. */
import { ExecutorFault, type Executor, type ExecutorDescriptor } from '../../domain/executor.ts';
import type { PhaseRow } from '../../store/phases.ts';
import type { PhaseDependencies } from './context.ts';

/** The executor a node is bound to; a fault when this worker does not have it. */
export function executorOf({ executors }: PhaseDependencies, row: PhaseRow): Executor {
  return boundTo(row, (key) => executors.get(key));
}

/**
 * What the registry says about the executor a node is bound to; a fault when this worker does not
 * know it.
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
