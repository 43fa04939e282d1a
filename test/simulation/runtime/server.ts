/**
 * The Temporal server and its workers, as far as the service can tell: runs by workflow id, tasks
 * and activities delivered at least once, time-outs, retries, signals. Workflow code runs in the
 * SDK's sandbox (execution.ts); activities are the service's own, called by the SDK's own class.
 */
import { createRequire } from 'node:module';
import {
  defaultPayloadConverter,
  noopMetricMeter,
  toPayloads,
  type Logger as SdkLogger,
} from '@temporalio/common';
import {
  decodeArrayFromPayloads,
  loadDataConverter,
} from '@temporalio/common/lib/internal-non-workflow/index.js';
import type { temporal } from '@temporalio/proto';
import type { Activity as SdkActivity } from '@temporalio/worker/lib/activity.js';
import { TASK_QUEUE } from '../../../domain/messages.ts';
import { inProcess, type Machine, type Process, type Timer } from '../machine/machine.ts';
import {
  Execution,
  type ActivityCall,
  type ActivityEnd,
  type CallOptions,
  type Event,
} from './execution.ts';
import type { Sandbox } from './sandbox.ts';

type Failure = temporal.api.failure.v1.IFailure;
type Payload = temporal.api.common.v1.IPayload;
type Activities = Readonly<Record<string, ((args: never) => Promise<unknown>) | undefined>>;

const { Activity } = createRequire(import.meta.url)('@temporalio/worker/lib/activity.js') as {
  readonly Activity: typeof SdkActivity;
};
const CONVERTER = loadDataConverter();
const SILENT = {
  ...{ log: nothing, trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing },
} as unknown as SdkLogger;

/** How long a worker may take for a workflow task, in milliseconds. */
const TASK_MS = 10_000;
/**
 * Milliseconds after a worker's last poll in which the server still puts tasks of the runs in its
 * cache into its own queue, and for how long such a task waits there. Values of server and SDK.
 */
const [LEFT_AFTER_MS, STICKY_MS] = [10_000, 10_000];
/**
 * The polls of a worker and how long one lasts: a frozen worker is sent tasks on those that are
 * open, and does nothing with them.
 */
const [POLLS, POLL_MS] = [10, 60_000];
/** How much likelier the worker that has a run in its cache takes its task than another one. */
const KEEPS = 5;
/** The part of a task's time after which a worker extends it, as Core has it. */
const EXTEND = 0.8;
/** The part of the heartbeat time-out between two heartbeats of a worker, as Core has it. */
const THROTTLE = 0.8;
/** `TimeoutType` of the API. */
const [START_TO_CLOSE, HEARTBEAT] = [1, 4];

/** A worker process: it takes tasks while it is up. */
export interface Worker {
  readonly process: Process;
  readonly activities: Activities;
}

/** An activity of a run, from its schedule to its end. */
interface Scheduled {
  readonly call: ActivityCall;
  attempt: number;
  /** The attempt that a worker has; null while none has. */
  running: Attempt | null;
  isOver: boolean;
}

interface Attempt {
  readonly worker: Worker;
  readonly cancel: () => void;
  readonly limits: Timer[];
  heartbeat: Timer | null;
}

interface Limit {
  cancel(): void;
}

interface Run {
  readonly workflowId: string;
  readonly execution: Execution;
  /** The worker that has the run in its cache. */
  cachedBy: Worker | null;
  /** Of the workflow task under way; an older worker's report has another one. */
  task: number;
  isQueued: boolean;
  /** How often a task of it was queued. */
  queued: number;
  readonly localCalls: Set<number>;
  /** Local activities under way, also those of tasks that their worker has lost. */
  readonly locals: Set<{ readonly worker: Worker; readonly task: number }>;
  readonly activities: Map<number, Scheduled>;
  readonly timers: Set<number>;
}

export interface ServerOptions {
  readonly machine: Machine;
  readonly sandbox: Sandbox;
  /** Events after which the server suggests a new run. */
  readonly suggestsNewRunAfter?: number;
}

export class Server {
  readonly #machine: Machine;
  readonly #sandbox: Sandbox;
  readonly #options: ServerOptions;
  readonly #runs = new Map<string, Run[]>();
  #workers: Worker[] = [];
  readonly #sentToFrozen = new Map<Process, number>();
  #tasks = 0;
  #runNumber = 0;

  constructor(options: ServerOptions) {
    this.#machine = options.machine;
    this.#sandbox = options.sandbox;
    this.#options = options;
  }

  addWorker(worker: Worker): void {
    this.#workers.push(worker);
  }

  /** All runs of a workflow id with how each is, oldest first. */
  runs(workflowId: string): readonly { status: string; events: readonly Event[] }[] {
    return (this.#runs.get(workflowId) ?? []).map(({ execution: { status, history } }) => ({
      status: status ?? 'RUNNING',
      events: history,
    }));
  }

  /** How the newest run is: RUNNING, or how it closed; null when there is none. */
  statusOf(workflowId: string): string | null {
    const run = this.#newest(workflowId);
    return run === undefined ? null : (run.execution.status ?? 'RUNNING');
  }

  /** Whether the newest run has no workflow task that waits or is under way. */
  isQuiet(workflowId: string): boolean {
    const execution = this.#newest(workflowId)?.execution;
    return execution !== undefined && !execution.taskIsScheduled && !execution.taskIsUnderWay;
  }

  /** The ids of workflows with an open run. */
  running(): readonly string[] {
    return [...this.#runs.keys()].filter((id) => this.statusOf(id) === 'RUNNING');
  }

  /** Starts the workflow where it has no open run, and signals it. */
  signalWithStart(
    type: string,
    workflowId: string,
    args: readonly unknown[],
    signal: string,
    signalArgs: readonly unknown[],
  ): void {
    let run = this.#newest(workflowId);
    const isNew = run === undefined || run.execution.status !== null;
    if (run === undefined || isNew) run = this.#start(type, workflowId, payloadsOf(args));
    run.execution.signal(signal, payloadsOf(signalArgs));
    if (isNew) run.execution.scheduleFirstTask();
    this.#after(run);
  }

  /** @returns false when no run is open. */
  signal(workflowId: string, signal: string, args: readonly unknown[]): boolean {
    const run = this.#newest(workflowId);
    if (run?.execution.signal(signal, payloadsOf(args)) !== true) return false;
    this.#after(run);
    return true;
  }

  /** The namespace is wiped: no run was ever started. */
  forgetAll(): void {
    for (const run of [...this.#runs.values()].flat()) {
      run.execution.vanish();
      run.task = 0;
      this.#close(run);
    }
    this.#runs.clear();
  }

  async close(): Promise<void> {
    for (const run of [...this.#runs.values()].flat()) await run.execution.forget();
  }

  #newest(workflowId: string): Run | undefined {
    return this.#runs.get(workflowId)?.at(-1);
  }

  #start(type: string, workflowId: string, args: readonly Payload[]): Run {
    this.#runNumber += 1;
    const execution = new Execution(this.#sandbox, {
      workflowId,
      runId: `00000000-0000-4000-8000-${String(this.#runNumber).padStart(12, '0')}`,
      workflowType: type,
      taskQueue: TASK_QUEUE,
      startedAt: this.#machine.now,
      args,
      ...(this.#options.suggestsNewRunAfter === undefined
        ? {}
        : { suggestsNewRunAfter: this.#options.suggestsNewRunAfter }),
    });
    const run: Run = {
      workflowId,
      execution,
      cachedBy: null,
      task: 0,
      isQueued: false,
      queued: 0,
      localCalls: new Set(),
      locals: new Set(),
      activities: new Map(),
      timers: new Set(),
    };
    this.#runs.set(workflowId, [...(this.#runs.get(workflowId) ?? []), run]);
    return run;
  }

  readonly #hasWorker = (): boolean => this.#workers.some(this.#polls);

  /** Whether a task reaches the worker. */
  readonly #polls = ({ process }: Worker): boolean => {
    const frozenAt = this.#machine.frozenAt(process);
    if (frozenAt === null) return process.state === 'up';
    const isOpen = this.#machine.now < frozenAt + POLL_MS;
    return isOpen && (this.#sentToFrozen.get(process) ?? 0) < POLLS;
  };

  /** `cachedBy`: the worker whose own queue a task is in; now and then another one takes it. */
  #pickWorker(cachedBy: Worker | null = null): Worker {
    this.#workers = this.#workers.filter(({ process }) => process.state !== 'dead');
    const open = this.#workers.filter(this.#polls);
    const worker = this.#machine.dice.pick(open, (each) => (each === cachedBy ? KEEPS : 1));
    const { process } = worker;
    const isFrozen = process.state === 'frozen';
    this.#sentToFrozen.set(process, isFrozen ? (this.#sentToFrozen.get(process) ?? 0) + 1 : 0);
    return worker;
  }

  /** What a change of the run leads to. */
  #after(run: Run): void {
    const { execution } = run;
    if (execution.status !== null) {
      this.#close(run);
      if (execution.status !== 'CONTINUED_AS_NEW' || this.#newest(run.workflowId) !== run) return;
      const next = this.#start(execution.workflowType, run.workflowId, execution.handedOn);
      next.execution.scheduleFirstTask();
      this.#after(next);
      return;
    }
    if (execution.taskIsScheduled && !run.isQueued) {
      run.isQueued = true;
      run.queued += 1;
      const isLeft = this.#hasJustDied(run.cachedBy);
      if (!isLeft) this.#postTask(run);
      if (execution.isSticky) this.#limitWait(run, isLeft);
    }
    for (const call of execution.calls) {
      const known = run.activities.get(call.seq);
      if (known === undefined) this.#schedule(run, call);
      else if (call.cancelRequested && known.running === null && !known.isOver) {
        known.isOver = true;
        execution.endActivity(call.seq, { cancelled: null }, false);
        return this.#after(run);
      }
    }
    for (const [seq, { fires_at: at }] of execution.timers) {
      if (run.timers.has(seq)) continue;
      run.timers.add(seq);
      this.#machine.timer({
        process: null,
        at,
        label: 'workflow timer',
        go: () => {
          if (execution.status !== null) return;
          execution.fire(seq);
          this.#after(run);
        },
      });
    }
  }

  #postTask(run: Run): void {
    this.#machine.post({
      process: null,
      label: `task of ${run.workflowId}`,
      isPossible: this.#hasWorker,
      go: () => this.#deliverTask(run),
    });
  }

  #hasJustDied(worker: Worker | null): boolean {
    const at = worker === null ? null : this.#machine.diedAt(worker.process);
    return at !== null && this.#machine.now < at + LEFT_AFTER_MS;
  }

  /**
   * Limits the wait of a task that was meant for one worker; `isLeft`: it is in the queue of a
   * worker that has died. The time counts too where the server has moved the task to all workers.
   */
  #limitWait(run: Run, isLeft: boolean): void {
    const { execution, queued } = run;
    this.#machine.timer({
      process: null,
      at: this.#machine.now + STICKY_MS,
      label: 'sticky time-out',
      go: () => {
        if (run.queued !== queued || !execution.taskIsScheduled || execution.status !== null)
          return;
        this.#machine.log(`the task of ${run.workflowId} has waited for one worker`);
        run.cachedBy = null;
        execution.scheduleAgain();
        if (isLeft) this.#postTask(run);
      },
    });
  }

  #close({ activities }: Run): void {
    for (const each of activities.values()) {
      each.isOver = true;
      stopLimits(each.running);
    }
  }

  async #deliverTask(run: Run): Promise<void> {
    const { execution } = run;
    run.isQueued = false;
    if (execution.status !== null || !execution.taskIsScheduled) return;
    const worker = this.#pickWorker(run.cachedBy);
    if (run.cachedBy !== worker) await execution.forget();
    run.cachedBy = worker;
    this.#tasks += 1;
    const task = this.#tasks;
    run.task = task;
    run.localCalls.clear();
    this.#machine.log(`  ${worker.process.name} takes it`);
    await execution.startTask(this.#machine.now);
    const limit = this.#limitTask(run, task);
    const work = (): void => {
      this.#extendInTime(run, task, worker, limit);
      this.#goOn(run, task, worker);
    };
    if (worker.process.state === 'up') return work();
    this.#machine.post({
      process: worker.process,
      label: `finds the task of ${run.workflowId}`,
      go: async () => work(),
    });
  }

  #limitTask(run: Run, task: number): Limit {
    const { execution } = run;
    return this.#limit(TASK_MS, null, async () => {
      if (run.task !== task || !execution.taskIsUnderWay) return;
      this.#machine.log(`the task of ${run.workflowId} times out`);
      run.task = 0;
      run.cachedBy = null;
      await execution.loseTask();
      this.#after(run);
    });
  }

  /** A worker extends the task before its limit, as Core does. */
  #extendInTime(run: Run, task: number, worker: Worker, limit: Limit): void {
    const { execution } = run;
    this.#limit(EXTEND * TASK_MS, worker.process, async () => {
      if (run.task !== task || !execution.taskIsUnderWay || execution.taskIsDone) return;
      limit.cancel();
      this.#machine.log(`${worker.process.name} extends the task of ${run.workflowId}`);
      await execution.heartbeat(this.#machine.now);
      this.#extendInTime(run, task, worker, this.#limitTask(run, task));
      this.#after(run);
      this.#goOn(run, task, worker);
    });
  }

  /** The worker starts the local activities that the task waits for, or reports the task. */
  #goOn(run: Run, task: number, worker: Worker): void {
    const { execution } = run;
    if (run.task !== task) return;
    // Core goes on with a run when the run's older task has come to its end.
    if ([...run.locals].some((each) => each.worker === worker && each.task !== task)) return;
    if (execution.taskIsDone) {
      this.#machine.post({
        process: worker.process,
        label: `reports the task of ${run.workflowId}`,
        go: async () => {
          if (run.task !== task) return;
          run.task = 0;
          await execution.completeTask();
          if (!execution.isCached) run.cachedBy = null;
          this.#after(run);
        },
      });
      return;
    }
    for (const call of execution.localCalls) {
      if (run.localCalls.has(call.seq)) continue;
      run.localCalls.add(call.seq);
      this.#runLocal(run, task, worker, call, 1);
    }
  }

  #runLocal(run: Run, task: number, worker: Worker, call: ActivityCall, attempt: number): void {
    const isCurrent = (): boolean => run.task === task && worker.process.state !== 'dead';
    const local = { worker, task };
    run.locals.add(local);
    const end = (how: ActivityEnd): void => {
      if (!run.locals.delete(local)) return;
      limit?.cancel();
      if (!isCurrent()) {
        if (run.task !== 0 && run.cachedBy === worker) this.#goOn(run, run.task, worker);
        return;
      }
      const again = how === null || 'completed' in how ? null : delayMs(how, call.options, attempt);
      if (again !== null) {
        this.#machine.timer({
          process: worker.process,
          at: this.#machine.now + again,
          label: 'local retry',
          go: () => {
            if (isCurrent()) this.#runLocal(run, task, worker, call, attempt + 1);
          },
        });
        return;
      }
      this.#machine.post({
        process: worker.process,
        label: `has done ${call.type} of ${run.workflowId}`,
        go: async () => {
          if (!isCurrent()) return;
          await run.execution.endLocals([[call.seq, how]], this.#machine.now);
          this.#goOn(run, task, worker);
        },
      });
    };
    const started = this.#call(run, call, { worker, attempt, isLocal: true }, nothing, end);
    const limit =
      call.options.startToCloseMs === null
        ? null
        : this.#limit(call.options.startToCloseMs, worker.process, () => {
            started.cancel();
            end({ timedOut: timedOut('StartToClose', START_TO_CLOSE) });
          });
  }

  #limit(ms: number, process: Process | null, then: () => void | Promise<void>): Limit {
    const timer = this.#machine.timer({
      process,
      at: this.#machine.now + ms,
      label: 'limit',
      go: then,
    });
    return { cancel: () => (timer.cancelled = true) };
  }

  #schedule(run: Run, call: ActivityCall): void {
    const scheduled: Scheduled = { call, attempt: 1, running: null, isOver: false };
    run.activities.set(call.seq, scheduled);
    this.#enqueue(run, scheduled);
  }

  #enqueue(run: Run, scheduled: Scheduled): void {
    this.#machine.post({
      process: null,
      label: `activity ${scheduled.call.type} of ${run.workflowId}`,
      isPossible: this.#hasWorker,
      go: async () => this.#deliver(run, scheduled),
    });
  }

  #deliver(run: Run, scheduled: Scheduled): void {
    if (scheduled.isOver) return;
    const { call, attempt } = scheduled;
    const { heartbeatMs, startToCloseMs } = call.options;
    const worker = this.#pickWorker();
    this.#machine.log(`  ${worker.process.name} takes it, attempt ${String(attempt)}`);
    const over = (how: ActivityEnd): void => this.#attemptEnded(run, scheduled, current, how);
    const beat = (): void => {
      if (heartbeatMs === null || scheduled.running !== current) return;
      if (current.heartbeat !== null) current.heartbeat.cancelled = true;
      current.heartbeat = this.#machine.timer({
        process: null,
        at: this.#machine.now + heartbeatMs,
        label: 'heartbeat time-out',
        go: () => over({ timedOut: timedOut('Heartbeat', HEARTBEAT) }),
      });
    };
    const send = (): void => {
      beat();
      const isWanted = run.execution.calls.some(
        (each) => each.seq === call.seq && !each.cancelRequested,
      );
      if (!isWanted || scheduled.running !== current) started.cancel();
    };
    const started = this.#call(
      run,
      call,
      { worker, attempt, isLocal: false },
      this.#throttled(worker.process, THROTTLE * (heartbeatMs ?? 0), send),
      (how) =>
        this.#machine.post({
          process: worker.process,
          label: `reports ${call.type} of ${run.workflowId}`,
          go: async () => over(how),
        }),
    );
    const current: Attempt = { worker, cancel: started.cancel, limits: [], heartbeat: null };
    scheduled.running = current;
    beat();
    if (startToCloseMs !== null)
      current.limits.push(
        this.#machine.timer({
          process: null,
          at: this.#machine.now + startToCloseMs,
          label: 'time-out',
          go: () => over({ timedOut: timedOut('StartToClose', START_TO_CLOSE) }),
        }),
      );
  }

  /** Sends at once, and then at most once in `ms`. */
  #throttled(process: Process, ms: number, send: () => void): () => void {
    let next = 0;
    let waits = false;
    const go = (): void => {
      waits = false;
      next = this.#machine.now + ms;
      send();
    };
    return () => {
      if (waits) return;
      if (this.#machine.now >= next) return go();
      waits = true;
      this.#machine.timer({ process, at: next, label: 'heartbeat', go });
    };
  }

  /** The server hears of an attempt's end, or notices that it is over. */
  #attemptEnded(run: Run, scheduled: Scheduled, of: Attempt, how: ActivityEnd): void {
    // The server refuses the report of an attempt that it has ended itself.
    if (scheduled.running !== of || scheduled.isOver) return;
    stopLimits(of);
    scheduled.running = null;
    const { call } = scheduled;
    const isWanted = run.execution.calls.some(
      (each) => each.seq === call.seq && !each.cancelRequested,
    );
    const again = isWanted ? delayMs(how, call.options, scheduled.attempt) : null;
    if (again === null) {
      scheduled.isOver = true;
      run.execution.endActivity(call.seq, how);
      this.#after(run);
      return;
    }
    scheduled.attempt += 1;
    this.#machine.timer({
      process: null,
      at: this.#machine.now + again,
      label: 'activity retry',
      go: () => {
        if (!scheduled.isOver) this.#enqueue(run, scheduled);
      },
    });
  }

  /** Runs the activity in its worker's process. */
  #call(
    run: Run,
    call: ActivityCall,
    { worker, attempt, isLocal }: { worker: Worker; attempt: number; isLocal: boolean },
    heartbeat: () => void,
    end: (how: ActivityEnd) => void,
  ): { cancel(): void } {
    const { type, activityId, args, options } = call;
    const info = {
      taskToken: new Uint8Array(),
      base64TaskToken: '',
      activityId,
      activityType: type,
      activityNamespace: 'default',
      namespace: 'default',
      attempt,
      isLocal,
      inWorkflow: true,
      taskQueue: TASK_QUEUE,
      workflowExecution: { workflowId: run.workflowId, runId: run.execution.runId },
      workflowNamespace: 'default',
      workflowType: run.execution.workflowType,
      scheduledTimestampMs: this.#machine.now,
      currentAttemptScheduledTimestampMs: this.#machine.now,
      scheduleToCloseTimeoutMs: 0,
      startToCloseTimeoutMs: options.startToCloseMs ?? 0,
      heartbeatTimeoutMs: options.heartbeatMs ?? undefined,
      heartbeatDetails: undefined,
    };
    const activity = new Activity(
      info as unknown as ConstructorParameters<typeof SdkActivity>[0],
      worker.activities[type] as (...args: unknown[]) => Promise<unknown>,
      CONVERTER,
      {} as never,
      undefined,
      heartbeat,
      undefined,
      SILENT,
      noopMetricMeter,
      [],
    );
    void inProcess.run(worker.process, async () => {
      const input = await decodeArrayFromPayloads(CONVERTER, [...args]);
      const { completed, failed, cancelled } = await activity.run({ args: input, headers: {} });
      if (completed != null) end({ completed: completed.result ?? null });
      else if (cancelled != null) end({ cancelled: cancelled.failure ?? null });
      else end({ failed: failed?.failure ?? {} });
    });
    return {
      cancel: () => inProcess.run(worker.process, () => activity.cancel('CANCELLED', {} as never)),
    };
  }
}

function nothing(): void {
  // Nothing is done.
}

function stopLimits(attempt: Attempt | null): void {
  if (attempt === null) return;
  for (const limit of attempt.limits) limit.cancelled = true;
  if (attempt.heartbeat !== null) attempt.heartbeat.cancelled = true;
}

function payloadsOf(values: readonly unknown[]): Payload[] {
  return toPayloads(defaultPayloadConverter, ...values) ?? [];
}

function timedOut(name: string, timeoutType: number): Failure {
  return { message: `activity ${name} timeout`, timeoutFailureInfo: { timeoutType } };
}

/** After how many milliseconds the server repeats it; null: never. */
function delayMs(how: ActivityEnd, { retry }: CallOptions, attempt: number): number | null {
  if ('completed' in how || 'cancelled' in how) return null;
  if (retry.maximumAttempts > 0 && attempt >= retry.maximumAttempts) return null;
  const info = 'failed' in how ? how.failed.applicationFailureInfo : null;
  if (info?.nonRetryable === true) return null;
  const wanted = info?.nextRetryDelay;
  if (wanted != null) return Number(wanted.seconds ?? 0) * 1_000 + (wanted.nanos ?? 0) / 1e6;
  return Math.min(retry.maximumMs, retry.initialMs * retry.coefficient ** (attempt - 1));
}
