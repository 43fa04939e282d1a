/** Reads from Temporal what a run's unfinished workflow task and its calls wait for. */
import type { Client, Connection } from '@temporalio/client';
import proto, { type temporal } from '@temporalio/proto';
import type { Build } from '../domain/builds.ts';
import {
  isOwnQueue,
  type CapitalTransferActivities,
  type MovementActivities,
} from '../domain/messages.ts';
import {
  LONGEST_MESSAGE,
  UNEXPECTED_FAILURE,
  type FailingCall,
  type PendingTask,
  type WaitingCalls,
} from '../domain/stuck-runs.ts';
import { storable } from '../domain/text.ts';
import { hostsOnly, safeText } from './redact.ts';

const { EventType, PendingWorkflowTaskState, TaskQueueType, TimeoutType, VersioningBehavior } =
  proto.temporal.api.enums.v1;
const { WorkerVersioningMode, WorkflowTaskFailedCause: Cause } = proto.temporal.api.enums.v1;
const { PendingActivityState } = proto.temporal.api.enums.v1;
export const { TASK_QUEUE_TYPE_WORKFLOW: WORKFLOWS, TASK_QUEUE_TYPE_ACTIVITY: ACTIVITIES } =
  TaskQueueType;

/**
 * Newest events of a history that are searched for the last completed task, for how long a task is
 * prolonged (three events every eight seconds, so four minutes), and for sends that fail (under
 * twenty events each).
 */
const EVENTS = 100;
/** Activities with one attempt. After one that failed, the run makes another. */
const SENDS: ReadonlySet<string> = new Set<
  keyof MovementActivities | keyof CapitalTransferActivities
>(['submit', 'submitTransfer']);
/** Sends that an unexpected error has failed, one after the other, before a look counts them. */
const FAILED_SENDS = 3;
/** A shorter history without an unfinished task is not read: so many sends leave more events. */
const FEWEST_EVENTS = 30;
/** Time limit of a send in milliseconds, as of SUBMIT_TRANSFER_OPTIONS and of a node's submit. */
const LONGEST_SEND_MS = 300_000;
/**
 * Milliseconds within which a live worker has polled: workers poll at least once a minute. The
 * server lists a dead worker for five minutes.
 */
const POLLED_WITHIN_MS = 75_000;
/** Milliseconds that a call waits before its queue is looked at: most are taken at once. */
const LOOKED_AFTER_MS = 10_000;
/** Most queues that are looked at for one run. */
const MOST_QUEUES = 3;

/** Causes with which Temporal ends a task although its worker did nothing wrong. */
const HARMLESS: readonly unknown[] = [
  Cause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND,
  Cause.WORKFLOW_TASK_FAILED_CAUSE_RESET_STICKY_TASK_QUEUE,
  Cause.WORKFLOW_TASK_FAILED_CAUSE_FORCE_CLOSE_COMMAND,
  Cause.WORKFLOW_TASK_FAILED_CAUSE_FAILOVER_CLOSE_COMMAND,
  Cause.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW,
];

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;
type Failure = temporal.api.failure.v1.IFailure;
type Poller = temporal.api.taskqueue.v1.IPollerInfo;
type RunVersioning = temporal.api.workflow.v1.IWorkflowExecutionVersioningInfo;
type QueueVersioning = temporal.api.taskqueue.v1.ITaskQueueVersioningInfo;
type Version = temporal.api.deployment.v1.IWorkerDeploymentVersion;
type PendingActivity = temporal.api.workflow.v1.IPendingActivityInfo;
type PendingWorkflowTask = temporal.api.workflow.v1.IPendingWorkflowTaskInfo;
type QueueType = temporal.api.enums.v1.TaskQueueType;
/** Returns whether a run's tasks of this queue have a worker, as {@link PendingTask} has it. */
type HasTaker = (queue: string, type: QueueType) => Promise<boolean>;

interface Link {
  readonly connection: Connection;
  readonly client: Client;
}

export interface LookedRun {
  readonly runId: string;
  /** The run's unfinished workflow task; null: it has none. */
  readonly task: PendingTask | null;
  /** Calls on task queues of our workers that no worker has taken, by queue. */
  readonly calls: readonly WaitingCalls[];
  /** An activity, or sends, that an unexpected error failed last; null: there are none. */
  readonly failing: FailingCall | null;
}

/**
 * Returns the workflow's open run, or null when it is closed. Throws WorkflowNotFoundError when
 * there is none.
 */
export async function readPendingTask(
  { connection, client }: Link,
  { namespace, workflowId }: { readonly namespace: string; readonly workflowId: string },
): Promise<LookedRun | null> {
  const { raw, runId, status } = await client.workflow.getHandle(workflowId).describe();
  if (status.name !== 'RUNNING') return null;
  const hasTaker: HasTaker = (name, type) =>
    hasWorker({ connection, namespace }, { name, type }, raw.workflowExecutionInfo?.versioningInfo);
  const activities = raw.pendingActivities ?? [];
  const calls = await readCalls(hasTaker, activities);
  const pending = raw.pendingWorkflowTask ?? null;
  const isLong = Number(raw.workflowExecutionInfo?.historyLength ?? 0) >= FEWEST_EVENTS;
  const page = { namespace, execution: { workflowId, runId }, maximumPageSize: EVENTS };
  const history =
    pending === null && !isLong
      ? null
      : await connection.workflowService.getWorkflowExecutionHistoryReverse(page);
  const events = history?.history?.events ?? [];
  const failing = failingCall(runId, activities) ?? failingSend(runId, events, Date.now());
  if (pending === null) return { runId, task: null, calls, failing };
  const waitsSince =
    pending.state === PendingWorkflowTaskState.PENDING_WORKFLOW_TASK_STATE_SCHEDULED
      ? millisecondsOf(pending.scheduledTime)
      : null;
  const queue = raw.executionConfig?.taskQueue?.name ?? '';
  return {
    runId,
    task: {
      attempt: pending.attempt ?? 1,
      ...failuresOf(events),
      prolongedMs: prolongedMs(pending, events),
      waitsMs: waitsSince === null ? null : Math.max(0, Date.now() - waitsSince),
      // A task that a worker has waits for none; without the name of its queue nothing is proven.
      hasWorker: waitsSince === null || queue === '' || (await hasTaker(queue, WORKFLOWS)),
    },
    calls,
    failing,
  };
}

interface Server {
  readonly connection: Pick<Connection, 'workflowService'>;
  readonly namespace: string;
}

interface Queue {
  readonly name: string;
  readonly type: QueueType;
}

/** Returns who polled a task queue in about the last minute, and to which builds its tasks go. */
export async function describeQueue({ connection, namespace }: Server, { name, type }: Queue) {
  const { pollers, versioningInfo } = await connection.workflowService.describeTaskQueue({
    namespace,
    taskQueue: { name },
    taskQueueType: type,
  });
  return { pollers: pollers.filter(hasPolled), versioningInfo };
}

async function hasWorker(
  server: Server,
  queue: Queue,
  run: RunVersioning | null | undefined,
): Promise<boolean> {
  const { pollers, versioningInfo } = await describeQueue(server, queue);
  const builds = takersOf(run, versioningInfo);
  if (builds === null) return pollers.length > 0;
  return builds.every((each) => pollers.some((poller) => isOfBuild(poller, each)));
}

async function readCalls(
  hasTaker: HasTaker,
  activities: readonly PendingActivity[],
): Promise<readonly WaitingCalls[]> {
  const calls: WaitingCalls[] = [];
  for (const call of waitingCalls(activities, Date.now())) {
    const isLooked = call.waitsMs >= LOOKED_AFTER_MS;
    const has = isLooked ? await hasTaker(call.taskQueue, ACTIVITIES) : null;
    calls.push({ ...call, hasWorker: has });
  }
  return calls;
}

/**
 * Returns the activities that wait for a worker on each of our task queues, those that wait longest
 * first. A team's queue is left out: what waits there has a short time limit, and a reason of its
 * own.
 */
export function waitingCalls(
  activities: readonly PendingActivity[],
  nowMs: number,
): readonly Omit<WaitingCalls, 'hasWorker'>[] {
  const longest = new Map<string, number>();
  for (const { state, scheduledTime, activityOptions } of activities) {
    const taskQueue = activityOptions?.taskQueue?.name ?? '';
    const since = millisecondsOf(scheduledTime);
    if (state !== PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED) continue;
    if (since === null || !isOwnQueue(taskQueue)) continue;
    // Before the pause of a repeat is over, the time lies ahead, and no worker may take the call.
    const waitsMs = nowMs - since;
    if (waitsMs > (longest.get(taskQueue) ?? 0)) longest.set(taskQueue, waitsMs);
  }
  return [...longest]
    .map(([taskQueue, waitsMs]) => ({ taskQueue, waitsMs }))
    .sort((left, right) => right.waitsMs - left.waitsMs)
    .slice(0, MOST_QUEUES);
}

/** Returns the activity with the most attempts whose last one an unexpected error ended. */
export function failingCall(
  runId: string,
  activities: readonly PendingActivity[],
): FailingCall | null {
  const [most] = activities
    .filter(({ lastFailure }) => isUnexpected(lastFailure))
    .sort((left, right) => (right.attempt ?? 0) - (left.attempt ?? 0));
  if (most === undefined) return null;
  const { activityId, activityType, attempt, lastFailure } = most;
  return {
    call: `${runId}/${activityId ?? ''}`,
    attempt: attempt ?? 1,
    message: shown(`the activity ${activityType?.name ?? ''}: ${lastFailure?.message ?? ''}`),
  };
}

/**
 * Returns the newest of a run's sends that an unexpected error failed, from events that are newest
 * first. No pending activity shows such a failure: a send has one attempt, and its run makes
 * another after a pause. Null: too few have failed since a send was completed, or the run makes
 * no more.
 */
export function failingSend(
  runId: string,
  events: readonly HistoryEvent[],
  nowMs: number,
): FailingCall | null {
  const sends = new Map<number, string>();
  for (const { eventId, activityTaskScheduledEventAttributes: call } of events) {
    const name = call?.activityType?.name ?? '';
    if (SENDS.has(name)) sends.set(Number(eventId), name);
  }
  const failed: { readonly id: number; readonly atMs: number; readonly message: string }[] = [];
  for (const event of events) {
    const completed = event.activityTaskCompletedEventAttributes;
    if (completed != null && sends.has(Number(completed.scheduledEventId))) break;
    const ended = event.activityTaskFailedEventAttributes;
    const name = sends.get(Number(ended?.scheduledEventId));
    if (name === undefined || !isUnexpected(ended?.failure)) continue;
    failed.push({
      id: Number(event.eventId),
      atMs: millisecondsOf(event.eventTime) ?? 0,
      message: shown(`the activity ${name}: ${ended?.failure?.message ?? ''}`),
    });
  }
  const [last, before] = failed;
  if (last === undefined || before === undefined || failed.length < FAILED_SENDS) return null;
  // The pause before the next send is at most twice as long as the one before the last.
  if (nowMs - last.atMs > 2 * (last.atMs - before.atMs) + LONGEST_SEND_MS) return null;
  return { call: `${runId}/send`, attempt: last.id, message: last.message };
}

/** Returns whether an error of ours ended it. The type stays readable in encrypted payloads. */
function isUnexpected(failure: Failure | null | undefined): boolean {
  return failure?.applicationFailureInfo?.type === UNEXPECTED_FAILURE;
}

/**
 * Returns how long a worker has prolonged a task ({@link PendingTask}), from events that are newest
 * first. To prolong it, the worker completes it without a command and has the next one at once; the
 * server keeps the time of the first. How long that one waited for a worker does not count.
 */
export function prolongedMs(
  { state, scheduledTime, originalScheduledTime }: PendingWorkflowTask,
  events: readonly HistoryEvent[],
): number | null {
  if (state !== PendingWorkflowTaskState.PENDING_WORKFLOW_TASK_STATE_STARTED) return null;
  const [last, first] = [millisecondsOf(scheduledTime), millisecondsOf(originalScheduledTime)];
  if (last === null || first === null) return null;
  const times = events
    .filter(({ eventType }) => eventType === EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED)
    .map(({ eventTime }) => millisecondsOf(eventTime) ?? 0)
    .filter((time) => time > first);
  return times.length === 0 ? null : Math.max(0, last - Math.min(...times));
}

/**
 * Returns the builds to which the server gives a run's tasks; null in the list stands for workers
 * without a build. Null: what a person set for the run decides, which is not read here.
 */
export function takersOf(
  run: RunVersioning | null | undefined,
  queue: QueueVersioning | null | undefined,
): readonly (Build | null)[] | null {
  if (run?.versioningOverride != null) return null;
  if (run?.behavior === VersioningBehavior.VERSIONING_BEHAVIOR_PINNED)
    return run.deploymentVersion == null ? null : [buildOf(run.deploymentVersion)];
  // A run that is not pinned (yet) goes to the current build, or by a ramp to another one.
  const ramp = queue?.rampingVersionPercentage ?? 0;
  return [
    ...(ramp < 100 ? [buildOf(queue?.currentDeploymentVersion)] : []),
    ...(ramp > 0 ? [buildOf(queue?.rampingDeploymentVersion)] : []),
  ];
}

function buildOf(version: Version | null | undefined): Build | null {
  return version == null
    ? null
    : { deployment: version.deploymentName ?? '', build: version.buildId ?? '' };
}

/** Returns whether a poller is a worker of the build; null stands for workers without a build. */
export function isOfBuild({ deploymentOptions: at }: Poller, build: Build | null): boolean {
  if (at?.workerVersioningMode !== WorkerVersioningMode.WORKER_VERSIONING_MODE_VERSIONED)
    return build === null;
  return build !== null && at.deploymentName === build.deployment && at.buildId === build.build;
}

/** Returns whether a worker polled in about the last minute. */
function hasPolled({ lastAccessTime }: Poller): boolean {
  return (millisecondsOf(lastAccessTime) ?? 0) > Date.now() - POLLED_WITHIN_MS;
}

function millisecondsOf(at: Poller['lastAccessTime']): number | null {
  return at == null ? null : Number(at.seconds ?? 0) * 1_000;
}

/**
 * Returns the failed tasks since the last completed one, from events that are newest first; see
 * {@link PendingTask}.
 */
export function failuresOf(
  events: readonly HistoryEvent[],
): Pick<PendingTask, 'failures' | 'failure'> {
  let failures = 0;
  let failure: PendingTask['failure'] = null;
  for (const event of events) {
    if (event.eventType === EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED)
      return { failures, failure };
    if (!isFailure(event)) {
      // The start of the history: no task was completed, and all that failed are counted.
      if (Number(event.eventId) === 1) return { failures, failure };
      continue;
    }
    failures += 1;
    const failed = event.workflowTaskFailedEventAttributes;
    if (failed != null)
      failure ??= {
        nondeterminism: failed.cause === Cause.WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR,
        message: shown(failed.failure?.message ?? ''),
      };
  }
  return { failures: failures === 0 ? null : failures, failure };
}

function isFailure(event: HistoryEvent): boolean {
  const failed = event.workflowTaskFailedEventAttributes;
  if (failed != null) return !HARMLESS.includes(failed.cause);
  const timeout = event.workflowTaskTimedOutEventAttributes?.timeoutType;
  // A worker that has gone is left for another by a time-out before the start, which is no failure.
  return timeout === TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE;
}

function shown(message: string): string {
  return storable(safeText(hostsOnly(message)), LONGEST_MESSAGE);
}
