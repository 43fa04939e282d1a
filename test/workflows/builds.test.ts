/**
 * The workflows on workers of a build, against a real server, with activities that stand still
 * where the test wants it. The server is too old to move a run that continues as new.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { workflowBundle } from '../../activities/bundle.ts';
import { SEARCH_ATTRIBUTES } from '../../dev/stack/config.ts';
import { findTemporalServer } from '../../dev/stack/temporal-binary.ts';
import type { LeaveBuild } from '../../domain/builds.ts';
import {
  LEAVE_BUILD_SIGNAL,
  TASK_QUEUE,
  type LoadedMovement,
  type LoadedTransfer,
  type PhaseResult,
} from '../../domain/messages.ts';
import { buildsOf, DEPLOYMENT, promote } from '../support/builds.ts';
import { eventually } from '../support/eventually.ts';

Runtime.install({ logger: new DefaultLogger('ERROR', () => undefined) });

const WAITING: LoadedMovement = {
  movement_id: 'm',
  state: 'PENDING_APPROVAL',
  reservation_status: 'none',
  version: 1,
  template_key: 't',
  template_version: 1,
  strategy_id: null,
  asset: 'USDC',
  ended: false,
  error_code: null,
  frontier: [],
  ttl_ms: 600_000,
  edges: [],
  nodes: [],
  conduct: 4,
};
const SENDING: LoadedMovement = {
  ...WAITING,
  state: 'EXECUTING',
  reservation_status: 'held',
  frontier: ['pay'],
  nodes: [
    {
      node_key: 'pay',
      node_kind: 'action',
      state: 'READY',
      attempt: 1,
      resumed: false,
      recover_first: false,
      error_code: null,
      settled_order: 0,
      executor_key: 'x',
      chained: true,
    },
  ],
};
const PENDING: LoadedTransfer = {
  transfer_id: 't',
  state: 'PENDING_PROVIDER_CONFIRMATION',
  ended: false,
  epoch: 1,
  asset: 'USDC',
  strategy_id: null,
  source: 'a',
  destination: 'b',
  error_code: null,
};

let environment: TestWorkflowEnvironment;
let worker: Worker;
let ended: Promise<void>;
/** What activities were called with, in order. */
const calls: string[] = [];
/** What happens while the wake of a movement is stored. */
const onStore = new Map<string, () => Promise<void>>();
let letSubmitEnd: (result: PhaseResult) => void = () => undefined;

beforeAll(async () => {
  const found = await findTemporalServer(process.env, () => undefined);
  if (found.kind !== 'binary') throw new Error('the test starts a server of its own');
  environment = await TestWorkflowEnvironment.createLocal({
    server: {
      executable: { type: 'existing-path', path: found.path },
      extraArgs: SEARCH_ATTRIBUTES.flatMap((attribute) => ['--search-attribute', attribute]),
    },
  });
  const view = (id: string): LoadedMovement => ({
    ...(id.startsWith('sends') ? SENDING : WAITING),
    movement_id: id,
  });
  worker = await Worker.create({
    connection: environment.nativeConnection,
    // On this one the workflows schedule their activities.
    taskQueue: TASK_QUEUE,
    workflowBundle: workflowBundle({ versioned: true }),
    activities: {
      load: ({ movement_id }: { movement_id: string }) => {
        calls.push(`load ${movement_id}`);
        return Promise.resolve(view(movement_id));
      },
      leaveBuild: async ({ movement_id }: { movement_id: string }) => {
        calls.push(`store ${movement_id}`);
        await onStore.get(movement_id)?.();
      },
      submit: () => new Promise<PhaseResult>((resolve) => (letSubmitEnd = resolve)),
      loadTransfer: ({ transfer_id }: { transfer_id: string }) =>
        Promise.resolve({
          ...PENDING,
          transfer_id,
          ...(transfer_id === 'unsent' ? { state: 'CREATED' } : {}),
        }),
      submitTransfer: ({ transfer_id }: { transfer_id: string }) => {
        calls.push(`send ${transfer_id}`);
        return Promise.resolve();
      },
      leaveBuildOfTransfer: ({ transfer_id }: { transfer_id: string }) => {
        calls.push(`store ${transfer_id}`);
        return Promise.resolve();
      },
      lookTransfer: () => new Promise(() => undefined),
    },
    workerDeploymentOptions: {
      version: { deploymentName: DEPLOYMENT, buildId: 'a' },
      useWorkerVersioning: true,
      defaultVersioningBehavior: 'PINNED',
    },
    shutdownForceTime: '1 second',
  });
  ended = worker.run().catch(() => undefined);
  await promote(buildsOf(environment.client), 'a');
}, 120_000);
afterAll(async () => {
  worker?.shutdown();
  await ended;
  await environment?.teardown();
}, 60_000);

async function begin(workflow: string, id: string) {
  const handle = await environment.client.workflow.start(workflow, {
    workflowId: id,
    taskQueue: TASK_QUEUE,
    args: [id],
    workflowTaskTimeout: '3 seconds',
  });
  await eventually(async () => ((await handle.describe()).historyLength >= 4 ? true : null));
  const leave = (order: Partial<LeaveBuild> = {}) =>
    handle.signal(LEAVE_BUILD_SIGNAL, {
      deployment: DEPLOYMENT,
      build: 'a',
      by: 'restart',
      ...order,
    });
  const status = async (): Promise<string> => (await handle.describe()).status.name;
  return { handle, leave, status };
}
const stored = (id: string): number => calls.filter((call) => call === `store ${id}`).length;

test('a run that waits stores its wake, closes, and says which build it left', async () => {
  const { handle, leave } = await begin('movementWorkflow', 'waits');
  await leave();
  expect(await handle.result()).toEqual({
    movement_id: 'waits',
    request_state: 'PENDING_APPROVAL',
    left_build: `${DEPLOYMENT}:a`,
  });
  expect(stored('waits')).toBe(1);
}, 60_000);

test('a signal that names another build, or is malformed, has no effect', async () => {
  const { handle, leave, status } = await begin('movementWorkflow', 'stays');
  await leave({ build: 'b' });
  await leave({ deployment: 'other' });
  await handle.signal(LEAVE_BUILD_SIGNAL, { deployment: DEPLOYMENT, build: 'a' });
  await handle.signal(LEAVE_BUILD_SIGNAL, null);
  const loads = calls.filter((call) => call === 'load stays').length;
  // The run has taken all four once it has loaded after this.
  await handle.signal('wake', null);
  await eventually(() =>
    Promise.resolve(calls.filter((call) => call === 'load stays').length > loads ? true : null),
  );
  expect(await status()).toBe('RUNNING');
  expect(stored('stays')).toBe(0);
  await leave();
  await handle.result();
}, 60_000);

test('a run leaves only after its send has ended', async () => {
  const { handle, leave, status } = await begin('movementWorkflow', 'sends');
  // PENDING_ACTIVITY_STATE_STARTED is 2.
  await eventually(async () => {
    const { raw } = await handle.describe();
    return Number(raw.pendingActivities?.[0]?.state) === 2 ? true : null;
  });
  await leave();
  await sleep(3_000);
  expect([await status(), stored('sends')]).toEqual(['RUNNING', 0]);
  letSubmitEnd({ state: 'SUBMITTED', next: 'observe', error_code: null });
  expect(await handle.result()).toMatchObject({ left_build: `${DEPLOYMENT}:a` });
  expect(stored('sends')).toBe(1);
}, 60_000);

test('a wake that comes while the next one is stored is loaded before the run closes', async () => {
  const { handle, leave } = await begin('movementWorkflow', 'woken');
  let signalled = false;
  onStore.set('woken', async () => {
    if (signalled) return;
    signalled = true;
    await handle.signal('wake', null);
    // Longer than a workflow task: the run has the signal while the wake is still being stored.
    // Without that the server would refuse the close by itself.
    await sleep(4_000);
  });
  await leave();
  await handle.result();
  // The load marks the stored wake as read, so it was stored once more after the load.
  expect(calls.slice(calls.indexOf('store woken'))).toEqual([
    'store woken',
    'load woken',
    'store woken',
  ]);
}, 60_000);

test('by continuing, the run is followed at once and stores nothing', async () => {
  const { handle, leave } = await begin('movementWorkflow', 'continues');
  const { runId } = await handle.describe();
  await leave({ by: 'continue' });
  const next = await eventually(async () => {
    const now = await handle.describe();
    return now.runId === runId ? null : now;
  });
  expect(next.status.name).toBe('RUNNING');
  const before = environment.client.workflow.getHandle('continues', runId);
  expect((await before.describe()).status.name).toBe('CONTINUED_AS_NEW');
  expect(stored('continues')).toBe(0);
  await leave();
  await handle.result();
}, 60_000);

test('a transfer ends its look, and leaves in the same way', async () => {
  const { handle, leave, status } = await begin('capitalTransferWorkflow', 'transfer');
  await leave({ build: 'b' });
  await sleep(1_000);
  expect([await status(), stored('transfer')]).toEqual(['RUNNING', 0]);
  await leave();
  expect(await handle.result()).toEqual({
    transfer_id: 'transfer',
    request_state: 'PENDING_PROVIDER_CONFIRMATION',
    left_build: `${DEPLOYMENT}:a`,
  });
  expect(stored('transfer')).toBe(1);
}, 60_000);

test('a transfer that pauses after sends that passed no fence leaves without another one', async () => {
  const { handle, leave } = await begin('capitalTransferWorkflow', 'unsent');
  const sends = (): number => calls.filter((call) => call === 'send unsent').length;
  await eventually(() => Promise.resolve(sends() >= 6 ? true : null));
  // The pause after the sixth send lasts 6.4 seconds; now the run is in it.
  await sleep(1_500);
  const before = sends();
  await leave();
  expect(await handle.result()).toEqual({
    transfer_id: 'unsent',
    request_state: 'CREATED',
    left_build: `${DEPLOYMENT}:a`,
  });
  expect([sends(), stored('unsent')]).toEqual([before, 1]);
}, 60_000);

test('runs are pinned to the build, save for those that show that a person is needed', async () => {
  const movement = await begin('movementWorkflow', 'pinned');
  const attention = await environment.client.workflow.signalWithStart('attentionWorkflow', {
    workflowId: 'attention',
    taskQueue: TASK_QUEUE,
    signal: 'attention',
    signalArgs: [{ reason: 'failed', node_key: null }],
  });
  const behaviour = (id: string) =>
    eventually(async () => {
      const { raw } = await environment.client.workflow.getHandle(id).describe();
      const found = raw.workflowExecutionInfo?.versioningInfo?.behavior ?? 0;
      return found === 0 ? null : found;
    });
  // VERSIONING_BEHAVIOR_PINNED is 1, VERSIONING_BEHAVIOR_AUTO_UPGRADE is 2.
  expect([await behaviour('pinned'), await behaviour('attention')]).toEqual([1, 2]);
  await attention.signal('attention', null);
  await movement.leave();
  await movement.handle.result();
}, 60_000);
