/** The process that runs workflows and activities. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PayloadCodec } from '@temporalio/common';
import {
  GracefulShutdownPeriodExpiredError,
  NativeConnection,
  Worker,
  type ActivityInterceptorsFactory,
  type WorkerOptions as SdkOptions,
} from '@temporalio/worker';
import type { Logger } from 'pino';
import type { Build } from '../domain/builds.ts';
import {
  TASK_QUEUE,
  venueTaskQueue,
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

/** Runs that a worker keeps in memory; docs/performance.md has the measurements behind it. */
const CACHED_WORKFLOWS = 2_000;
/** At most so many tasks of each kind run at once. */
const MOST_TASKS = 200;
/**
 * Workflow tasks that run at once on a machine whose processors are in full use. The
 * server gives a task that takes longer than ten seconds to a worker anew, and what was done is
 * lost: where too many share a processor, each takes that long, and none ever ends.
 */
const TASKS_WHEN_BUSY = 10;
/**
 * The SDK counts the machine as busy from 0.01 below this share of the processors, and from 0.05
 * below that of memory. Memory is in the runs that are kept, so fewer tasks would free none.
 */
const BUSY = { targetCpuUsage: 0.86, targetMemoryUsage: 1 };

/** Returns the limits of a worker that runs so many activities at once. */
export function workerTuning(
  activities = MOST_TASKS,
): Pick<SdkOptions, 'maxCachedWorkflows' | 'nonStickyToStickyPollRatio' | 'tuner'> {
  return {
    maxCachedWorkflows: CACHED_WORKFLOWS,
    // Each poll holds a slot: by the SDK's 0.2 most of ten would wait for tasks of runs that are
    // kept, and after a restart none is.
    nonStickyToStickyPollRatio: 0.5,
    tuner: {
      workflowTaskSlotSupplier: {
        type: 'resource-based',
        tunerOptions: BUSY,
        minimumSlots: TASKS_WHEN_BUSY,
        maximumSlots: MOST_TASKS,
      },
      activityTaskSlotSupplier: { type: 'fixed-size', numSlots: activities },
      localActivityTaskSlotSupplier: { type: 'fixed-size', numSlots: MOST_TASKS },
      // Required by the type; the service has no Nexus tasks.
      nexusTaskSlotSupplier: { type: 'fixed-size', numSlots: 1 },
    },
  };
}

/** How fast the activities of a venue's own task queue run. */
export interface VenueTaskQueue {
  readonly venue_key: string;
  /** Activities that start in a second, over all workers together; Temporal's server counts. */
  readonly per_second: number;
  /** Activities that run at once in this process, beside those of its other queues. */
  readonly slots: number;
}

export interface WorkerOptions {
  /** Returns the current address and credentials of the Temporal server. */
  readonly access: () => TemporalAccess;
  /** Returns why the server cannot be reached, for the log. */
  readonly explain?: (error: unknown) => Promise<TemporalFault>;
  readonly activities: MovementActivities & Partial<CapitalTransferActivities>;
  /** Requires a bundle that knows of it (`versioned`) when there is a build. */
  readonly workflowBundle: { readonly code: string };
  /**
   * The build under which the worker is registered: runs that it starts stay on this build. Absent:
   * the worker takes any task of its queue.
   */
  readonly build?: Build | null | undefined;
  /** Activities that run at once; as {@link workerTuning} has it when left out. */
  readonly slots?: number | undefined;
  /** Venues with a task queue of their own, whose activities this process runs, too. */
  readonly queues?: readonly VenueTaskQueue[];
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

/**
 * Returns the SDK's options for a worker of this build. Activities run on the build of their run,
 * since they share its task queue.
 */
function buildOptions(build: Build | null): Pick<SdkOptions, 'workerDeploymentOptions'> {
  if (build === null) return {};
  return {
    workerDeploymentOptions: {
      version: { deploymentName: build.deployment, buildId: build.build },
      useWorkerVersioning: true,
      defaultVersioningBehavior: 'PINNED',
    },
  };
}

/** Creates a worker for {@link TASK_QUEUE}, and one without workflows for each venue's queue. */
function createWorkers(
  options: WorkerOptions,
  link: Pick<SdkOptions, 'connection' | 'namespace'>,
): Promise<readonly Worker[]> {
  const { payloadCodec, activityInterceptor, stopSeconds, queues = [] } = options;
  const common = {
    ...link,
    activities: { ...options.activities },
    ...(payloadCodec === undefined
      ? {}
      : {
          dataConverter: {
            payloadCodecs: [payloadCodec],
            failureConverterPath: FAILURE_CONVERTER,
          },
        }),
    ...(activityInterceptor === undefined
      ? {}
      : { interceptors: { activity: [activityInterceptor] } }),
    ...buildOptions(options.build ?? null),
    // `leaving` abandons repeatable calls; the SDK aborts no send before its time limit.
    shutdownGraceTime: stopSeconds * 1_000,
    shutdownForceTime: stopSeconds * 1_000,
  };
  return createAll([
    {
      ...common,
      taskQueue: TASK_QUEUE,
      workflowBundle: options.workflowBundle,
      ...workerTuning(options.slots),
    },
    ...queues.map((queue) => ({
      ...common,
      taskQueue: venueTaskQueue(queue.venue_key),
      maxTaskQueueActivitiesPerSecond: queue.per_second,
      maxConcurrentActivityTaskExecutions: queue.slots,
    })),
  ]);
}

/** Creates all workers or none. */
async function createAll(each: readonly SdkOptions[]): Promise<readonly Worker[]> {
  const workers: Worker[] = [];
  try {
    for (const options of each) workers.push(await Worker.create(options));
    return workers;
  } catch (error) {
    // Until it has run, a worker keeps its connection open.
    await Promise.allSettled(workers.map((worker) => worker.runUntil(Promise.resolve())));
    throw error;
  }
}

/**
 * Runs the workers until all have stopped. When one fails, the others stop too. Throws the first
 * fault, and before all others that the time to stop was over.
 */
async function runAll(workers: readonly Worker[]): Promise<void> {
  const ends = await Promise.allSettled(
    workers.map((worker) => worker.run().finally(() => stopAll(workers))),
  );
  const faults = ends.filter((end) => end.status === 'rejected');
  const first =
    faults.find(({ reason }) => reason instanceof GracefulShutdownPeriodExpiredError) ?? faults[0];
  if (first !== undefined) throw first.reason;
}

function stopAll(workers: readonly Worker[]): void {
  for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
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
  const { leaving, stopSeconds } = options;
  /** Empty while not connected. */
  let workers: readonly Worker[] = [];
  let connection: NativeConnection | null = null;
  let stopped = false;
  let outOfTime = false;
  const pause = new AbortController();
  const use = async (renewed: TemporalAccess): Promise<void> => {
    // An unconnected worker needs no change: it reads the current access when it connects.
    if (workers.length === 0) return;
    const next = await NativeConnection.connect(connectionOptions(renewed));
    const old = connection;
    if (workers.length === 0 || old === null) return next.close();
    for (const worker of workers) worker.connection = next;
    connection = next;
    await old.close();
  };
  const cycle = async (): Promise<void> => {
    const access = options.access();
    connection = await NativeConnection.connect(connectionOptions(access));
    try {
      await options.beforeWork();
      workers = await createWorkers(options, { connection, namespace: access.namespace });
      if (options.access() !== access) await use(options.access());
      if (!stopped) await runAll(workers);
    } finally {
      workers = [];
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
    isRunning: () =>
      workers.length > 0 && workers.every((worker) => worker.getState() === 'RUNNING'),
    use,
    async stop() {
      stopped = true;
      pause.abort();
      stopAll(workers);
      leaving.leave();
      // Without a connection no worker runs now, but sends of an earlier worker may still run.
      const ended = Promise.all([workers.length === 0 ? undefined : done, leaving.whenSent()]);
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
