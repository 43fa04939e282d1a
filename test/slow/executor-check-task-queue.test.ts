/**
 * The kit's worker on a real Temporal server: its contract, the example that passes, and a worker
 * that sends too late.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { NativeConnection, Worker } from '@temporalio/worker';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { freePort } from '../../dev/stack/ports.ts';
import { findTemporalServer } from '../../dev/stack/temporal-binary.ts';
import { REJECTED_FAILURE } from '../../domain/executor.ts';
import type { QueueOutcome } from '../../executor-kit/check/call-workflow.ts';
import { openQueueCaller, type QueueCaller } from '../../executor-kit/check/queue-caller.ts';
import { accepted, Rejected, Unavailable } from '../../executor-kit/define.ts';
import { installRuntime } from '../../executor-kit/runtime.ts';
import {
  executorActivities,
  runExecutorWorker,
  type RunningExecutorWorker,
} from '../../executor-kit/task-queue.ts';
import { contextOf } from '../executors/fake-server.ts';
import { checkTarget, failed, optionsOf, troubles } from '../executor-kit/support/check.ts';
import { memoryExecutor } from '../executor-kit/support/memory-executor.ts';

jest.setTimeout(60_000);

const QUEUE = 'kit worker';
let address: string;
let stopServer: () => Promise<void> = async () => undefined;
let caller: QueueCaller;
let worker: RunningExecutorWorker;
const logged: string[] = [];
const seen: { aborted?: boolean } = {};

beforeAll(async () => {
  installRuntime('ERROR');
  const server = await findTemporalServer();
  if (server.kind === 'address') address = server.address;
  else {
    const environment = await TestWorkflowEnvironment.createLocal({
      server: { executable: { type: 'existing-path', path: server.path } },
    });
    address = environment.address;
    stopServer = () => environment.teardown();
  }
  const executor = memoryExecutor((_, sound) => ({
    submit: async (submission, call) => {
      if (submission.prepared.id !== 'slow') return sound.submit(submission, call);
      await new Promise((resolve) =>
        call.signal.addEventListener('abort', resolve, { once: true }),
      );
      seen.aborted = true;
      return accepted('never sent');
    },
    observe: async ({ node_key }) => {
      if (node_key === 'refused') throw new Rejected('KEY_UNKNOWN', 'never heard of');
      if (node_key === 'closed') throw new Unavailable('the bank is closed');
      throw new Error('password of the database');
    },
  }));
  worker = await runExecutorWorker(executor, {
    address,
    namespace: 'default',
    taskQueue: QUEUE,
    log: (line) => void logged.push(line),
  });
  caller = await openQueueCaller(optionsOf(QUEUE, { temporalAddress: address }));
}, 120_000);

afterAll(async () => {
  await worker.stop();
  await caller.close();
  await stopServer();
});

function ask(phase: string, input: unknown): Promise<QueueOutcome> {
  return caller.call({ phase, input, task_queue: QUEUE, timeout_ms: 20_000, pickup_ms: 20_000 });
}
const inFuture = (ms: number): string => new Date(Date.now() + ms).toISOString();

test('every phase is an activity; a passed preflight is null', async () => {
  const context = contextOf();
  expect(await ask('preflight', context)).toEqual({ ok: true, answer: null });
  expect(await ask('prepare', context)).toEqual({
    ok: true,
    answer: { next_state: 'SUBMITTING', prepared_action: { amount: '100' } },
  });
  expect(await ask('recover', context)).toEqual({ ok: true, answer: { next_state: 'READY' } });
  const sent = await ask('submit', {
    context,
    prepared_action: { amount: '100' },
    send_not_after: inFuture(20_000),
  });
  expect(sent).toMatchObject({ ok: true, answer: { next_state: 'SUBMITTED' } });
  expect(await ask('recover', context)).toMatchObject({
    ok: true,
    answer: { next_state: 'COMPLETED' },
  });
  expect(await ask('cancel', context)).toMatchObject({
    ok: true,
    answer: { next_state: 'COMPLETED' },
  });
});

test('a refusal has its own type; other failures may be tried again, and only the log has the words of an accident', async () => {
  expect(await ask('prepare', {})).toMatchObject({
    ok: false,
    kind: 'application',
    type: REJECTED_FAILURE,
  });
  expect(await ask('observe', contextOf({ node_key: 'refused' }))).toMatchObject({
    type: REJECTED_FAILURE,
    message: 'KEY_UNKNOWN: never heard of',
  });
  expect(await ask('observe', contextOf({ node_key: 'closed' }))).toMatchObject({
    type: 'EXECUTOR_UNAVAILABLE',
    message: 'the bank is closed',
  });
  const accident = await ask('observe', contextOf());
  expect(accident).toMatchObject({ ok: false, type: 'EXECUTOR_ERROR' });
  expect(JSON.stringify(accident)).not.toMatch(/password/);
  expect(logged).toEqual(['observe: Error: password of the database']);
});

test('a submit is aborted at send_not_after, and not started after it', async () => {
  const context = contextOf({ idempotency_key: 'late' });
  const submit = (id: string, send_not_after: unknown) =>
    ask('submit', { context, prepared_action: { amount: '1', id }, send_not_after });
  await submit('slow', inFuture(1_500));
  expect(seen.aborted).toBe(true);
  expect(await submit('quick', inFuture(-1))).toMatchObject({
    ok: false,
    type: 'SEND_TIME_PASSED',
  });
  expect(await submit('quick', 'tomorrow')).toMatchObject({ ok: false, type: REJECTED_FAILURE });
  expect(await ask('recover', context)).toEqual({ ok: true, answer: { next_state: 'READY' } });
});

test('the payout desk passes the whole check, kill -9 included', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'executor-queue-'));
  const port = await freePort();
  const results = await checkTarget(
    optionsOf('payouts', {
      config: { payee: 'alice' },
      payees: [{ field: 'payee', family: 'cex' }],
      temporalAddress: address,
      effectsUrl: `http://127.0.0.1:${port}/effects/{idempotency_key}`,
      command: `exec node dist/executor-task-queue.js --task-queue payouts --temporal-address ${address} --http-port ${port} --data ${folder}`,
    }),
  );
  rmSync(folder, { recursive: true });
  expect(troubles(results)).toEqual([]);
  expect(results.filter(({ status }) => status === 'not_run').map(({ id }) => id)).toEqual([
    'token',
  ]);
}, 240_000);

test('a worker that sends after send_not_after is caught, and so is a queue without a worker', async () => {
  const connection = await NativeConnection.connect({ address });
  const sound = executorActivities(memoryExecutor());
  const submit: typeof sound.submit = (input) =>
    sound.submit({ ...input, send_not_after: inFuture(60_000) });
  const late = await Worker.create({
    connection,
    taskQueue: 'late',
    activities: { ...sound, submit },
  });
  const options = optionsOf('late', { temporalAddress: address, only: ['too-late'] });
  const results = await late.runUntil(() => checkTarget(options));
  await connection.close();
  expect(failed(results)).toEqual(['too-late']);
  const unpolled = await checkTarget({ ...options, target: 'unpolled' });
  expect(troubles(unpolled)).toEqual(['health: no worker polls task queue unpolled']);
});
