/** The process that runs workflows and activities. */
import { NativeConnection, Worker } from '@temporalio/worker';
import type { Logger } from 'pino';
import { TASK_QUEUE, type MovementActivities } from '../domain/messages.ts';

export interface WorkerOptions {
  readonly address: string;
  readonly namespace: string;
  readonly activities: MovementActivities;
  readonly bundlePath: string;
  readonly log: Logger;
  /** Given once connected and before work is taken; repeated until it succeeds. */
  readonly beforeWork: () => Promise<void>;
}

export interface RunningWorker {
  /** Whether it is polling for work now. */
  isRunning(): boolean;
  stop(): Promise<void>;
}

/** Connects (for as long as it takes) and works until stopped; a worker that fails is replaced. */
export function startWorker(options: WorkerOptions): RunningWorker {
  let worker: Worker | null = null;
  let stopped = false;
  const cycle = async (): Promise<void> => {
    const connection = await NativeConnection.connect({ address: options.address });
    try {
      await options.beforeWork();
      worker = await Worker.create({
        connection,
        namespace: options.namespace,
        taskQueue: TASK_QUEUE,
        activities: { ...options.activities },
        workflowBundle: { codePath: options.bundlePath },
        maxCachedWorkflows: 2_000,
        maxConcurrentWorkflowTaskExecutions: 200,
        maxConcurrentActivityTaskExecutions: 200,
        maxConcurrentLocalActivityExecutions: 200,
        shutdownGraceTime: '5 seconds',
        shutdownForceTime: '15 seconds',
      });
      if (!stopped) await worker.run();
    } finally {
      worker = null;
      await connection.close();
    }
  };
  const run = async (): Promise<void> => {
    while (!stopped) {
      try {
        await cycle();
      } catch (error) {
        if (!stopped) options.log.warn({ err: error }, 'the worker is not connected; it tries again');
      }
      if (!stopped) await new Promise((resolve) => setTimeout(resolve, 500));
    }
  };
  const done = run();
  return {
    isRunning: () => worker?.getState() === 'RUNNING',
    async stop() {
      stopped = true;
      if (worker?.getState() === 'RUNNING') worker.shutdown();
      await done;
    },
  };
}
