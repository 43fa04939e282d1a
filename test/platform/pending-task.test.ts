/**
 * Which events of a history count as failures of a run's workflow task, which of its calls wait for
 * a worker, and which workers may take them.
 */
import { temporal } from '@temporalio/proto';
import { verdictOfRun, type RunVerdict } from '../../domain/stuck-runs.ts';
import {
  failingSend,
  failuresOf,
  isOfBuild,
  readPendingTask,
  takersOf,
  waitingCalls,
} from '../../platform/pending-task.ts';

const { EventType, TimeoutType, WorkflowTaskFailedCause: Cause } = temporal.api.enums.v1;
const { VersioningBehavior, WorkerVersioningMode } = temporal.api.enums.v1;
type Event = temporal.api.history.v1.IHistoryEvent;

const completed: Event = { eventType: EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED };
const signalled: Event = { eventType: EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED };
const failed = (cause: temporal.api.enums.v1.WorkflowTaskFailedCause, message = ''): Event => ({
  eventType: EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED,
  workflowTaskFailedEventAttributes: { cause, failure: { message } },
});
const timedOut = (timeoutType: temporal.api.enums.v1.TimeoutType): Event => ({
  eventType: EventType.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT,
  workflowTaskTimedOutEventAttributes: { timeoutType },
});
const REPLAY = Cause.WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR;
const THROWN = Cause.WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE;

test('failures are counted back to the last completed task, and the newest says why', () => {
  const events = [signalled, failed(REPLAY, 'new'), failed(THROWN, 'older'), completed];
  expect(failuresOf([...events, failed(THROWN)])).toEqual({
    failures: 2,
    failure: { nondeterminism: true, message: 'new' },
  });
});

test('a task that took too long is a failure, one that left a dead worker is none', () => {
  const { TIMEOUT_TYPE_START_TO_CLOSE: slow, TIMEOUT_TYPE_SCHEDULE_TO_START: left } = TimeoutType;
  expect(failuresOf([timedOut(slow), completed])).toEqual({ failures: 1, failure: null });
  expect(failuresOf([timedOut(left), completed])).toEqual({ failures: 0, failure: null });
});

test.each([
  Cause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND,
  Cause.WORKFLOW_TASK_FAILED_CAUSE_RESET_STICKY_TASK_QUEUE,
  Cause.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW,
])('cause %s is no failure of the worker', (cause) => {
  expect(failuresOf([failed(cause), completed])).toEqual({ failures: 0, failure: null });
});

test('without a completed task it is known only at the start of the history', () => {
  const start = temporal.api.history.v1.HistoryEvent.fromObject({ eventId: 1, eventType: 1 });
  expect(failuresOf([signalled, signalled])).toEqual({ failures: null, failure: null });
  expect(failuresOf([signalled, start])).toEqual({ failures: 0, failure: null });
  expect(failuresOf([failed(THROWN, 'x'), start]).failures).toBe(1);
});

test('what a worker reported is shown short and without secrets', () => {
  const message = `at https://user:secret@node.example/key-1\0 ${'x'.repeat(600)}`;
  const { failure } = failuresOf([failed(THROWN, message), completed]);
  expect(failure?.message).toHaveLength(500);
  expect(failure?.message).toContain('https://node.example/…');
  expect(failure?.message).not.toMatch(/secret|key-1|\0/);
});

test('a message that is cut in the middle of a character can still be stored', () => {
  const { failure } = failuresOf([failed(THROWN, `${'x'.repeat(499)}\u{1F4B8}`), completed]);
  expect(failure?.message).toBe('x'.repeat(499));
});

const a = { deploymentName: 'd', buildId: 'a' };
const b = { deploymentName: 'd', buildId: 'b' };
const [buildA, buildB] = [
  { deployment: 'd', build: 'a' },
  { deployment: 'd', build: 'b' },
];
const pinned = {
  behavior: VersioningBehavior.VERSIONING_BEHAVIOR_PINNED,
  deploymentVersion: a,
};

test('the tasks of a pinned run go to its build, all others to the current and the ramping one', () => {
  const queue = { currentDeploymentVersion: b };
  expect(takersOf(pinned, queue)).toEqual([buildA]);
  expect(takersOf(null, queue)).toEqual([buildB]);
  const follows = { behavior: VersioningBehavior.VERSIONING_BEHAVIOR_AUTO_UPGRADE };
  expect(takersOf({ ...follows, deploymentVersion: a }, queue)).toEqual([buildB]);
  const ramp = { rampingDeploymentVersion: a, rampingVersionPercentage: 5 };
  expect(takersOf(null, { ...queue, ...ramp })).toEqual([buildB, buildA]);
  expect(takersOf(null, { ...queue, ...ramp, rampingVersionPercentage: 0 })).toEqual([buildB]);
  expect(takersOf(null, { ...queue, ...ramp, rampingVersionPercentage: 100 })).toEqual([buildA]);
});

test('without a current build the tasks go to workers without a build', () => {
  expect(takersOf(null, null)).toEqual([null]);
  expect(takersOf(null, { rampingVersionPercentage: 5, rampingDeploymentVersion: a })).toEqual([
    null,
    buildA,
  ]);
});

test('who takes the tasks of a run that a person has moved is not known', () => {
  expect(takersOf({ ...pinned, versioningOverride: { autoUpgrade: true } }, null)).toBeNull();
});

test('a worker is of the build that it is registered with, and of none without one', () => {
  const versioned = WorkerVersioningMode.WORKER_VERSIONING_MODE_VERSIONED;
  const unversioned = WorkerVersioningMode.WORKER_VERSIONING_MODE_UNVERSIONED;
  const of = (workerVersioningMode: temporal.api.enums.v1.WorkerVersioningMode) => ({
    deploymentOptions: { ...a, workerVersioningMode },
  });
  expect(isOfBuild(of(versioned), buildA)).toBe(true);
  expect(isOfBuild(of(versioned), buildB)).toBe(false);
  expect(isOfBuild(of(versioned), null)).toBe(false);
  expect(isOfBuild(of(unversioned), null)).toBe(true);
  expect(isOfBuild(of(unversioned), buildA)).toBe(false);
  expect(isOfBuild({}, null)).toBe(true);
  expect(isOfBuild({}, buildA)).toBe(false);
});

const { PENDING_WORKFLOW_TASK_STATE_SCHEDULED } = temporal.api.enums.v1.PendingWorkflowTaskState;

/** Whether the waiting task of a run has a worker, with pollers of these builds on its queue. */
async function hasWorker(
  builds: readonly string[],
  versioningInfo: temporal.api.taskqueue.v1.ITaskQueueVersioningInfo,
  of: temporal.api.workflow.v1.IWorkflowExecutionVersioningInfo | null = null,
): Promise<boolean | undefined> {
  const pollers = builds.map((buildId) => ({
    lastAccessTime: { seconds: Math.floor(Date.now() / 1_000) },
    deploymentOptions: {
      ...{ deploymentName: 'd', buildId },
      workerVersioningMode: WorkerVersioningMode.WORKER_VERSIONING_MODE_VERSIONED,
    },
  }));
  const raw = {
    workflowExecutionInfo: { versioningInfo: of },
    executionConfig: { taskQueue: { name: 'fund-movements' } },
    pendingWorkflowTask: {
      state: PENDING_WORKFLOW_TASK_STATE_SCHEDULED,
      scheduledTime: { seconds: 1 },
      attempt: 1,
    },
  };
  const link = {
    connection: {
      workflowService: {
        describeTaskQueue: () => Promise.resolve({ pollers, versioningInfo }),
        getWorkflowExecutionHistoryReverse: () => Promise.resolve({}),
      },
    },
    client: {
      workflow: {
        getHandle: () => ({
          describe: () => Promise.resolve({ raw, runId: 'r', status: { name: 'RUNNING' } }),
        }),
      },
    },
  };
  const run = await readPendingTask(link as never, { namespace: 'n', workflowId: 'w' });
  return run?.task?.hasWorker;
}

test('a ramp to a build without workers leaves its share of the new runs without one', async () => {
  const ramp = {
    ...{ currentDeploymentVersion: a, rampingDeploymentVersion: b },
    rampingVersionPercentage: 5,
  };
  expect(await hasWorker(['a', 'b'], ramp)).toBe(true);
  expect(await hasWorker(['a'], ramp)).toBe(false);
  expect(await hasWorker(['b'], ramp)).toBe(false);
  // No other build matters: for a pinned run the ramp, for a new one what is drained.
  expect(await hasWorker(['a'], ramp, pinned)).toBe(true);
  expect(await hasWorker(['a'], { currentDeploymentVersion: a })).toBe(true);
  expect(await hasWorker(['b'], { currentDeploymentVersion: a })).toBe(false);
});

test('who may take the task of a run that a person has moved is not known, so any worker counts', async () => {
  const moved = { ...pinned, versioningOverride: { autoUpgrade: true } };
  expect(await hasWorker(['b'], {}, moved)).toBe(true);
  expect(await hasWorker([], {}, moved)).toBe(false);
});

const { PENDING_WORKFLOW_TASK_STATE_STARTED } = temporal.api.enums.v1.PendingWorkflowTaskState;
type Describe = temporal.api.workflowservice.v1.IDescribeWorkflowExecutionResponse;

/** What a look proves at which the server shows this; a look before saw the activity fail. */
async function verdictAt(
  shown: Describe,
  events: readonly Event[] = [],
  before = { call: 'r/5', attempt: 8, message: '' },
): Promise<RunVerdict> {
  const raw = { workflowExecutionInfo: {}, executionConfig: null, ...shown };
  const link = {
    connection: {
      workflowService: {
        describeTaskQueue: () => Promise.resolve({ pollers: [], versioningInfo: null }),
        getWorkflowExecutionHistoryReverse: () => Promise.resolve({ history: { events } }),
      },
    },
    client: {
      workflow: {
        getHandle: () => ({
          describe: () => Promise.resolve({ raw, runId: 'r', status: { name: 'RUNNING' } }),
        }),
      },
    },
  };
  const run = await readPendingTask(link as never, { namespace: 'n', workflowId: 'w' });
  if (run === null) throw new Error('the run is open');
  return verdictOfRun(run, { noWorkerMs: 120_000, isSteady: true, before });
}

/** An activity that waits for its next attempt, which comes in half a minute. */
const repeated = (type: string, attempt: number) =>
  temporal.api.workflow.v1.PendingActivityInfo.fromObject({
    ...{ activityId: '5', activityType: { name: 'preflight' }, state: 1, attempt },
    scheduledTime: { seconds: Math.floor(Date.now() / 1_000) + 30 },
    activityOptions: { taskQueue: { name: 'fund-movements' } },
    lastFailure: { message: 'TypeError: see the log', applicationFailureInfo: { type } },
  });

test('an activity that an error of ours fails again and again makes its run stuck', async () => {
  expect(await verdictAt({ pendingActivities: [repeated('UNEXPECTED', 9)] })).toEqual({
    cause: 'task_fails',
    message: 'the activity preflight: TypeError: see the log',
  });
  expect(await verdictAt({ pendingActivities: [repeated('UNEXPECTED', 7)] })).toBe('goes_on');
});

test.each(['NOT_YET', 'EXECUTOR_UNAVAILABLE', 'ServiceError'])(
  'an activity that is repeated because of %s makes it not',
  async (type) => {
    expect(await verdictAt({ pendingActivities: [repeated(type, 900)] })).toBe('goes_on');
  },
);

const NEWEST = 100;

type Ended = readonly [how: string, secondsAgo: number];

/** Sends of a run, newest first: how each ended, and how many seconds ago. */
function sendsBy(name: string, ended: readonly Ended[]): Event[] {
  return ended.flatMap(([how, secondsAgo], index) => {
    const eventId = NEWEST - 17 * index;
    const scheduledEventId = eventId - 2;
    const failure = {
      message: 'TypeError: see the log',
      applicationFailureInfo: { type: how },
    };
    const event = {
      eventId,
      eventTime: { seconds: Math.floor(Date.now() / 1_000) - secondsAgo },
      ...(how === 'completed'
        ? { activityTaskCompletedEventAttributes: { scheduledEventId } }
        : { activityTaskFailedEventAttributes: { scheduledEventId, failure } }),
    };
    const scheduled = {
      eventId: scheduledEventId,
      activityTaskScheduledEventAttributes: { activityType: { name } },
    };
    return [event, scheduled].map((each) => temporal.api.history.v1.HistoryEvent.fromObject(each));
  });
}

const sends = (...ended: readonly Ended[]): Event[] => sendsBy('submit', ended);

const withEvents = (historyLength: number): Describe => ({
  workflowExecutionInfo: temporal.api.workflow.v1.WorkflowExecutionInfo.fromObject({
    historyLength,
  }),
});
const FAILED_THRICE = sends(['UNEXPECTED', 5], ['UNEXPECTED', 35], ['UNEXPECTED', 65]);

test('sends that an error of ours fails, one after the other, make their run stuck', async () => {
  const before = { call: 'r/send', attempt: NEWEST - 17, message: '' };
  expect(await verdictAt(withEvents(NEWEST), FAILED_THRICE, before)).toEqual({
    cause: 'task_fails',
    message: 'the activity submit: TypeError: see the log',
  });
  // Another look saw none of them, or the same one.
  expect(await verdictAt(withEvents(NEWEST), FAILED_THRICE)).toBe('unclear');
  const same = { ...before, attempt: NEWEST };
  expect(await verdictAt(withEvents(NEWEST), FAILED_THRICE, same)).toBe('unclear');
  // Too short for them, so it is not read.
  expect(await verdictAt(withEvents(29), FAILED_THRICE, before)).toBe('goes_on');
});

test.each<[string, Event[]]>([
  ['that failed twice', sends(['UNEXPECTED', 5], ['UNEXPECTED', 35])],
  ['of which a later one was completed', [...sends(['completed', 2]), ...FAILED_THRICE]],
  ['that an outage failed', sends(['Error', 5], ['ServiceError', 35], ['ServiceError', 65])],
  [
    'after which the run makes no more',
    sends(['UNEXPECTED', 370], ['UNEXPECTED', 400], ['UNEXPECTED', 430]),
  ],
])('sends %s make it not', (_what, events) => {
  expect(failingSend('r', events, Date.now())).toBeNull();
});

test('sends that fail with long pauses between them count too, and those of a transfer', () => {
  const ended: readonly Ended[] = [900, 2_700, 4_500].map((ago) => ['UNEXPECTED', ago]);
  expect(failingSend('r', sendsBy('submitTransfer', ended), Date.now())).toEqual({
    ...{ call: 'r/send', attempt: NEWEST },
    message: 'the activity submitTransfer: TypeError: see the log',
  });
});

/** A task that a worker has prolonged every eight seconds since it was first scheduled. */
function prolonged(seconds: number, waitedSeconds = 0): [Describe, readonly Event[]] {
  const now = Math.floor(Date.now() / 1_000);
  const events: Event[] = [];
  for (let ago = 0; ago < seconds; ago += 8)
    events.push(
      temporal.api.history.v1.HistoryEvent.fromObject({
        ...completed,
        eventTime: { seconds: now - ago },
      }),
    );
  const pendingWorkflowTask = temporal.api.workflow.v1.PendingWorkflowTaskInfo.fromObject({
    state: PENDING_WORKFLOW_TASK_STATE_STARTED,
    scheduledTime: { seconds: now },
    originalScheduledTime: { seconds: now - seconds - waitedSeconds },
    attempt: 1,
  });
  const before = { ...completed, eventTime: { seconds: now - seconds - 600 } };
  const start = temporal.api.history.v1.HistoryEvent.fromObject(before);
  return [{ pendingWorkflowTask }, [...events, start]];
}

test('a task that a worker prolongs for minutes is stuck, one that waited for it is not', async () => {
  expect(await verdictAt(...prolonged(180))).toMatchObject({ cause: 'task_fails' });
  expect(await verdictAt(...prolonged(60))).toBe('unclear');
  expect(await verdictAt(...prolonged(16, 600))).toBe('unclear');
  // A worker took it just now.
  expect(await verdictAt(...prolonged(0, 600))).toBe('goes_on');
});

const NOW_MS = 1_000_000_000_000;
const State = temporal.api.enums.v1.PendingActivityState;
type Activity = temporal.api.workflow.v1.IPendingActivityInfo;
const activity = (name: string, waitsSeconds: number, state = 1): Activity =>
  temporal.api.workflow.v1.PendingActivityInfo.fromObject({
    state,
    scheduledTime: { seconds: NOW_MS / 1_000 - waitsSeconds },
    activityOptions: { taskQueue: { name } },
  });

test('of each queue of our workers the call that waits longest counts', () => {
  const rated = 'fund-movements/venue/rated';
  const calls = [activity('fund-movements', 7), activity(rated, 30), activity(rated, 90)];
  expect(waitingCalls(calls, NOW_MS)).toEqual([
    { taskQueue: rated, waitsMs: 90_000 },
    { taskQueue: 'fund-movements', waitsMs: 7_000 },
  ]);
});

test.each<[string, Activity]>([
  ['that a worker has', activity('fund-movements', 90, State.PENDING_ACTIVITY_STATE_STARTED)],
  ['that pauses before it is repeated', activity('fund-movements', -60)],
  ['on the queue of a team', activity('payments-team', 90)],
  ['of which the server does not say the queue', { state: 1, scheduledTime: null }],
])('a call %s waits for no worker of ours', (_what, call) => {
  expect(waitingCalls([call], NOW_MS)).toEqual([]);
});
