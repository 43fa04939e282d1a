/** All executors that this process knows, of every kind, each with one key. */
import type { Executor, ExecutorDescriptor } from '../domain/executor.ts';
import {
  createRemoteExecutor,
  type RemoteExecutor,
  type RemoteExecutorSettings,
} from './remote.ts';
import { describeTaskQueue, type TaskQueueExecutorSettings } from './task-queue.ts';

export interface ExecutorRegistry {
  /** Returns every executor's descriptor, in the order of registration: always the same array. */
  list(): readonly ExecutorDescriptor[];
  /** Returns the descriptor of one executor, also of one that this process cannot call. */
  describe(executorKey: string): ExecutorDescriptor | undefined;
  /**
   * Returns the executor that this process can call; undefined for a task-queue executor, whose
   * phases run on its team's queue.
   */
  get(executorKey: string): Executor | undefined;
  /** Closes the connections of remote executors. */
  close(): Promise<void>;
}

/**
 * Builds the registry from local modules and from the registry file's entries.
 *
 * @throws Error when two executors have the same key.
 */
export function createExecutorRegistry(parts: {
  readonly locals: readonly Executor[];
  readonly remotes: readonly (RemoteExecutorSettings | TaskQueueExecutorSettings)[];
}): ExecutorRegistry {
  const keys = [...parts.locals.map(({ descriptor }) => descriptor), ...parts.remotes].map(
    (one) => one.executor_key,
  );
  const repeated = keys.find((key, index) => keys.indexOf(key) !== index);
  if (repeated !== undefined) throw new Error(`executor_key "${repeated}" is registered twice`);
  const executors = new Map(parts.locals.map((local) => [local.descriptor.executor_key, local]));
  const descriptors = new Map(
    parts.locals.map(({ descriptor }) => [descriptor.executor_key, descriptor]),
  );
  const remotes: RemoteExecutor[] = [];
  for (const declared of parts.remotes) {
    if (declared.kind === 'task_queue') {
      descriptors.set(declared.executor_key, describeTaskQueue(declared));
      continue;
    }
    const remote = createRemoteExecutor(declared);
    remotes.push(remote);
    executors.set(declared.executor_key, remote);
    descriptors.set(declared.executor_key, remote.descriptor);
  }
  const listed = Object.freeze([...descriptors.values()]);
  return {
    list: () => listed,
    describe: (executorKey) => descriptors.get(executorKey),
    get: (executorKey) => executors.get(executorKey),
    close: async () => {
      await Promise.all(remotes.map((remote) => remote.close()));
    },
  };
}
