/** The process that runs workflows and activities. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PayloadCodec } from '@temporalio/common';
import {
  GracefulShutdownPeriodExpiredError,
  NativeConnection,
  Worker,
  type ActivityInterceptorsFactory,
} from '@temporalio/worker';
import type { Logger } from 'pino';
import {
  TASK_QUEUE,
  type CapitalTransferActivities,
  type MovementActivities,
} from '../domain/messages.ts';
import type { TemporalAccess } from '../platform/config.ts';
import { SearchAttributeFault } from '../platform/search-attributes.ts';
import { connectionOptions } from '../platform/temporal-access.ts';
import type { TemporalFault } from '../platform/temporal-faults.ts';
import { TimeLimitError, within } from '../platform/time-limit.ts';
import { FAILURE_CONVERTER } from './bundle.ts';
import { nameOf, type Leaving } from './leaving.ts';

const RETRY_MS = 500;
/**
 * Milliseconds between tries while an operator has to act first; long, so that the log stays short.
 */
const OPERATOR_RETRY_MS = 10_000;
/** Milliseconds that the SDK gets to close after `stopSeconds`. */
const CLOSE_MS = 1_000;

/** Limits of every worker; docs/performance.md has the measurements behind them. */
export const WORKER_TUNING = {
  maxCachedWorkflows: 2_000,
  maxConcurrentWorkflowTaskExecutions: 200,
  maxConcurrentActivityTaskExecutions: 200,
  maxConcurrentLocalActivityExecutions: 200,
} as const;

export interface WorkerOptions {
  /** Returns the current address and credentials of the Temporal server. */
  readonly access: () => TemporalAccess;
  /** Returns why the server cannot be reached, for the log. */
  readonly explain?: (error: unknown) => Promise<TemporalFault>;
  readonly activities: MovementActivities & Partial<CapitalTransferActivities>;
  readonly workflowBundle: { readonly code: string };
  /** Encrypts payloads; requires a bundle that also encrypts failures (`encodeFailures`). */
  readonly payloadCodec?: PayloadCodec | undefined;
  /** Is called around every activity (for tracing). */
  readonly activityInterceptor?: ActivityInterceptorsFactory | undefined;
  readonly log: Logger;
  /** Decides what happens to running activities when the worker stops. */
  readonly leaving: Leaving;
  /** Longest time, in seconds, that a stopping worker waits for running activities. */
  readonly stopSeconds: number;
  /** Called after the worker has connected and before it takes work; repeated until it succeeds. */
  readonly beforeWork: () => Promise<void>;
}

export interface RunningWorker {
  /** Returns whether the worker is polling for work now. */
  isRunning(): boolean;
  /** Moves to a connection with a renewed key or certificate; running work continues. */
  use(renewed: TemporalAccess): Promise<void>;
  /**
   * Stops polling, abandons repeatable calls and waits for sends. Returns the names of the sends
   * that had not ended after `stopSeconds`.
   */
  stop(): Promise<readonly string[]>;
}

/**
 * Connects to Temporal, however long that takes, and works until it is stopped. A worker that fails
 * is replaced.
 */
export function startWorker(options: WorkerOptions): RunningWorker {
  const { payloadCodec, leaving, stopSeconds } = options;
  let worker: Worker | null = null;
  let connection: NativeConnection | null = null;
  let stopped = false;
  let outOfTime = false;
  const pause = new AbortController();
  const use = async (renewed: TemporalAccess): Promise<void> => {
    // An unconnected worker needs no change: it reads the current access when it connects.
    if (worker === null) return;
    const next = await NativeConnection.connect(connectionOptions(renewed));
    const old = connection;
    if (worker === null || old === null) return next.close();
    worker.connection = next;
    connection = next;
    await old.close();
  };
  const cycle = async (): Promise<void> => {
    const access = options.access();
    connection = await NativeConnection.connect(connectionOptions(access));
    try {
      await options.beforeWork();
      worker = await Worker.create({
        connection,
        namespace: access.namespace,
        taskQueue: TASK_QUEUE,
        activities: { ...options.activities },
        workflowBundle: options.workflowBundle,
        ...(payloadCodec === undefined
          ? {}
          : {
              dataConverter: {
                payloadCodecs: [payloadCodec],
                failureConverterPath: FAILURE_CONVERTER,
              },
            }),
        ...(options.activityInterceptor === undefined
          ? {}
          : { interceptors: { activity: [options.activityInterceptor] } }),
        ...WORKER_TUNING,
        // `leaving` abandons repeatable calls; the SDK aborts no send before its time limit.
        shutdownGraceTime: stopSeconds * 1_000,
        shutdownForceTime: stopSeconds * 1_000,
      });
      if (options.access() !== access) await use(options.access());
      if (!stopped) await worker.run();
    } finally {
      worker = null;
      const last: NativeConnection = connection;
      connection = null;
      await last.close();
    }
  };
  const run = async (): Promise<void> => {
    while (!stopped) {
      let retryMs = RETRY_MS;
      try {
        await cycle();
      } catch (error) {
        outOfTime = error instanceof GracefulShutdownPeriodExpiredError;
        if (error instanceof SearchAttributeFault) {
          retryMs = OPERATOR_RETRY_MS;
          options.log.error(`the worker takes no work: ${error.message}`);
        } else if (!stopped) {
          const { setting, message } = (await options.explain?.(error)) ?? {};
          options.log.warn(
            { err: error, ...(setting === undefined ? {} : { fault: `${setting}: ${message}` }) },
            'the worker is not connected; it tries again',
          );
        }
      }
      await sleep(retryMs, undefined, { signal: pause.signal }).catch(() => undefined);
    }
  };
  const done = run();
  return {
    isRunning: () => worker?.getState() === 'RUNNING',
    use,
    async stop() {
      stopped = true;
      pause.abort();
      if (worker?.getState() === 'RUNNING') worker.shutdown();
      leaving.leave();
      // Without a connection no worker runs now, but sends of an earlier worker may still run.
      const ended = Promise.all([worker === null ? undefined : done, leaving.whenSent()]);
      try {
        await within(ended, stopSeconds * 1_000 + CLOSE_MS);
      } catch (error) {
        if (!(error instanceof TimeLimitError)) throw error;
        outOfTime = true;
      }
      if (!outOfTime) return [];
      const sends = leaving.sends.map(nameOf);
      return sends.length > 0 ? sends : ['activities that had not reported their end to Temporal'];
    },
  };
}
