/**
 * The worker is killed at six points of a movement; each transfer happens exactly once all the
 * same.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { assertConsistent, ledgerOf, PAID_ONCE, timesPaid } from '../support/evidence.ts';
import { eventually, WITHDRAW_TO_TREASURY, ownStack, type Created } from '../support/own-stack.ts';

let serial = 0;

const own = ownStack({ split: true });

afterEach(async () => {
  await own.venueFaults(null);
  await own.chainFaults({
    latency_ms: 0,
    drop_answer_rate: 0,
    reject_rate: 0,
    mining: 'automatic',
  });
});

interface Moved {
  readonly movement: Created;
  readonly amount: string;
}

/** A movement with an amount that no other one has. */
async function create(): Promise<Moved> {
  serial += 1;
  const amount = `10.${String(serial).padStart(4, '0').replace(/0+$/, '')}1`;
  return { amount, movement: await own.api.create(WITHDRAW_TO_TREASURY, { amount }) };
}

async function restartWorker(): Promise<void> {
  await own.stack.kill('worker');
  expect(own.stack.children['worker']?.pid).toBeNull();
  await own.stack.startChild('worker');
}

async function expectPaidOnce({ movement, amount }: Moved): Promise<void> {
  const { movement_id } = movement;
  const ended = await own.api.reaches(movement_id, 'COMPLETED');
  assertConsistent(ended, await own.api.timeline(movement_id));
  expect(await timesPaid(own.stack, movement_id, amount)).toEqual(PAID_ONCE);
}

/** Waits for the submit to be under way: past its fence, and for a moment at the other side. */
async function underWay(movementId: string, node: string): Promise<void> {
  await own.api.nodeReaches(movementId, node, ['SUBMITTING']);
  await sleep(300);
}

describe('a worker killed', () => {
  test('after the approval and before the first phase', async () => {
    const moved = await create();
    // Created with the worker up, so that a run waits in its memory; approved while it is dying.
    await own.stack.kill('worker');
    await own.api.approve(moved.movement);
    await own.stack.startChild('worker');
    await expectPaidOnce(moved);
  }, 90_000);

  test('while the withdrawal is being submitted', async () => {
    const moved = await create();
    await own.venueFaults({ hold_ms: 2_000, phases: ['submit'] });
    await own.api.approve(moved.movement);
    await underWay(moved.movement.movement_id, 'withdraw');
    expect(await ledgerOf(own.stack.paperVenueUrl, moved.movement.movement_id)).toHaveLength(0);
    await restartWorker();
    await expectPaidOnce(moved);
    const events = (await own.api.timeline(moved.movement.movement_id)).map(
      (event) => event.event_type,
    );
    expect(events).toContain('node_recovered');
  }, 90_000);

  test('after the withdrawal was accepted and its answer lost', async () => {
    const moved = await create();
    // The answer is held back long after the venue has booked the order.
    await own.venueFaults({ lose_answer_rate: 1, phases: ['submit', 'recover'] });
    await own.api.approve(moved.movement);
    await eventually(async () =>
      (await ledgerOf(own.stack.paperVenueUrl, moved.movement.movement_id)).length > 0
        ? true
        : null,
    );
    expect(
      (await own.api.nodeReaches(moved.movement.movement_id, 'withdraw', ['SUBMITTING']))
        .request_state,
    ).toBe('EXECUTING');
    await own.stack.kill('worker');
    await own.venueFaults(null);
    await own.stack.startChild('worker');
    await expectPaidOnce(moved);
    const [entry] = await ledgerOf(own.stack.paperVenueUrl, moved.movement.movement_id);
    expect(entry?.submit_calls).toBe(1);
  }, 90_000);

  test('while the withdrawal is observed', async () => {
    const moved = await create();
    await own.chainFaults({ mining: 'paused' });
    await own.api.approve(moved.movement);
    await own.api.nodeReaches(moved.movement.movement_id, 'withdraw', ['OBSERVING']);
    await sleep(500);
    await own.stack.kill('worker');
    await own.chainFaults({ mining: 'automatic' });
    await own.stack.startChild('worker');
    await expectPaidOnce(moved);
  }, 90_000);

  test('while the transfer on the chain is being sent', async () => {
    const moved = await create();
    await own.api.approve(moved.movement);
    await own.api.nodeReaches(moved.movement.movement_id, 'withdraw', [
      'SUBMITTED',
      'OBSERVING',
      'COMPLETED',
    ]);
    await eventually(async () =>
      (await timesPaid(own.stack, moved.movement.movement_id, moved.amount)).withdrawals === 1
        ? true
        : null,
    );
    await own.chainFaults({ latency_ms: 1_500 });
    await underWay(moved.movement.movement_id, 'sweep');
    await restartWorker();
    await own.chainFaults({ latency_ms: 0 });
    await expectPaidOnce(moved);
  }, 90_000);

  test('while the transfer on the chain waits to be mined', async () => {
    const moved = await create();
    await own.api.approve(moved.movement);
    await eventually(async () =>
      (await timesPaid(own.stack, moved.movement.movement_id, moved.amount)).withdrawals === 1
        ? true
        : null,
    );
    await own.api.nodeReaches(moved.movement.movement_id, 'withdraw', ['COMPLETED']);
    await own.chainFaults({ mining: 'paused' });
    await own.api.nodeReaches(moved.movement.movement_id, 'sweep', [
      'SUBMITTING',
      'SUBMITTED',
      'OBSERVING',
      'COMPLETED',
    ]);
    await restartWorker();
    await own.chainFaults({ mining: 'automatic' });
    await expectPaidOnce(moved);
  }, 90_000);
});
