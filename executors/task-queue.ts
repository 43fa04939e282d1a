/**
 * Describes an executor that a team's own Temporal worker provides; its phases run on the team's
 * task queue, not here.
 */
import type { DeclaredFacts, ExecutorDescriptor } from '../domain/executor.ts';

/** A task-queue executor as the registry file declares it, with default values. */
export interface TaskQueueExecutorSettings extends DeclaredFacts {
  readonly executor_key: string;
  readonly kind: 'task_queue';
  readonly task_queue: string;
  readonly timeout_seconds: number;
  readonly same_key_safe: boolean;
  readonly settle_seconds: number;
  readonly usual_seconds?: number;
  readonly action_types: readonly string[];
  readonly provider?: string;
  readonly chain_family?: string;
  readonly result_secret_file?: string;
}

/** Returns the registry's descriptor of a task-queue executor. */
export function describeTaskQueue(settings: TaskQueueExecutorSettings): ExecutorDescriptor {
  return { ...settings, endpoint: `task-queue:${settings.task_queue}`, in_process: false };
}
