/**
 * Plans of every shape, run by the real service: what becomes of each node, and of the movement.
 */
import { assertConsistent } from '../support/evidence.ts';
import {
  act,
  approve,
  create,
  detail,
  edge,
  gate,
  must,
  noop,
  reaches,
  registered,
  run,
  shared,
  timeline,
  transfer,
  waitFor,
  withdrawal,
  type DetailView,
  type EdgeBody,
  type NodeBody,
} from '../support/http.ts';
import { allowed, freshAddress, revoked, ROWS, toDashboard } from '../support/dashboard.ts';

/** Fails at its preflight, since its own limit is below every amount. */
const failing = (node_key: string, more: Readonly<Record<string, unknown>> = {}): NodeBody =>
  noop(node_key, { risk_patch: { max_amount: '0.000001' }, ...more });
/** Waits for a balance that never comes. */
const waiting = (node_key: string, seconds: number): NodeBody => ({
  node_key,
  node_kind: 'observe',
  action_type: 'evm_balance_observe',
  executor_selector: { action_type: 'evm_balance_observe', chain_family: 'evm' },
  config: {
    chain_id: shared.chain.chainId,
    token_address: shared.chain.tokens.USDC.address,
    address: '0x00000000000000000000000000000000000dead1',
    min_increase: '1',
  },
  timeout_policy: { observe_seconds: seconds },
});

const plan = (nodes: readonly NodeBody[], edges: readonly EdgeBody[]) =>
  registered(nodes, { edges });
const states = (movement: DetailView): Record<string, string> =>
  Object.fromEntries(movement.nodes.map((node) => [node.node_key, node.state]));
const consistent = async (movementId: string): Promise<void> =>
  assertConsistent(await detail(movementId), await timeline(movementId));
const kinds = async (movementId: string): Promise<string[]> =>
  (await timeline(movementId)).map((event) => event.event_type);

describe('a plan that forks and joins', () => {
  test('runs its branches side by side and what joins them after both', async () => {
    const of = await plan(
      [noop('start'), noop('left'), noop('right'), noop('end')],
      [edge('start', 'left'), edge('start', 'right'), edge('left', 'end'), edge('right', 'end')],
    );
    expect(of).toMatchObject({
      graph_shape: 'hybrid',
      requires_graph_runtime: true,
      executable_in_v3_0: true,
    });
    const ended = await run(of, 'COMPLETED');
    expect(states(ended)).toEqual({
      start: 'COMPLETED',
      left: 'COMPLETED',
      right: 'COMPLETED',
      end: 'COMPLETED',
    });
    const order = (await timeline(ended.movement_id))
      .filter((event) => event.event_type === 'node_completed')
      .map((event) => event.node_key);
    expect([order[0], order[3]]).toEqual(['start', 'end']);
    await consistent(ended.movement_id);
  });

  test('goes on in one branch while a gate waits in the other', async () => {
    const of = await plan(
      [noop('start'), gate('check'), noop('free'), noop('end')],
      [edge('start', 'check'), edge('start', 'free'), edge('check', 'end'), edge('free', 'end')],
    );
    const movement = await create(of);
    await approve(movement);
    const waits = await waitFor(async () => {
      const seen = await detail(movement.movement_id);
      return (
        seen.request_state === 'WAITING_MANUAL_ACTION' &&
        states(seen)['free'] === 'COMPLETED' &&
        seen
      );
    });
    expect(states(waits)).toMatchObject({ check: 'READY', end: 'BLOCKED' });
    await must(200, act(movement.movement_id, 'resume'));
    await reaches(movement.movement_id, 'COMPLETED');
    await consistent(movement.movement_id);
  });

  test('needs one whole group of edges with one join_key, not all groups', async () => {
    const of = await plan(
      [noop('a'), noop('b'), failing('c'), noop('fallback'), noop('end')],
      [
        edge('a', 'end', 'on_success', { join_key: 'first' }),
        edge('b', 'end', 'on_success', { join_key: 'first' }),
        edge('c', 'end', 'on_success', { join_key: 'second' }),
        edge('c', 'fallback', 'on_failure'),
      ],
    );
    const ended = await run(of, 'COMPLETED');
    expect(states(ended)).toEqual({
      a: 'COMPLETED',
      b: 'COMPLETED',
      c: 'FAILED',
      fallback: 'COMPLETED',
      end: 'COMPLETED',
    });
    await consistent(ended.movement_id);
  });
});

describe('a plan with conditions', () => {
  const byAmount = () =>
    plan(
      [noop('start'), noop('large'), noop('small'), noop('end')],
      [
        edge('start', 'large', 'on_success', { condition_expr: "dec(intent.amount) > dec('100')" }),
        edge('start', 'small', 'on_success', {
          condition_expr: "dec(intent.amount) <= dec('100')",
        }),
        edge('large', 'end'),
        edge('small', 'end'),
      ],
    );

  test.each([
    ['9', { large: 'SKIPPED', small: 'COMPLETED' }],
    ['1000', { large: 'COMPLETED', small: 'SKIPPED' }],
  ])('takes the way that %s asks for and skips the other', async (amount, expected) => {
    const ended = await run(await byAmount(), 'COMPLETED', { intent: { asset: 'USDC', amount } });
    expect(states(ended)).toMatchObject({ ...expected, end: 'COMPLETED' });
    await consistent(ended.movement_id);
  });

  test('looks at what an earlier node found out', async () => {
    const of = await plan(
      [withdrawal('out'), noop('net'), noop('nothing')],
      [
        edge('out', 'net', 'on_success', {
          condition_expr: "dec(nodes['out'].output.received_amount) > dec('0')",
        }),
        edge('out', 'nothing', 'on_success', {
          condition_expr: "dec(nodes['out'].output.received_amount) <= dec('0')",
        }),
      ],
    );
    const ended = await run(of, 'COMPLETED', { intent: { asset: 'USDC', amount: '3.3' } });
    expect(states(ended)).toMatchObject({ net: 'COMPLETED', nothing: 'SKIPPED' });
  });

  test('is remembered while the movement waits for a person', async () => {
    const of = await plan(
      [noop('look'), gate('confirm'), noop('both')],
      [
        edge('look', 'both', 'on_success', { condition_expr: "dec(intent.amount) > dec('0')" }),
        edge('confirm', 'both', 'on_failure'),
      ],
    );
    const movement = await run(of, 'WAITING_MANUAL_ACTION');
    await waitFor(async () => states(await detail(movement.movement_id))['look'] === 'COMPLETED');
    // The run begins from the database again, where the source has long settled.
    await must(200, act(movement.movement_id, 'resume'));
    const ended = await waitFor(async () => {
      const now = await detail(movement.movement_id);
      return now.request_state === 'COMPLETED' && now;
    });
    expect(states(ended)).toEqual({ look: 'COMPLETED', confirm: 'COMPLETED', both: 'COMPLETED' });
  });

  test('fails with CONDITION_ERROR when one cannot be evaluated, and tells which', async () => {
    const of = await plan(
      [noop('start'), noop('next')],
      [
        edge('start', 'next', 'on_success', {
          condition_expr: "dec(input_params.limit) > dec('1')",
        }),
      ],
    );
    const ended = await run(of, 'FAILED', { input_params: { limit: 'many' } });
    expect(ended).toMatchObject({ error_code: 'CONDITION_ERROR' });
    expect(states(ended)).toEqual({ start: 'COMPLETED', next: 'SKIPPED' });
    const transitions = (await timeline(ended.movement_id)).filter(
      (event) => event.event_type === 'condition_error',
    );
    expect(transitions).toMatchObject([{ node_key: 'start', data: { from: 'start', to: 'next' } }]);
    await consistent(ended.movement_id);
  });

  test('among edges of one kind the highest priority goes, and equal ones go together', async () => {
    const of = await plan(
      [noop('start'), noop('low'), noop('high'), noop('also')],
      [
        edge('start', 'low', 'on_success', { priority: 1 }),
        edge('start', 'high', 'on_success', { priority: 5 }),
        edge('start', 'also', 'on_success', { priority: 5 }),
      ],
    );
    expect(states(await run(of, 'COMPLETED'))).toEqual({
      start: 'COMPLETED',
      low: 'SKIPPED',
      high: 'COMPLETED',
      also: 'COMPLETED',
    });
  });
});

describe('a node that fails', () => {
  test('is handled by what its on_failure edge leads to', async () => {
    const of = await plan(
      [failing('try'), noop('next'), noop('instead')],
      [edge('try', 'next'), edge('try', 'instead', 'on_failure')],
    );
    const ended = await run(of, 'COMPLETED');
    expect(states(ended)).toEqual({ try: 'FAILED', next: 'SKIPPED', instead: 'COMPLETED' });
    expect(ended.error_code).toBeNull();
    await consistent(ended.movement_id);
  });

  test('is compensated, and the movement still fails with its code', async () => {
    const of = await plan(
      [noop('first'), failing('second'), { ...noop('undo'), node_kind: 'compensation' }],
      [edge('first', 'second'), edge('second', 'undo', 'on_failure')],
    );
    const ended = await run(of, 'FAILED');
    expect(ended).toMatchObject({
      error_code: 'MAX_AMOUNT_EXCEEDED',
      reservation_status: 'released',
    });
    expect(states(ended)).toEqual({ first: 'COMPLETED', second: 'FAILED', undo: 'COMPLETED' });
    await consistent(ended.movement_id);
  });

  test('by time-out takes its on_timeout edge and not the one for failures', async () => {
    const of = await plan(
      [waiting('look', 1), noop('late'), noop('broken')],
      [edge('look', 'late', 'on_timeout'), edge('look', 'broken', 'on_failure')],
    );
    const ended = await run(of, 'COMPLETED');
    expect(ended.nodes[0]).toMatchObject({ state: 'FAILED', error_code: 'NODE_TIMED_OUT' });
    expect(states(ended)).toMatchObject({ late: 'COMPLETED', broken: 'SKIPPED' });
    await consistent(ended.movement_id);
  });

  test('stops what has not started, while the other branch runs to its end', async () => {
    const of = await plan(
      [noop('start'), failing('bad'), withdrawal('good'), noop('after')],
      [edge('start', 'bad'), edge('start', 'good'), edge('good', 'after')],
    );
    const ended = await run(of, 'FAILED', { intent: { asset: 'USDC', amount: '2.02' } });
    expect(states(ended)).toEqual({
      start: 'COMPLETED',
      bad: 'FAILED',
      good: 'COMPLETED',
      after: 'SKIPPED',
    });
    await consistent(ended.movement_id);
  });

  test('after everything, post-actions run and never change the outcome', async () => {
    const of = await plan(
      [
        noop('work'),
        { ...failing('report'), node_kind: 'post_action' },
        { ...noop('log'), node_kind: 'post_action' },
      ],
      [edge('work', 'report'), edge('work', 'log')],
    );
    const ended = await run(of, 'COMPLETED');
    expect(states(ended)).toEqual({ work: 'COMPLETED', report: 'FAILED', log: 'COMPLETED' });
  });
});

test('a gate that is resumed fires its on_manual_resume edge beside on_success', async () => {
  const of = await plan(
    [gate('check'), noop('then'), noop('note')],
    [edge('check', 'then'), edge('check', 'note', 'on_manual_resume')],
  );
  const movement = await create(of);
  await approve(movement);
  await reaches(movement.movement_id, 'WAITING_MANUAL_ACTION');
  await must(200, act(movement.movement_id, 'resume'));
  expect(states(await reaches(movement.movement_id, 'COMPLETED'))).toEqual({
    check: 'COMPLETED',
    then: 'COMPLETED',
    note: 'COMPLETED',
  });
});

test('what really arrived is what the next node moves', async () => {
  // The withdrawal takes less than the intent says, so that the two cannot be mistaken for each
  // other.
  const of = await registered([
    withdrawal('out', { config: { ...(withdrawal('x')['config'] as object), amount: '20.25' } }),
    transfer('sweep', {
      config: {
        ...(transfer('x')['config'] as object),
        amount_ref: 'nodes.out.output.received_amount',
      },
    }),
  ]);
  const ended = await run(of, 'COMPLETED', { intent: { asset: 'USDC', amount: '55.5' } });
  const [out, sweep] = ended.nodes;
  expect([out?.output?.['received_amount'], sweep?.['amount']]).toEqual(['20.25', '20.25']);
  expect(await kinds(ended.movement_id)).toContain('request_completed');
});

test('a retry brings back what was skipped because of the failure', async () => {
  // Whom it pays is off the list when it runs, and on it again before the retry.
  const paid = freshAddress();
  const row = await allowed(paid, { chain_family: 'cex' });
  const to = { config: { ...(withdrawal('x')['config'] as object), destination_address: paid } };
  const of = await plan(
    [withdrawal('sweep', to), noop('left'), noop('right')],
    [edge('sweep', 'left'), edge('sweep', 'right')],
  );
  const movement = await create(of);
  await revoked(row);
  await approve(movement);
  const failed = await reaches(movement.movement_id, 'FAILED');
  expect(states(failed)).toEqual({ sweep: 'FAILED', left: 'SKIPPED', right: 'SKIPPED' });
  await must(200, toDashboard('POST', `${ROWS}/${row.id}/reactivate`, { reason: 'mended' }));
  await must(200, act(movement.movement_id, 'retry'));
  const ended = await reaches(movement.movement_id, 'COMPLETED');
  expect(states(ended)).toEqual({ sweep: 'COMPLETED', left: 'COMPLETED', right: 'COMPLETED' });
  await consistent(movement.movement_id);
});
