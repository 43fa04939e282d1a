/** Temporal away, signals lost, late or without a run: what Postgres says happens all the same. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { approve } from '../../domain/commands/approval.ts';
import { MOVEMENT_WORKFLOW, movementWorkflowId, TASK_QUEUE } from '../../domain/messages.ts';
import { connectDatabase } from '../../prisma/client.ts';
import { readSnapshot } from '../../store/movements.ts';
import { applyTransition } from '../../store/transition.ts';
import { assertConsistent, PAID_ONCE, timesPaid } from '../support/evidence.ts';
import { eventually, WITHDRAW_TO_TREASURY, ownStack, type Created } from '../support/own-stack.ts';

const own = ownStack({ split: true });

afterEach(async () => {
  await own.chainFaults({ mining: 'automatic' });
});

async function expectPaidOnce({ movement_id }: Created, amount: string): Promise<void> {
  const ended = await own.api.reaches(movement_id, 'COMPLETED');
  assertConsistent(ended, await own.api.timeline(movement_id));
  expect(await timesPaid(own.stack, movement_id, amount)).toEqual(PAID_ONCE);
}

/** Signals the movement as the hand-over does, with no command behind it. */
async function signal(movementId: string, name: string): Promise<string> {
  const handle = await own.temporal.workflow.signalWithStart(MOVEMENT_WORKFLOW, {
    workflowId: movementWorkflowId(movementId),
    taskQueue: TASK_QUEUE,
    args: [movementId],
    signal: name,
    signalArgs: [null],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
  });
  return handle.signaledRunId;
}

/** Waits until the newest run is in this status. */
function runBecomes(
  movementId: string,
  status: string,
): Promise<{ run_id: string; events: number }> {
  return eventually(
    async () => {
      const run = await own.runOf(movementId);
      return run?.status === status ? run : null;
    },
    { what: () => `the run of ${movementId} to be ${status}` },
  );
}

describe('with Temporal stopped', () => {
  test('approve, create and reject are answered as ever, and everything goes on when it is back', async () => {
    const approved = await own.api.create(WITHDRAW_TO_TREASURY, { amount: '20.01' });
    const rejected = await own.api.create(WITHDRAW_TO_TREASURY, { amount: '20.02' });
    await own.stack.stopChild('temporal');
    await own.api.approve(approved);
    await own.api.expect(200, 'POST', `/movements/${rejected.movement_id}/reject`, {
      reason: 'not today',
    });
    const created = await own.api.create(WITHDRAW_TO_TREASURY, { amount: '20.03' });
    await own.api.approve(created);
    expect((await own.api.movement(approved.movement_id)).request_state).toBe('APPROVED');
    expect((await own.api.movement(rejected.movement_id)).request_state).toBe('REJECTED');
    await own.stack.startChild('temporal');
    await expectPaidOnce(approved, '20.01');
    await expectPaidOnce(created, '20.03');
    await runBecomes(rejected.movement_id, 'COMPLETED');
    assertConsistent(
      await own.api.movement(rejected.movement_id),
      await own.api.timeline(rejected.movement_id),
    );
    const open = await own.query('SELECT 1 FROM commands WHERE applied_at IS NULL');
    expect(open).toHaveLength(0);
  }, 120_000);

  test('and its database deleted, movements in flight go on from Postgres', async () => {
    await own.chainFaults({ mining: 'paused' });
    const flying = await own.api.create(WITHDRAW_TO_TREASURY, { amount: '21.01' });
    const waiting = await own.api.create(WITHDRAW_TO_TREASURY, { amount: '21.02' });
    await own.api.approve(flying);
    await own.api.nodeReaches(flying.movement_id, 'withdraw', ['OBSERVING']);
    const before = await own.runOf(flying.movement_id);
    await own.stack.stopChild('temporal');
    for (const end of ['', '-wal', '-shm'])
      rmSync(join(own.stack.dataDir, `temporal.db${end}`), { force: true });
    await own.stack.startChild('temporal');
    // The earlier run is gone; the sweeper may have started another by now.
    expect((await own.runOf(flying.movement_id))?.run_id).not.toBe(before?.run_id);
    await own.chainFaults({ mining: 'automatic' });
    await expectPaidOnce(flying, '21.01');
    await own.api.approve(waiting);
    await expectPaidOnce(waiting, '21.02');
  }, 120_000);
});

describe('a wake', () => {
  test('that is lost is delivered by the relay', async () => {
    const movement = await own.api.create(WITHDRAW_TO_TREASURY, { amount: '22.01' });
    await runBecomes(movement.movement_id, 'RUNNING');
    const db = connectDatabase({ url: own.stack.databaseUrl, poolSize: 1 });
    try {
      // The approval as the API writes it, by a process that dies before it signals.
      const snapshot = await readSnapshot(db, movement.movement_id);
      const requester = {
        caller: { client_id: null, key_id: null, role: 'admin' as const },
        request_id: 'lost',
      };
      const outcome = await applyTransition(
        db,
        approve(
          snapshot,
          { compiled_plan_hash: movement.compiled_plan_hash, approver_id: 'tester' },
          requester,
        ),
      );
      expect(outcome.ok).toBe(true);
    } finally {
      await db.$disconnect();
    }
    await expectPaidOnce(movement, '22.01');
    const [command] = await own.query<{ wakes: number; applied: boolean }>(
      `SELECT wakes, applied_at IS NOT NULL AS applied FROM commands WHERE movement_id = $1
        AND kind = 'approve'`,
      [movement.movement_id],
    );
    expect(command).toEqual({ wakes: 1, applied: true });
  });

  test('that comes late, for a movement that has ended, begins a run that closes at once', async () => {
    const rejected = await own.api.create(WITHDRAW_TO_TREASURY, { amount: '22.02' });
    await own.api.expect(200, 'POST', `/movements/${rejected.movement_id}/reject`, {});
    const first = await runBecomes(rejected.movement_id, 'COMPLETED');
    const before = await own.api.timeline(rejected.movement_id);
    const late = await signal(rejected.movement_id, 'approve');
    expect(late).not.toBe(first.run_id);
    const run = await runBecomes(rejected.movement_id, 'COMPLETED');
    expect(run.run_id).toBe(late);
    // Started, signalled, one task with one load, closed.
    expect(run.events).toBeLessThanOrEqual(9);
    expect(await own.api.timeline(rejected.movement_id)).toEqual(before);
  });

  test('that comes late, for a movement whose approval has expired, changes nothing', async () => {
    const expired = await own.api.create(WITHDRAW_TO_TREASURY, { amount: '22.03', ttl: 1 });
    await own.api.reaches(expired.movement_id, 'EXPIRED');
    await runBecomes(expired.movement_id, 'COMPLETED');
    const late = await own.api.send('POST', `/movements/${expired.movement_id}/approve`, {
      compiled_plan_hash: expired.compiled_plan_hash,
      approver_id: 'tester',
    });
    expect(late.status).toBe(409);
    const run = await signal(expired.movement_id, 'wake');
    expect((await runBecomes(expired.movement_id, 'COMPLETED')).run_id).toBe(run);
    const movement = await own.api.movement(expired.movement_id);
    expect(movement.request_state).toBe('EXPIRED');
    assertConsistent(movement, await own.api.timeline(expired.movement_id));
  });
});

test('a run that was terminated is revived by the sweeper, wherever its movement stands', async () => {
  await own.chainFaults({ mining: 'paused' });
  const flying = await own.api.create(WITHDRAW_TO_TREASURY, { amount: '23.01' });
  const waiting = await own.api.create(WITHDRAW_TO_TREASURY, { amount: '23.02', ttl: 12 });
  await own.api.approve(flying);
  await own.api.nodeReaches(flying.movement_id, 'withdraw', ['OBSERVING']);
  const ended: string[] = [];
  for (const { movement_id } of [flying, waiting]) {
    const run = await runBecomes(movement_id, 'RUNNING');
    await own.temporal.workflow.getHandle(movementWorkflowId(movement_id)).terminate('by a test');
    ended.push(run.run_id);
  }
  await own.chainFaults({ mining: 'automatic' });
  const revived = await runBecomes(waiting.movement_id, 'RUNNING');
  expect(ended).not.toContain(revived.run_id);
  await expectPaidOnce(flying, '23.01');
  // The revived run took the approval time over.
  await own.api.reaches(waiting.movement_id, 'EXPIRED');
  assertConsistent(
    await own.api.movement(waiting.movement_id),
    await own.api.timeline(waiting.movement_id),
  );
}, 90_000);

test('a run that waits for an approval which is not nearly over is revived by the pass over all', async () => {
  const waiting = await own.api.create(WITHDRAW_TO_TREASURY, { amount: '23.03' });
  const run = await runBecomes(waiting.movement_id, 'RUNNING');
  await own.temporal.workflow
    .getHandle(movementWorkflowId(waiting.movement_id))
    .terminate('by a test');
  await runBecomes(waiting.movement_id, 'TERMINATED');
  // It is looked for as soon as it has stood still for a second.
  await sleep(1_500);
  await own.query('UPDATE turns SET due_at = now()');
  const revived = await runBecomes(waiting.movement_id, 'RUNNING');
  expect(revived.run_id).not.toBe(run.run_id);
});

test('a movement whose run is well is woken once after its last command, and never without a reason', async () => {
  await own.chainFaults({ mining: 'paused' });
  const waiting = await own.api.create(WITHDRAW_TO_TREASURY, { amount: '24.01' });
  const flying = await own.api.create(WITHDRAW_TO_TREASURY, { amount: '24.02' });
  await own.api.approve(flying);
  await own.api.nodeReaches(flying.movement_id, 'withdraw', ['OBSERVING']);
  const before = await runBecomes(waiting.movement_id, 'RUNNING');
  // Those that wait are swept seldom: the next time is now.
  const [turn] = await own.query<{ turn: string }>(
    'UPDATE turns SET due_at = now() RETURNING turn::text',
  );
  await eventually(
    async () => {
      const [swept] = await own.query(
        `SELECT 1 FROM movements, turns WHERE movement_id = $1 AND swept_at IS NOT NULL
          AND turn > $2::bigint`,
        [flying.movement_id, turn?.turn],
      );
      return swept ?? null;
    },
    { what: () => 'both to be swept' },
  );
  await sleep(1_000);
  const after = await own.runOf(waiting.movement_id);
  expect(after).toMatchObject({ run_id: before.run_id, status: 'RUNNING' });
  expect(await signalsOf(waiting)).toBe(1);
  // The create, the approval, and once because it has stood still since they were read.
  expect(await signalsOf(flying)).toBe(3);
  await own.chainFaults({ mining: 'automatic' });
  await expectPaidOnce(flying, '24.02');
});

async function signalsOf({ movement_id }: Created): Promise<number> {
  const { events } = await own.temporal.workflow
    .getHandle(movementWorkflowId(movement_id))
    .fetchHistory();
  return (events ?? []).filter((event) => event.workflowExecutionSignaledEventAttributes != null)
    .length;
}
