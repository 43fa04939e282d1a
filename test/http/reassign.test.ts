/** A payment that completed the wrong node is reassigned to the right one. */
import { agent } from '../support/agents.ts';
import {
  act,
  alone,
  detail,
  gate,
  must,
  post,
  reaches,
  sendAs,
  sql,
  timeline,
  waitFor,
  type ActionView,
} from '../support/http.ts';
import { hasBaseline, PAYER, reassignment, shows, wrongPayment } from '../support/wrong-payment.ts';

alone(PAYER);

const reassign = <T = ActionView>(holder: string, target: string) =>
  post<T>(`/movements/${holder}/nodes/arrive/actions/reassign`, reassignment(target));

/** How the attention of a movement offers it. */
const offered = async (movementId: string): Promise<readonly object[]> => {
  const { attention } = (await detail(movementId)) as unknown as {
    readonly attention: { readonly actions: readonly { readonly action: string }[] };
  };
  return attention.actions.filter(({ action }) => action === 'reassign');
};

const refusedAs = (detail: object) => ({ status: 409, body: { detail } });

const states = async (movementId: string): Promise<Record<string, string>> =>
  Object.fromEntries((await detail(movementId)).nodes.map((node) => [node.node_key, node.state]));

const claimedBy = async (address: string): Promise<readonly string[]> =>
  (
    await sql<{ movement_id: string }>(
      'SELECT movement_id FROM payment_claims WHERE reference = $1 ORDER BY created_at',
      [address],
    )
  ).map(({ movement_id }) => movement_id);

test('the other is completed with it, and the first waits for a payment of its own', async () => {
  const reader = await agent();
  const { holder, target, address, pay } = await wrongPayment([gate('release')], reader.namespace);
  await reaches(holder, 'WAITING_MANUAL_ACTION');
  expect(await offered(holder)).toMatchObject([
    { node_key: 'arrive', attempt: 1, state: 'COMPLETED' },
  ]);
  expect(await must(200, reassign(holder, target))).toMatchObject({
    movement_id: holder,
    request_state: 'EXECUTING',
    current_frontier: ['arrive'],
    to: { movement_id: target },
    payments: [{ reference: address, amount: '5' }],
  });
  expect(await states(holder)).toEqual({ arrive: 'OBSERVING', release: 'BLOCKED' });
  await reaches(target, 'COMPLETED');
  expect(await shows(target, () => true)).toMatchObject({
    output: { received_amount: '5', payments: [{ reference: address }] },
  });
  expect(await claimedBy(address)).toEqual([target]);

  const [released, taken] = [await timeline(holder), await timeline(target)];
  const to = { movement_id: target, node_key: 'arrive' };
  const from = { movement_id: holder, node_key: 'arrive' };
  const why = { reason: 'the sender named the other invoice' };
  expect(released).toContainEqual(
    expect.objectContaining({
      event_type: 'node_observing',
      from_state: 'COMPLETED',
      to_state: 'OBSERVING',
      data: expect.objectContaining({ ...why, reassigned_to: to }),
    }),
  );
  expect(taken).toContainEqual(
    expect.objectContaining({
      event_type: 'node_completed',
      data: expect.objectContaining({ ...why, reassigned_from: from }),
    }),
  );
  // To an agent the other one may be a movement that it may not see.
  for (const [id, other] of [
    [holder, target],
    [target, holder],
  ] as const) {
    const seen = await must(200, sendAs(reader, 'GET', `/movements/${id}/timeline`));
    expect(JSON.stringify(seen)).toContain('the sender named');
    expect(JSON.stringify(seen)).not.toContain(other);
  }
  const audited = await sql<{ entity_key: string }>(
    `SELECT entity_key FROM audit_events WHERE action = 'movement.reassign'
      AND outcome = 'success' AND entity_key = ANY($1)`,
    [[holder, target]],
  );
  expect(new Set(audited.map(({ entity_key }) => entity_key))).toEqual(new Set([holder, target]));

  // Looks go on, and find nothing that is its own until it is paid.
  await shows(holder, hasBaseline);
  await pay();
  await reaches(holder, 'WAITING_MANUAL_ACTION');
  expect(await claimedBy(address)).toEqual([target, holder]);
  await must(200, act(holder, 'resume'));
  await reaches(holder, 'COMPLETED');
  expect(await reassign(holder, target)).toMatchObject(refusedAs({ error: 'invalid_state' }));
}, 90_000);

test('where something behind it has started, or all is over, it stays', async () => {
  const { holder, target, address, pay } = await wrongPayment([gate('first'), gate('second')]);
  await must(200, act(holder, 'resume', { node_key: 'first' }));
  await waitFor(async () => (await states(holder))['second'] === 'READY');
  await reaches(holder, 'WAITING_MANUAL_ACTION');
  expect(await offered(holder)).toEqual([]);
  expect(await reassign(holder, target)).toMatchObject(
    refusedAs({ error: 'not_reassignable', reason: 'passed_on', nodes: ['first'] }),
  );
  await must(200, act(holder, 'resume', { node_key: 'second' }));
  await reaches(holder, 'COMPLETED');
  expect(await reassign(holder, target)).toMatchObject(
    refusedAs({ error: 'not_reassignable', reason: 'movement_over' }),
  );
  expect(await claimedBy(address)).toEqual([holder]);
  expect(await states(target)).toEqual({ arrive: 'OBSERVING' });
  await pay();
  await reaches(target, 'COMPLETED');
}, 90_000);
