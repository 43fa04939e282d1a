/**
 * One workflow run, as the Temporal server and a worker's Core keep it: a history, tasks, timers,
 * activities, and the sandbox that a worker has cached. It has no clock and starts nothing by
 * itself: whoever drives it says what happens next, and at what time.
 *
 * What is modelled is what temporal.io documents and the recorded histories show:
 * - what arrives while a workflow task is under way is kept aside and joins the history behind the
 *   task's own events, activities' ends last;
 * - a task that would close the run while something is kept aside fails (UNHANDLED_COMMAND), its
 *   worker forgets the run, and its local activities run again;
 * - a local activity belongs to its task: its marker is written when the task completes;
 * - a worker extends a task whose local activities take long: what the task has done so far is
 *   written, and another task follows at once;
 * - a task of the queue of one worker that times out is scheduled again as a new one; of a task of
 *   the queue of all workers that times out, nothing more is written until it completes, or until
 *   something else arrives;
 * - a worker without the run in its cache replays the history.
 */
import type { coresdk, google, temporal } from '@temporalio/proto';
import { msToTs } from '@temporalio/common/lib/time.js';
import type { Command, Job, RunInfo, Sandbox, SandboxedRun } from './sandbox.ts';

type Payload = temporal.api.common.v1.IPayload;
type Failure = temporal.api.failure.v1.IFailure;

/** An event of the history; `name` is what it is of: a signal, an activity's type, a marker. */
export interface Event {
  readonly kind: string;
  readonly name?: string;
}

export interface ActivityCall {
  readonly seq: number;
  readonly activityId: string;
  readonly type: string;
  readonly args: readonly Payload[];
  readonly options: CallOptions;
}

/** Times in milliseconds; null: without a limit. */
export interface CallOptions {
  readonly taskQueue: string;
  readonly scheduleToStartMs: number | null;
  readonly startToCloseMs: number | null;
  readonly heartbeatMs: number | null;
  readonly retry: {
    readonly initialMs: number;
    readonly coefficient: number;
    readonly maximumMs: number;
    /** Zero: without a limit. */
    readonly maximumAttempts: number;
  };
}

export type ActivityEnd =
  | { readonly completed: Payload | null }
  | { readonly failed: Failure }
  | { readonly cancelled: Failure | null }
  | { readonly timedOut: Failure };

interface Activity extends ActivityCall {
  /** Its first event in the history. */
  readonly event: Event;
  readonly cancellation: number;
  state: 'scheduled' | 'ended';
  cancelRequested: boolean;
  /** Whether the workflow has its result. */
  resolved: boolean;
}

interface LocalActivity extends ActivityCall {
  end: ActivityEnd | null;
}

/** What has reached the history since the last task, as jobs for the next. */
interface Arrived {
  readonly event: Event;
  readonly before?: Event;
  readonly job: Job | null;
}

/** An activation as it was made: a replay makes it again. */
interface Past {
  readonly jobs: readonly Job[];
  readonly at: number;
  readonly historyLength: number;
  /** What it commanded, in words: a replay commands the same. */
  commanded: string;
}

interface Task {
  readonly startedAt: number;
  /** What had arrived when it started: the next task gets it again when this one is lost. */
  readonly begins: readonly Job[];
  /** Activities that its completion schedules. */
  readonly schedules: Map<number, Activity>;
  /** Repeats one that timed out: nothing of it is written before it completes. */
  readonly isTransient: boolean;
  /** Events that its completion writes, in their order. */
  readonly writes: Event[];
  readonly effects: (() => void)[];
  /** Version flags of which its completion writes markers. */
  readonly patches: Set<string>;
  readonly local: Map<number, LocalActivity>;
  readonly activations: Past[];
  closing: 'COMPLETED' | 'FAILED' | 'CONTINUED_AS_NEW' | 'CANCELED' | null;
  handedOn: readonly Payload[];
}

export interface ExecutionOptions extends RunInfo {
  readonly args: readonly Payload[];
  /** Events after which the server suggests a new run. */
  readonly suggestsNewRunAfter?: number;
  /** The build of the workers, when they have one. */
  readonly build?: temporal.api.deployment.v1.IWorkerDeploymentVersion;
}

export class Execution {
  readonly history: Event[] = [];
  /** How it closed; null while it is open. */
  status: Task['closing'] = null;
  /** Arguments of the run that follows. */
  handedOn: readonly Payload[] = [];
  readonly #sandbox: Sandbox;
  readonly #options: ExecutionOptions;
  #cached: SandboxedRun | null = null;
  /** Activations of completed tasks, to be made again by a worker that has not seen them. */
  readonly #past: Past[] = [];
  #arrived: Job[] = [];
  #aside: Arrived[] = [];
  #task: Task | null = null;
  #taskScheduled = false;
  /** Whether the next task goes to the queue of the worker that completed the last one. */
  #isSticky = false;
  /** The length of the history when a task was scheduled that has no event yet; null: none. */
  #unwrittenAt: number | null = null;
  readonly #activities = new Map<number, Activity>();
  /** Version flags that the history has markers of. */
  /** Flags of the SDK that the history names: a replay goes by the same ones. */
  readonly #flags = new Set<number>();
  readonly #patches = new Set<string>();
  readonly #timers = new Map<number, { readonly fires_at: number }>();

  constructor(sandbox: Sandbox, options: ExecutionOptions) {
    this.#sandbox = sandbox;
    this.#options = options;
    this.history.push({ kind: 'WORKFLOW_EXECUTION_STARTED' });
    this.#arrived.push({ initializeWorkflow: initOf(options) });
  }

  /** The first task is scheduled by the server together with the start. */
  scheduleFirstTask(): void {
    this.#scheduleTask();
  }

  get workflowType(): string {
    return this.#options.workflowType;
  }

  get runId(): string {
    return this.#options.runId;
  }

  get taskIsScheduled(): boolean {
    return this.#taskScheduled && this.#task === null;
  }

  /** Whether a worker has the run in its cache. */
  get isCached(): boolean {
    return this.#cached !== null;
  }

  /** Whether the scheduled task waits for the worker that completed the last one. */
  get isSticky(): boolean {
    return this.#isSticky;
  }

  get taskIsUnderWay(): boolean {
    return this.#task !== null;
  }

  /** Local activities of the task under way that have not answered. */
  get localCalls(): readonly ActivityCall[] {
    return [...(this.#task?.local.values() ?? [])].filter(({ end }) => end === null);
  }

  /** Activities that have not ended. */
  get calls(): readonly (ActivityCall & { readonly cancelRequested: boolean })[] {
    return [...this.#activities.values()].filter(({ state }) => state === 'scheduled');
  }

  /** When each timer fires, in milliseconds since 1970, by its sequence number. */
  get timers(): ReadonlyMap<number, { readonly fires_at: number }> {
    return this.#timers;
  }

  /** @returns false when the run is closed: the server refuses the signal. */
  signal(signalName: string, input: readonly Payload[]): boolean {
    if (this.status !== null) return false;
    this.#arrive({
      event: { kind: 'WORKFLOW_EXECUTION_SIGNALED', name: signalName },
      job: { signalWorkflow: { signalName, input: [...input], identity: '', headers: {} } },
    });
    return true;
  }

  /** A timer's time has come. A cancelled one is none. */
  fire(seq: number): void {
    if (!this.#timers.delete(seq)) return;
    this.#arrive({ event: { kind: 'TIMER_FIRED' }, job: { fireTimer: { seq } } });
  }

  /** How an activity ended; `isStarted`: with an attempt whose start is written now. */
  endActivity(seq: number, end: ActivityEnd, isStarted = true): void {
    const activity = this.#activities.get(seq);
    // The server refuses the answer of an activity that it does not know any longer.
    if (activity === undefined || activity.state === 'ended' || this.status !== null) return;
    activity.state = 'ended';
    const { type: name } = activity;
    this.#arrive({
      ...(isStarted ? { before: { kind: 'ACTIVITY_TASK_STARTED', name } } : {}),
      event: { kind: `ACTIVITY_TASK_${eventOf(end)}`, name },
      job: { resolveActivity: { seq, isLocal: false, result: resolutionOf(activity, end) } },
    });
  }

  /** A worker takes the scheduled task: it runs the workflow until it waits. */
  async startTask(at: number): Promise<void> {
    if (!this.taskIsScheduled) throw new Error('no workflow task is scheduled');
    this.#taskScheduled = false;
    // What arrived meanwhile makes a repeated task one like others.
    const isTransient = this.#unwrittenAt === this.history.length;
    if (this.#unwrittenAt !== null && !isTransient)
      this.history.push({ kind: 'WORKFLOW_TASK_SCHEDULED' });
    this.#unwrittenAt = null;
    if (!isTransient) this.history.push({ kind: 'WORKFLOW_TASK_STARTED' });
    const jobs = this.#arrived;
    this.#arrived = [];
    this.#task = newTask(at, jobs, new Map(), isTransient);
    await this.#ensureCached(this.#task);
    if (jobs.length > 0) await this.#activate(jobs, at);
  }

  /**
   * The worker reports what the task has done so far and gets a new one, since local activities
   * take longer than a task may.
   */
  async heartbeat(at: number): Promise<void> {
    const task = this.#task;
    if (task === null || task.closing !== null) return;
    this.#task = null;
    this.#writeCompleted(task);
    this.#flush();
    this.#scheduleTask();
    this.#taskScheduled = false;
    this.history.push({ kind: 'WORKFLOW_TASK_STARTED' });
    const jobs = this.#arrived;
    this.#arrived = [];
    this.#task = newTask(at, jobs, task.local);
    if (jobs.length > 0) await this.#activate(jobs, at);
  }

  /** Local activities of the task under way have answered; those that answered together. */
  async endLocals(ends: readonly (readonly [seq: number, end: ActivityEnd])[], at: number) {
    const task = this.#task;
    const jobs = ends.flatMap(([seq, end]) => {
      const local = task?.local.get(seq);
      if (task === null || local === undefined || local.end !== null) return [];
      local.end = end;
      task.writes.push({ kind: 'MARKER_RECORDED', name: 'core_local_activity' });
      return [{ resolveActivity: { seq, isLocal: true, result: resolutionOf(local, end) } }];
    });
    if (jobs.length > 0) await this.#activate(jobs, at);
  }

  /** Whether the worker can report the task: it waits for no local activity. */
  get taskIsDone(): boolean {
    return this.#task !== null && this.localCalls.length === 0;
  }

  /** The worker reports the task. */
  async completeTask(): Promise<void> {
    const task = this.#task;
    if (task === null || !this.taskIsDone) throw new Error('the workflow task is not done');
    this.#task = null;
    if (task.closing !== null && this.#aside.length > 0) {
      this.#writeStarted(task);
      this.history.push({ kind: 'WORKFLOW_TASK_FAILED' });
      this.#isSticky = false;
      this.#arrived = [...task.begins];
      await this.forget();
      this.#flush();
      return;
    }
    this.#writeCompleted(task);
    if (task.closing !== null) {
      this.status = task.closing;
      this.handedOn = task.handedOn;
      await this.forget();
      return;
    }
    this.#flush();
  }

  #writeStarted({ isTransient }: Task): void {
    if (isTransient)
      this.history.push({ kind: 'WORKFLOW_TASK_SCHEDULED' }, { kind: 'WORKFLOW_TASK_STARTED' });
  }

  #writeCompleted(task: Task): void {
    this.#writeStarted(task);
    this.history.push({ kind: 'WORKFLOW_TASK_COMPLETED' }, ...task.writes);
    for (const patch of task.patches) this.#patches.add(patch);
    for (const [seq, activity] of task.schedules) this.#activities.set(seq, activity);
    for (const effect of task.effects) effect();
    this.#past.push(...task.activations);
    this.#isSticky = true;
  }

  /** The worker died with the task under way; the server notices when the task's time is over. */
  async loseTask(): Promise<void> {
    const task = this.#task;
    if (task === null) return;
    this.#task = null;
    this.#arrived = [...task.begins];
    if (!task.isTransient) this.history.push({ kind: 'WORKFLOW_TASK_TIMED_OUT' });
    await this.forget();
    this.#flush();
    // The server counts no attempt for a worker's own queue, and writes nothing of later attempts.
    if (this.#isSticky) this.#scheduleTask();
    this.#isSticky = false;
    if (this.#taskScheduled) return;
    this.#taskScheduled = true;
    this.#unwrittenAt = this.history.length;
  }

  /** The scheduled task waited in the queue of a worker that never took it. */
  scheduleAgain(): void {
    if (!this.taskIsScheduled) return;
    this.history.push({ kind: 'WORKFLOW_TASK_TIMED_OUT' }, { kind: 'WORKFLOW_TASK_SCHEDULED' });
    this.#isSticky = false;
  }

  /** The server has never heard of the run: nothing of it happens from now on. */
  vanish(): void {
    this.status = 'CANCELED';
    this.#task = null;
    this.#taskScheduled = false;
    this.#aside = [];
    this.#timers.clear();
    for (const activity of this.#activities.values()) activity.state = 'ended';
  }

  /** No worker has the run in its cache: the next task replays the history. */
  async forget(): Promise<void> {
    await this.#cached?.dispose();
    this.#cached = null;
  }

  #arrive(arrived: Arrived): void {
    if (this.#task !== null) {
      this.#aside.push(arrived);
      return;
    }
    this.#write(arrived);
    this.#scheduleTask();
  }

  #write({ before, event, job }: Arrived): void {
    this.history.push(...(before === undefined ? [] : [before]), event);
    const seq = job?.resolveActivity?.seq;
    // A workflow that did not wait for a cancelled activity's end has its result already.
    const hasResult = seq != null && this.#activities.get(seq)?.resolved === true;
    if (job !== null && !hasResult) this.#arrived.push(job);
  }

  /** What was kept aside joins the history; ends of activities behind all else. */
  #flush(): void {
    if (this.#aside.length === 0) return;
    const aside = this.#aside;
    this.#aside = [];
    for (const each of aside)
      if (each.before !== undefined) this.history.push(each.before);
      else this.#write(each);
    for (const { before, event, job } of aside)
      if (before !== undefined) this.#write({ event, job });
    this.#scheduleTask();
  }

  #scheduleTask(): void {
    if (this.#taskScheduled || this.#task !== null || this.status !== null) return;
    this.#taskScheduled = true;
    this.history.push({ kind: 'WORKFLOW_TASK_SCHEDULED' });
  }

  async #ensureCached(task: Task): Promise<void> {
    if (this.#cached !== null) return;
    this.#cached = await this.#sandbox.run(this.#options);
    const patches = [...this.#patches].map((patchId) => ({ notifyHasPatch: { patchId } }));
    const past: readonly Past[] = this.#past.map((each, index) =>
      index === 0 ? { ...each, jobs: [...patches, ...each.jobs] } : each,
    );
    // What the history has no end of was under way when a task was extended: it runs again.
    for (const each of past) {
      const { commands } = await this.#cached.activate(this.#activation(each, true));
      if (wordsOf(commands) !== each.commanded)
        throw new Error(
          `the replay of ${this.#options.runId} commands ${wordsOf(commands)} in place of ${each.commanded}`,
        );
      for (const { resolveActivity } of each.jobs)
        if (resolveActivity?.isLocal === true) task.local.delete(resolveActivity.seq ?? 0);
      for (const { scheduleLocalActivity } of commands)
        if (scheduleLocalActivity != null) addLocal(task, scheduleLocalActivity);
    }
  }

  #activation({ jobs, at, historyLength }: Omit<Past, 'commanded'>, isReplaying: boolean) {
    const { runId, suggestsNewRunAfter = Infinity, build } = this.#options;
    return {
      runId,
      timestamp: msToTs(at),
      isReplaying,
      historyLength,
      continueAsNewSuggested: historyLength >= suggestsNewRunAfter,
      availableInternalFlags: [...this.#flags],
      ...(build === undefined ? {} : { deploymentVersionForCurrentTask: build }),
      jobs: inTheirOrder(jobs),
    };
  }

  async #activate(jobs: readonly Job[], at: number): Promise<void> {
    const [task, run] = [this.#task, this.#cached];
    if (task === null || run === null) throw new Error('no workflow task is under way');
    const activation: Past = { jobs, at, historyLength: this.history.length, commanded: '' };
    task.activations.push(activation);
    const { commands, flags } = await run.activate(this.#activation(activation, false));
    for (const flag of flags) this.#flags.add(flag);
    activation.commanded = wordsOf(commands);
    const resolved: Job[] = [];
    for (const command of commands) this.#carryOut(task, command, at, resolved);
    if (resolved.length > 0) await this.#activate(resolved, at);
  }

  #carryOut(task: Task, command: Command, at: number, resolved: Job[]): void {
    const {
      scheduleLocalActivity,
      scheduleActivity,
      requestCancelActivity,
      startTimer,
      cancelTimer,
      setPatchMarker,
      upsertWorkflowSearchAttributes,
      completeWorkflowExecution,
      failWorkflowExecution,
      continueAsNewWorkflowExecution,
    } = command;
    if (scheduleLocalActivity != null) {
      addLocal(task, scheduleLocalActivity);
    } else if (scheduleActivity != null) {
      const call = callOf(scheduleActivity);
      const event = { kind: 'ACTIVITY_TASK_SCHEDULED', name: call.type };
      task.writes.push(event);
      task.schedules.set(call.seq, {
        ...call,
        event,
        cancellation: scheduleActivity.cancellationType ?? 0,
        state: 'scheduled',
        cancelRequested: false,
        resolved: false,
      });
    } else if (requestCancelActivity?.seq != null) {
      const { seq } = requestCancelActivity;
      const unsent = task.schedules.get(seq);
      if (unsent !== undefined) {
        // The server has not heard of it: it is dropped.
        task.schedules.delete(seq);
        task.writes.splice(task.writes.indexOf(unsent.event), 1);
        const result = resolutionOf(unsent, { cancelled: null });
        resolved.push({ resolveActivity: { seq, isLocal: false, result } });
        return;
      }
      const activity = this.#activities.get(seq);
      const isInHistory = !this.#aside.some(({ job }) => job?.resolveActivity?.seq === seq);
      // Its end is in the history: there is nothing to cancel.
      if (activity === undefined || (activity.state === 'ended' && isInHistory)) return;
      task.writes.push({ kind: 'ACTIVITY_TASK_CANCEL_REQUESTED', name: activity.type });
      const isTried = activity.cancellation === 0;
      task.effects.push(() => {
        activity.cancelRequested = true;
        activity.resolved ||= isTried;
      });
      // TRY_CANCEL: the workflow does not wait for the activity's end.
      if (isTried)
        resolved.push({
          resolveActivity: {
            seq,
            isLocal: false,
            result: resolutionOf(activity, { cancelled: null }),
          },
        });
    } else if (startTimer?.seq != null) {
      const { seq, startToFireTimeout } = startTimer;
      const milliseconds =
        Number(startToFireTimeout?.seconds ?? 0) * 1_000 +
        (startToFireTimeout?.nanos ?? 0) / 1_000_000;
      task.writes.push({ kind: 'TIMER_STARTED' });
      task.effects.push(() => this.#timers.set(seq, { fires_at: at + milliseconds }));
    } else if (cancelTimer?.seq != null) {
      const { seq } = cancelTimer;
      task.writes.push({ kind: 'TIMER_CANCELED' });
      task.effects.push(() => {
        this.#timers.delete(seq);
        // One that has fired meanwhile is cancelled all the same.
        this.#aside = this.#aside.filter(({ job }) => job?.fireTimer?.seq !== seq);
      });
    } else if (setPatchMarker?.patchId != null) {
      const { patchId } = setPatchMarker;
      if (this.#patches.has(patchId) || task.patches.has(patchId)) return;
      task.patches.add(patchId);
      task.writes.push(
        { kind: 'MARKER_RECORDED', name: 'core_patch' },
        { kind: 'UPSERT_WORKFLOW_SEARCH_ATTRIBUTES' },
      );
    } else if (upsertWorkflowSearchAttributes != null) {
      task.writes.push({ kind: 'UPSERT_WORKFLOW_SEARCH_ATTRIBUTES' });
    } else if (completeWorkflowExecution != null) {
      this.#close(task, 'COMPLETED');
    } else if (failWorkflowExecution != null) {
      this.#close(task, 'FAILED');
    } else if (continueAsNewWorkflowExecution != null) {
      task.handedOn = continueAsNewWorkflowExecution.arguments ?? [];
      this.#close(task, 'CONTINUED_AS_NEW');
    } else {
      throw new Error(`a command that is not modelled: ${Object.keys(command).join(', ')}`);
    }
  }

  #close(task: Task, how: NonNullable<Task['closing']>): void {
    task.closing = how;
    task.writes.push({ kind: `WORKFLOW_EXECUTION_${how}` });
  }
}

function newTask(
  startedAt: number,
  begins: readonly Job[],
  local: Map<number, LocalActivity> = new Map(),
  isTransient = false,
): Task {
  const task = { startedAt, begins, isTransient, local, closing: null, handedOn: [] };
  return {
    ...task,
    schedules: new Map(),
    patches: new Set(),
    writes: [],
    effects: [],
    activations: [],
  };
}

function addLocal(task: Task, command: coresdk.workflow_commands.IScheduleLocalActivity): void {
  const call = callOf(command);
  task.local.set(call.seq, { ...call, end: null });
}

function initOf({ workflowId, runId, workflowType, args, startedAt }: ExecutionOptions) {
  return {
    workflowId,
    workflowType,
    arguments: [...args],
    randomnessSeed: msToTs(1_000).seconds ?? null,
    headers: {},
    attempt: 1,
    firstExecutionRunId: runId,
    startTime: msToTs(startedAt),
  };
}

/** Signals before what resolves, as Core hands them over. */
function inTheirOrder(jobs: readonly Job[]): Job[] {
  const rank = (job: Job): number =>
    job.initializeWorkflow != null ? 0 : job.signalWorkflow != null ? 1 : 2;
  return [...jobs].sort((a, b) => rank(a) - rank(b));
}

function callOf(
  command:
    coresdk.workflow_commands.IScheduleActivity | coresdk.workflow_commands.IScheduleLocalActivity,
): ActivityCall {
  const { retryPolicy } = command;
  const initialMs = msOf(retryPolicy?.initialInterval) ?? 1_000;
  return {
    seq: command.seq ?? 0,
    activityId: command.activityId ?? '',
    type: command.activityType ?? '',
    args: command.arguments ?? [],
    options: {
      taskQueue: 'taskQueue' in command ? (command.taskQueue ?? '') : '',
      scheduleToStartMs: msOf(command.scheduleToStartTimeout),
      startToCloseMs: msOf(command.startToCloseTimeout),
      heartbeatMs: 'heartbeatTimeout' in command ? msOf(command.heartbeatTimeout) : null,
      retry: {
        initialMs,
        coefficient: retryPolicy?.backoffCoefficient ?? 2,
        maximumMs: msOf(retryPolicy?.maximumInterval) ?? 100 * initialMs,
        maximumAttempts: retryPolicy?.maximumAttempts ?? 0,
      },
    },
  };
}

/** A duration in milliseconds; null when there is none, or it is zero. */
function msOf(duration: google.protobuf.IDuration | null | undefined): number | null {
  const ms = Number(duration?.seconds ?? 0) * 1_000 + (duration?.nanos ?? 0) / 1e6;
  return ms === 0 ? null : ms;
}

function eventOf(end: ActivityEnd): string {
  if ('completed' in end) return 'COMPLETED';
  if ('failed' in end) return 'FAILED';
  return 'cancelled' in end ? 'CANCELED' : 'TIMED_OUT';
}

/** As Core hands an activity's end to the workflow. */
function resolutionOf({ activityId, type }: ActivityCall, end: ActivityEnd) {
  if ('completed' in end) return { completed: { result: end.completed } };
  const wrapped = (message: string, cause: Failure | null): Failure => ({
    message,
    activityFailureInfo: { activityId, activityType: { name: type } },
    cause,
  });
  if ('cancelled' in end) {
    const cause = { message: 'Activity cancelled', canceledFailureInfo: {} };
    return { cancelled: { failure: wrapped('Activity cancelled', end.cancelled ?? cause) } };
  }
  return {
    failed: {
      failure: wrapped('Activity task failed', 'failed' in end ? end.failed : end.timedOut),
    },
  };
}

/** Kinds of commands with what tells one from another: replays command the same. */
function wordsOf(commands: readonly Command[]): string {
  return commands
    .flatMap((command) =>
      // A patch that the history has is not marked again.
      Object.entries(command).flatMap(([kind, value]) =>
        value == null || kind === 'setPatchMarker'
          ? []
          : [`${kind} ${nameIn(value, 'seq')} ${nameIn(value, 'activityType')}`],
      ),
    )
    .join(', ');
}

function nameIn(command: object, field: string): string {
  const value: unknown = Reflect.get(command, field);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '-';
}
