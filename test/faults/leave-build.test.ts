/**
 * Two builds of the workers on one server: both at work, the older one drained to empty, and the
 * way back with runs open. Temporal's server of the stack cannot move a run that continues as new,
 * so runs close and are woken by the relay.
 */
import { randomUUID } from 'node:crypto';
import {
  capitalTransferWorkflowId,
  LEAVE_BUILD_SIGNAL,
  movementWorkflowId,
} from '../../domain/messages.ts';
import type { Builds } from '../../platform/temporal-builds.ts';
import { drainBuild, type Drained } from '../../tools/runs/drain.ts';
import { buildsOf, DEPLOYMENT, promote, settingsOf } from '../support/builds.ts';
import { assertConsistent, ledgerOf, PAID_ONCE, timesPaid } from '../support/evidence.ts';
import { eventually, ownStack, WITHDRAW_TO_TREASURY, type Created } from '../support/own-stack.ts';
import { startServiceProcess, type ServiceProcess } from '../support/service-process.ts';

const GATE = 'starter/withdraw-with-gate';
const own = ownStack({ split: true, env: settingsOf('a') });
const workers: ServiceProcess[] = [];
let builds: Builds;
let serial = 0;

beforeAll(async () => {
  builds = buildsOf(own.temporal);
  await promote(builds, 'a');
}, 60_000);
afterEach(() => own.venueFaults(null));
afterAll(async () => {
  for (const each of workers) each.signal('SIGKILL');
  await Promise.all(workers.map(({ ended }) => ended));
}, 60_000);

/** Starts workers of another build beside those of the stack, which are of the build a. */
async function startWorkers(build: string): Promise<ServiceProcess> {
  const worker = await startServiceProcess(own.stack, 'worker', { settings: settingsOf(build) });
  workers.push(worker);
  return worker;
}

async function stopWorkers(worker: ServiceProcess): Promise<void> {
  worker.signal('SIGKILL');
  await worker.ended;
}

interface Moved {
  readonly movement: Created;
  readonly amount: string;
}

/** An approved movement with an amount that no other one has. */
async function approved(template: string): Promise<Moved> {
  serial += 1;
  const amount = `11.0${String(serial)}1`;
  const movement = await own.api.create(template, { amount });
  await own.api.approve(movement);
  return { movement, amount };
}

/** A movement that waits at its gate, after one of two payments. */
async function atGate(): Promise<Moved> {
  const moved = await approved(GATE);
  await own.api.reaches(moved.movement.movement_id, 'WAITING_MANUAL_ACTION');
  return moved;
}

async function expectPaidOnce({ movement, amount }: Moved): Promise<void> {
  const ended = await own.api.reaches(movement.movement_id, 'COMPLETED');
  assertConsistent(ended, await own.api.timeline(movement.movement_id));
  expect(await timesPaid(own.stack, movement.movement_id, amount)).toEqual(PAID_ONCE);
}

/** Waits until the workflow has a run that is open and pinned to the build. */
async function isOn(build: string, workflowId: string): Promise<void> {
  await eventually(
    async () => {
      const runs = await builds.listOpen({ deployment: DEPLOYMENT, build }, 100);
      return runs.some((run) => run.workflowId === workflowId) ? true : null;
    },
    { what: () => `${workflowId} to have an open run on the build ${build}` },
  );
}

const drain = (build: string): Promise<Drained> =>
  drainBuild(
    builds,
    { deployment: DEPLOYMENT, build },
    { by: null, dryRun: false, waitSeconds: 90 },
  );

test('both builds are at work, the older one is drained to empty, and the way back is the same', async () => {
  const early = await atGate();
  const earlyId = movementWorkflowId(early.movement.movement_id);
  await isOn('a', earlyId);
  const { runId: firstRun } = await own.temporal.workflow.getHandle(earlyId).describe();

  const workersOfB = await startWorkers('b');
  // All new runs go to b while a is still current, so that no run is drained yet.
  await promote(builds, 'b', 100);
  const late = await atGate();
  const lateId = movementWorkflowId(late.movement.movement_id);
  await isOn('b', lateId);
  await isOn('a', earlyId);
  // Both go on where they are.
  await expectPaidOnce(await approved(WITHDRAW_TO_TREASURY));

  await promote(builds, 'b');
  expect(await drain('a')).toMatchObject({ by: 'restart', left: 0, failed: 0 });
  await isOn('b', earlyId);
  const left = own.temporal.workflow.getHandle(earlyId, firstRun);
  expect((await left.describe()).status.name).toBe('COMPLETED');
  expect(await left.result()).toEqual({
    movement_id: early.movement.movement_id,
    request_state: 'WAITING_MANUAL_ACTION',
    left_build: `${DEPLOYMENT}:a`,
  });

  // With the workers of a gone, what began there ends on b.
  await own.stack.stopChild('worker');
  await own.api.act('resume', early.movement.movement_id);
  await expectPaidOnce(early);

  await own.stack.startChild('worker');
  await promote(builds, 'a');
  expect(await drain('b')).toMatchObject({ left: 0, failed: 0 });
  await isOn('a', lateId);
  await stopWorkers(workersOfB);
  await own.api.act('resume', late.movement.movement_id);
  await expectPaidOnce(late);
}, 400_000);

test('a send under way is not cut: its run leaves after it', async () => {
  await startWorkers('c');
  await own.venueFaults({ hold_ms: 6_000, phases: ['submit'] });
  const moved = await approved(WITHDRAW_TO_TREASURY);
  const { movement_id } = moved.movement;
  const workflowId = movementWorkflowId(movement_id);
  await own.api.nodeReaches(movement_id, 'withdraw', ['SUBMITTING']);
  const { runId } = await own.temporal.workflow.getHandle(workflowId).describe();
  await isOn('a', workflowId);
  await promote(builds, 'c');
  expect(await drain('a')).toMatchObject({ left: 0 });
  await own.venueFaults(null);
  await expectPaidOnce(moved);

  const [entry] = await ledgerOf(own.stack.paperVenueUrl, movement_id);
  expect(entry?.submit_calls).toBe(1);
  const handle = own.temporal.workflow.getHandle(workflowId, runId);
  expect(await handle.result()).toMatchObject({ left_build: `${DEPLOYMENT}:a` });
  const { events = [] } = await handle.fetchHistory();
  const story = (events ?? []).flatMap((event) => {
    const { activityTaskScheduledEventAttributes: scheduled } = event;
    if (scheduled?.activityType?.name === 'submit') return ['sends'];
    if (event.activityTaskCompletedEventAttributes) return ['has sent'];
    if (event.workflowExecutionSignaledEventAttributes?.signalName === LEAVE_BUILD_SIGNAL)
      return ['is signalled to leave'];
    return event.workflowExecutionCompletedEventAttributes ? ['leaves'] : [];
  });
  // The signal may come several times.
  expect(story.filter((each, at) => each !== story[at - 1])).toEqual([
    'sends',
    'is signalled to leave',
    'has sent',
    'leaves',
  ]);
  expect(
    (await own.api.timeline(movement_id)).filter(
      ({ event_type, node_key }) => event_type === 'node_submitting' && node_key === 'withdraw',
    ),
  ).toHaveLength(1);
}, 300_000);

test('a capital transfer that waits for its provider continues on the other build', async () => {
  await own.venueFaults({ transfer_outcome: 'pending', phases: ['transfer_submit'] });
  const made = await own.api.expect(201, 'POST', '/capital-transfers', {
    source_venue: 'paper-main',
    destination_venue: 'paper-sub-a',
    asset: 'USDT',
    amount: '3',
    reason: 'a test',
    idempotency_key: randomUUID(),
  });
  const id = String(made['transfer_id']);
  const state = async (): Promise<unknown> =>
    (await own.api.expect(200, 'GET', `/capital-transfers/${id}`))['request_state'];
  await eventually(async () => ((await state()) === 'PENDING_PROVIDER_CONFIRMATION' ? true : null));
  // The test before left c as the current build.
  await isOn('c', capitalTransferWorkflowId(id));
  await promote(builds, 'a');
  expect(await drain('c')).toMatchObject({ left: 0 });
  await isOn('a', capitalTransferWorkflowId(id));
  expect(await state()).toBe('PENDING_PROVIDER_CONFIRMATION');
  const sends = await own.query<{ sends: number }>(
    'SELECT sends FROM capital_transfers WHERE transfer_id = $1',
    [id],
  );
  expect(sends).toEqual([{ sends: 1 }]);
}, 300_000);
