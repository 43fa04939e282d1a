/**
 * Cancel of plans in which on_cancel edges stand beside on_success edges: compensation runs for
 * what has landed and for nothing else. Needs the runtime of graphs that fork.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isAddressEqual } from 'viem';
import {
  assertConsistent,
  ledgerOf,
  transfersOnChain,
  type MovementView,
} from '../support/evidence.ts';
import { eventually, startOwnStack, type Created, type OwnStack } from '../support/own-stack.ts';
import {
  compensation,
  edge,
  gate,
  noop,
  passedOn,
  storeTemplate,
  transfer,
  withdrawal,
  type PlanEdge,
  type PlanNode,
} from '../support/plans.ts';

let own: OwnStack;
let serial = 0;
beforeAll(async () => {
  own = await startOwnStack({ split: true, env: { SVC_NODE_UNANSWERED_TIMEOUT_SECONDS: '1' } });
}, 180_000);
afterAll(async () => {
  if (own?.stack.children['worker']?.pid != null) await own.stack.kill('worker', 'SIGCONT');
  await own?.close();
});
afterEach(async () => {
  await own.venueFaults(null);
  await own.chainFaults({ mining: 'automatic' });
});

interface Approved extends Created {
  readonly amount: string;
}

/** A movement with its own amount; approved by default. */
async function begin(
  nodes: readonly PlanNode[],
  edges: readonly PlanEdge[],
  options: { readonly approved?: boolean } = {},
): Promise<Approved> {
  serial += 1;
  const amount = `13.${String(serial).padStart(2, '0')}1`;
  const movement = await own.api.create(await storeTemplate(own.api, nodes, { edges }), { amount });
  if (options.approved !== false) await own.api.approve(movement);
  return { ...movement, amount };
}

const statesOf = (movement: MovementView): Record<string, string> =>
  Object.fromEntries(movement.nodes.map(({ node_key, state }) => [node_key, state]));

/** Waits until the movement is CANCELLED with every node settled, and checks its story. */
async function cancelled({ movement_id }: Created): Promise<MovementView> {
  const end = await eventually(
    async () => {
      const movement = await own.api.movement(movement_id);
      const open = movement.nodes.some(
        ({ state }) => !['COMPLETED', 'FAILED', 'SKIPPED', 'CANCELLED'].includes(state),
      );
      return open || movement.request_state !== 'CANCELLED' ? null : movement;
    },
    { timeoutMs: 60_000, what: () => `${movement_id} to be cancelled to its end` },
  );
  assertConsistent(end, await own.api.timeline(movement_id));
  await eventually(
    async () => ((await own.runOf(movement_id))?.status === 'COMPLETED' ? true : null),
    { what: () => 'the run to close' },
  );
  return end;
}

async function expectHolds({ movement_id }: Created, status: 'held' | 'released'): Promise<void> {
  await eventually(
    async () => ((await own.api.movement(movement_id)).reservation_status === status ? true : null),
    {
      timeoutMs: 5_000,
      what: () => `the reservation to be ${status}`,
    },
  );
  // Everything has come to its end, so no pool holds anything for it.
  expect(
    await own.query(`SELECT 1 FROM reservations WHERE movement_id = $1 AND status = 'held'`, [
      movement_id,
    ]),
  ).toEqual([]);
}

/**
 * Payments of the movement's amount: out of the exchange, and from the wallet back to the treasury.
 */
async function payments({
  movement_id,
  amount,
}: Approved): Promise<{ readonly withdrawn: number; readonly returned: number }> {
  const { signer, treasury, venueHotWallet } = own.stack.chain.accounts;
  const entries = await ledgerOf(own.stack.paperVenueUrl, movement_id);
  const transfers = (await transfersOnChain(own.stack.chain)).filter(
    (each) => each.amount === amount,
  );
  const withdrawn = transfers.filter(({ from }) =>
    isAddressEqual(from, venueHotWallet.address),
  ).length;
  expect(entries.reduce((sum, entry) => sum + entry.effects, 0)).toBe(withdrawn);
  return {
    withdrawn,
    returned: transfers.filter(
      ({ from, to }) =>
        isAddressEqual(from, signer.address) && isAddressEqual(to, treasury.address),
    ).length,
  };
}

const cancel = ({ movement_id }: Created): Promise<Record<string, unknown>> =>
  own.api.expect(200, 'POST', `/movements/${movement_id}/actions/cancel`);

/** `pay`, a gate, `after`; a cancel sends what `pay` brought to the treasury. */
function payThenWait(): {
  readonly nodes: readonly PlanNode[];
  readonly edges: readonly PlanEdge[];
} {
  const { chain } = own.stack;
  return {
    nodes: [
      withdrawal(chain, 'pay'),
      gate('check'),
      noop('after'),
      { ...passedOn(transfer(chain, 'give-back'), 'pay'), node_kind: 'compensation' },
    ],
    edges: [edge('pay', 'check'), edge('check', 'after'), edge('pay', 'give-back', 'on_cancel')],
  };
}

describe('compensation along on_cancel edges', () => {
  test('runs after a cancel at a gate, once, for the payment that had completed; the reservation stays held', async () => {
    const { nodes, edges } = payThenWait();
    const movement = await begin(nodes, edges);
    await own.api.reaches(movement.movement_id, 'WAITING_MANUAL_ACTION');
    expect(await cancel(movement)).toMatchObject({
      request_state: 'CANCELLED',
      reservation_status: 'held',
    });
    const end = await cancelled(movement);
    expect(statesOf(end)).toEqual({
      pay: 'COMPLETED',
      check: 'CANCELLED',
      after: 'CANCELLED',
      'give-back': 'COMPLETED',
    });
    await expectHolds(movement, 'held');
    expect(await payments(movement)).toEqual({ withdrawn: 1, returned: 1 });
  }, 90_000);

  test('does not run when nothing is cancelled', async () => {
    const { nodes, edges } = payThenWait();
    const movement = await begin(nodes, edges);
    await own.api.reaches(movement.movement_id, 'WAITING_MANUAL_ACTION');
    await own.api.act('resume', movement.movement_id);
    const end = await own.api.reaches(movement.movement_id, 'COMPLETED');
    expect(statesOf(end)).toEqual({
      pay: 'COMPLETED',
      check: 'COMPLETED',
      after: 'COMPLETED',
      'give-back': 'SKIPPED',
    });
    assertConsistent(end, await own.api.timeline(movement.movement_id));
    expect(await payments(movement)).toEqual({ withdrawn: 1, returned: 0 });
  }, 90_000);

  test.each(['before the approval', 'before it began'] as const)(
    'does not run for a payment that never was: cancel %s',
    async (when) => {
      const { nodes, edges } = payThenWait();
      if (when === 'before it began') await own.stack.kill('worker', 'SIGSTOP');
      let movement: Approved;
      try {
        movement = await begin(nodes, edges, { approved: when === 'before it began' });
        expect(await cancel(movement)).toMatchObject({
          request_state: 'CANCELLED',
          reservation_status: 'released',
        });
      } finally {
        await own.stack.kill('worker', 'SIGCONT');
      }
      const end = await cancelled(movement);
      expect(statesOf(end)).toEqual({
        pay: 'CANCELLED',
        check: 'CANCELLED',
        after: 'CANCELLED',
        'give-back': 'SKIPPED',
      });
      expect(await payments(movement)).toEqual({ withdrawn: 0, returned: 0 });
    },
    90_000,
  );

  test('waits for a payment that is in flight, and runs when it has landed', async () => {
    const { nodes, edges } = payThenWait();
    await own.chainFaults({ mining: 'paused' });
    const movement = await begin(nodes, edges);
    await own.api.nodeReaches(movement.movement_id, 'pay', ['OBSERVING']);
    expect(await cancel(movement)).toMatchObject({
      request_state: 'CANCELLED',
      current_frontier: ['pay'],
      reservation_status: 'held',
    });
    await sleep(500);
    expect(statesOf(await own.api.movement(movement.movement_id))).toEqual({
      pay: 'OBSERVING',
      check: 'CANCELLED',
      after: 'CANCELLED',
      'give-back': 'BLOCKED',
    });
    await own.chainFaults({ mining: 'automatic' });
    const end = await cancelled(movement);
    expect(statesOf(end)).toMatchObject({ pay: 'COMPLETED', 'give-back': 'COMPLETED' });
    await expectHolds(movement, 'held');
    expect(await payments(movement)).toEqual({ withdrawn: 1, returned: 1 });
  }, 90_000);

  test('waits for an unknown payment until somebody has found out, and runs when it had landed', async () => {
    const { chain } = own.stack;
    const { edges, nodes } = payThenWait();
    const impatient = withdrawal(chain, 'pay', { more: { retry_policy: { max_attempts: 1 } } });
    await own.venueFaults({ lose_answer_rate: 1, phases: ['submit', 'recover'] });
    const movement = await begin([impatient, ...nodes.slice(1)], edges);
    await own.api.reaches(movement.movement_id, 'MANUAL_INTERVENTION');
    await own.venueFaults(null);
    expect(await cancel(movement)).toMatchObject({
      request_state: 'CANCELLED',
      reservation_status: 'held',
    });
    await sleep(500);
    expect(statesOf(await own.api.movement(movement.movement_id))).toMatchObject({
      pay: 'UNKNOWN',
      'give-back': 'BLOCKED',
    });
    await own.api.act('retry', movement.movement_id);
    const end = await cancelled(movement);
    expect(statesOf(end)).toMatchObject({ pay: 'COMPLETED', 'give-back': 'COMPLETED' });
    expect(await payments(movement)).toEqual({ withdrawn: 1, returned: 1 });
  }, 90_000);

  test('runs for what landed and is skipped for what did not', async () => {
    const { chain } = own.stack;
    const movement = await begin(
      [
        withdrawal(chain, 'first'),
        gate('check'),
        withdrawal(chain, 'second'),
        { ...passedOn(transfer(chain, 'undo-first'), 'first'), node_kind: 'compensation' },
        compensation('undo-second'),
      ],
      [
        edge('first', 'check'),
        edge('check', 'second'),
        edge('first', 'undo-first', 'on_cancel'),
        edge('second', 'undo-second', 'on_cancel'),
      ],
    );
    await own.api.reaches(movement.movement_id, 'WAITING_MANUAL_ACTION');
    await cancel(movement);
    const end = await cancelled(movement);
    expect(statesOf(end)).toEqual({
      first: 'COMPLETED',
      check: 'CANCELLED',
      second: 'CANCELLED',
      'undo-first': 'COMPLETED',
      'undo-second': 'SKIPPED',
    });
    await expectHolds(movement, 'held');
    expect(await payments(movement)).toEqual({ withdrawn: 1, returned: 1 });
  }, 90_000);

  test('that failed can be retried; the movement stays CANCELLED and is undone once', async () => {
    const { nodes, edges } = payThenWait();
    const movement = await begin(nodes, edges);
    await own.api.reaches(movement.movement_id, 'WAITING_MANUAL_ACTION');
    await own.api.expect(200, 'PATCH', '/executors/evm.transfer', { status: 'disabled' });
    try {
      await cancel(movement);
      expect(statesOf(await cancelled(movement))).toMatchObject({
        pay: 'COMPLETED',
        'give-back': 'FAILED',
      });
    } finally {
      await own.api.expect(200, 'PATCH', '/executors/evm.transfer', { status: 'active' });
    }
    await own.api.act('retry', movement.movement_id);
    await own.api.nodeReaches(movement.movement_id, 'give-back', ['COMPLETED']);
    const end = await cancelled(movement);
    expect(end.nodes.find(({ node_key }) => node_key === 'give-back')).toMatchObject({
      state: 'COMPLETED',
      attempt: 2,
    });
    expect(await payments(movement)).toEqual({ withdrawn: 1, returned: 1 });
    await own.api.expect(409, 'POST', `/movements/${movement.movement_id}/actions/retry`);
  }, 90_000);
});

test('a cancel asks the venue to call back an order that it has not sent yet, and then nothing is undone or held', async () => {
  const { nodes, edges } = payThenWait();
  await own.venueFaults({ processing_ms: 20_000, phases: ['submit'] });
  const movement = await begin(nodes, edges);
  await own.api.nodeReaches(movement.movement_id, 'pay', ['OBSERVING']);
  expect(await cancel(movement)).toMatchObject({
    request_state: 'CANCELLED',
    reservation_status: 'held',
  });
  const end = await cancelled(movement);
  expect(statesOf(end)).toMatchObject({ pay: 'FAILED', 'give-back': 'SKIPPED' });
  expect(
    (await ledgerOf(own.stack.paperVenueUrl, movement.movement_id)).map(({ state, effects }) => ({
      state,
      effects,
    })),
  ).toEqual([{ state: 'cancelled', effects: 0 }]);
  await expectHolds(movement, 'released');
  expect(await payments(movement)).toEqual({ withdrawn: 0, returned: 0 });
}, 90_000);

test('a wrong movement of each starter template can be ended', async () => {
  const gated = await own.api.create('starter/withdraw-with-gate', { amount: '3.5' });
  await own.api.approve(gated);
  await own.api.reaches(gated.movement_id, 'WAITING_MANUAL_ACTION');
  await own.api.act('cancel', gated.movement_id);
  const ended = await own.api.nodeReaches(gated.movement_id, 'stop', ['COMPLETED']);
  expect(ended.request_state).toBe('CANCELLED');
  expect(statesOf(ended)).toMatchObject({ withdraw: 'COMPLETED', sweep: 'CANCELLED' });
  await own.chainFaults({ mining: 'paused' });
  for (const template of ['starter/withdraw-to-treasury', 'starter/treasury-transfer']) {
    const movement = await own.api.create(template, { amount: '1.5' });
    await own.api.approve(movement);
    const [first] = (await own.api.movement(movement.movement_id)).nodes;
    await own.api.nodeReaches(movement.movement_id, first?.node_key ?? '', ['OBSERVING']);
    await own.api.act('cancel', movement.movement_id);
    expect((await own.api.movement(movement.movement_id)).request_state).toBe('CANCELLED');
  }
}, 90_000);
