/** Calls activities on another team's task queue through Temporal. */
import { randomUUID } from 'node:crypto';
import { extname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { installRuntime } from '../runtime.ts';
import type { executorCheckCall, QueueCall, QueueOutcome } from './call-workflow.ts';
import type { CheckOptions } from './options.ts';

export interface QueueCaller {
  /** Calls an activity once. `signal` only stops the waiting; the activity continues. */
  call(call: QueueCall, signal?: AbortSignal): Promise<QueueOutcome>;
  /** Starts a call, and after `ms` terminates the run that waits for its answer. */
  abandon(call: QueueCall, ms: number): Promise<void>;
  /** Returns whether a worker has polled the queue recently. */
  hasWorker(taskQueue: string): Promise<boolean>;
  close(): Promise<void>;
}

/** The workflow's file: TypeScript in the service's clone, JavaScript in the kit's package. */
const WORKFLOW = `./call-workflow${extname(import.meta.url)}`;

/**
 * Connects, and starts a worker for the check's own workflow on its own task queue.
 *
 * @throws Error when Temporal cannot be reached.
 */
export async function openQueueCaller({
  temporalAddress: address,
  namespace,
}: CheckOptions): Promise<QueueCaller> {
  installRuntime('ERROR');
  const connection = await Connection.connect({ address, connectTimeout: '5 seconds' }).catch(
    () => {
      throw new Error(
        `no Temporal server answers at ${address}; --temporal-address says where it is`,
      );
    },
  );
  const client = new Client({ connection, namespace });
  const native = await NativeConnection.connect({ address });
  const taskQueue = `executor-check-${randomUUID()}`;
  const workflowsPath = fileURLToPath(new URL(WORKFLOW, import.meta.url));
  const worker = await Worker.create({
    connection: native,
    namespace,
    taskQueue,
    workflowsPath,
    shutdownForceTime: '2 seconds',
  });
  const running = worker.run();
  const start = (call: QueueCall) =>
    client.workflow.start<typeof executorCheckCall>('executorCheckCall', {
      taskQueue,
      workflowId: randomUUID(),
      args: [call],
    });
  return {
    call: async (call, signal) => {
      const run = await start(call);
      return signal === undefined ? run.result() : Promise.race([run.result(), aborted(signal)]);
    },
    abandon: async (call, ms) => {
      const run = await start(call);
      await sleep(ms);
      await run.terminate('its answer is not wanted').catch(() => undefined);
    },
    hasWorker: async (name) => {
      const { pollers } = await connection.workflowService.describeTaskQueue({
        namespace,
        taskQueue: { name },
        taskQueueType: 2,
      });
      return (pollers ?? []).length > 0;
    },
    close: async () => {
      worker.shutdown();
      await running;
      await Promise.all([native.close(), connection.close()]);
    },
  };
}

async function aborted(signal: AbortSignal): Promise<QueueOutcome> {
  if (!signal.aborted)
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  return { ok: false, kind: 'timeout', type: 'ABORTED', message: 'the caller stopped waiting' };
}
