/** All executors of this process, whichever way they are provided, under one key each. */
import type { Executor, ExecutorDescriptor } from '../domain/executor.ts';
import { createRemoteExecutor, type RemoteExecutorSettings } from './remote.ts';

export interface ExecutorRegistry {
  /** Every executor's descriptor, in the order of registration. */
  list(): readonly ExecutorDescriptor[];
  get(executorKey: string): Executor | undefined;
  /** What the registry says about an executor, also of one that this process cannot call itself. */
  describe(executorKey: string): ExecutorDescriptor | undefined;
  /** Ends the connections of remote executors. */
  close(): Promise<void>;
}

/**
 * Builds the registry from local modules and the registry file's remote executors.
 *
 * @throws Error when two of them share a key.
 */
export function createExecutorRegistry(parts: {
  readonly locals: readonly Executor[];
  readonly remotes: readonly RemoteExecutorSettings[];
}): ExecutorRegistry {
  const keys = [...parts.locals.map(({ descriptor }) => descriptor), ...parts.remotes].map((one) => one.executor_key);
  const repeated = keys.find((key, index) => keys.indexOf(key) !== index);
  if (repeated !== undefined) throw new Error(`executor_key "${repeated}" is registered twice`);
  const remotes = parts.remotes.map(createRemoteExecutor);
  const executors = new Map<string, Executor>();
  for (const executor of [...parts.locals, ...remotes]) executors.set(executor.descriptor.executor_key, executor);
  return {
    list: () => [...executors.values()].map((executor) => executor.descriptor),
    get: (executorKey) => executors.get(executorKey),
    describe: (executorKey) => executors.get(executorKey)?.descriptor,
    close: async () => {
      await Promise.all(remotes.map((remote) => remote.close()));
    },
  };
}
