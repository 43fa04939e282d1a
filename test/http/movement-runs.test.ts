/**
 * Movements that run: to their end, to a failure before anything was sent, and as Temporal shows
 * them.
 */
import { randomUUID } from 'node:crypto';
import { CALLBACK_EVENTS, TIMELINE_EVENTS } from '../../domain/events.ts';
import { movementWorkflowId, SEARCH_ATTRIBUTES } from '../../domain/messages.ts';
import { assertConsistent, transfersOnChain } from '../support/evidence.ts';
import {
  act,
  approval,
  approve,
  auditOfRequest,
  create,
  detail,
  gated,
  ledgerOf,
  must,
  noop,
  reaches,
  registered,
  run,
  shared,
  sql,
  timeline,
  transfer,
  waitFor,
  withdrawal,
  withTemporal,
} from '../support/http.ts';
import { allowed, freshAddress, revoked, ROWS, toDashboard } from '../support/dashboard.ts';

const consistent = async (movementId: string): Promise<void> =>
  assertConsistent(await detail(movementId), await timeline(movementId));
const auditOf = (movementId: string) =>
  sql<{ action: string; outcome: string }>(
    'SELECT action, outcome FROM audit_events WHERE entity_key = $1 ORDER BY occurred_at, event_id',
    [movementId],
  );

describe('an approved movement', () => {
  test('runs its nodes in order and completes, with everything on record', async () => {
    const movement = await create(await registered([noop('a'), noop('b')]), {
      intent: { asset: 'USDC', amount: '12.50' },
    });
    await approve(movement);
    const ended = await reaches(movement.movement_id, 'COMPLETED');
    expect(ended).toMatchObject({
      approval_status: 'approved',
      approver_id: 'tester',
      approved_by: 'dev-admin',
      reservation_status: 'consumed',
      current_frontier: [],
      error_code: null,
      compiled_plan_hash: movement.compiled_plan_hash,
    });
    for (const node of ended.nodes) {
      expect(node).toMatchObject({
        state: 'COMPLETED',
        attempt: 1,
        amount: '12.5',
        output: {},
        error_code: null,
      });
      for (const time of ['started_at', 'updated_at', 'completed_at'])
        expect(node[time]).toMatch(/Z$/);
    }
    expect(ended.workflow.run_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(ended.workflow.ui_url.startsWith(`${shared.uiUrl}/namespaces/default/workflows/`)).toBe(
      true,
    );

    const events = await timeline(movement.movement_id);
    assertConsistent(ended, events);
    expect(
      events.filter((event) => !TIMELINE_EVENTS.some((kind) => kind === event.event_type)),
    ).toEqual([]);
    const ofNode = events.filter(
      (event) => event.node_key === 'b' && event.event_type.startsWith('node_'),
    );
    expect(ofNode.map((event) => event.event_type)).toEqual([
      'node_ready',
      'node_preflight_passed',
      'node_prepared',
      'node_submitting',
      'node_completed',
    ]);
    const ofMovement = events.filter((event) =>
      (CALLBACK_EVENTS as readonly string[]).includes(event.event_type),
    );
    expect(ofMovement[0]?.event_type).toBe('request_approved');
    expect(ofMovement.at(-1)?.event_type).toBe('request_completed');
    expect(await auditOf(movement.movement_id)).toEqual(
      ['movement.create', 'movement.approve', 'movement.complete'].map((action) => ({
        action,
        outcome: 'success',
      })),
    );
  });

  test('takes node_config for what the template leaves open', async () => {
    const of = await registered([noop('a', { config: { amount: '3' } }), noop('b')]);
    const ended = await run(of, 'COMPLETED', { input_params: { node_config: { amount: '4' } } });
    expect(ended.nodes.map((node) => node['amount'])).toEqual(['3', '4']);
  });

  test('withdraws from the venue, and the money is on the chain', async () => {
    const amount = '7.000123';
    const ended = await run(await registered([withdrawal('out')]), 'COMPLETED', {
      intent: { asset: 'USDC', amount },
    });
    const [entry, ...others] = await ledgerOf(ended.movement_id);
    expect(others).toEqual([]);
    expect(entry).toMatchObject({
      effects: 1,
      amount,
      destination_address: shared.wallet,
      node_key: 'out',
    });
    const [node] = ended.nodes;
    expect(node).toMatchObject({
      external_ref: entry?.external_ref,
      output: { tx_hash: entry?.tx_hash, submitted_amount: amount },
    });
    const paid = (await transfersOnChain(shared.chain)).filter(
      (each) => each.tx_hash === entry?.tx_hash,
    );
    expect(paid).toMatchObject([{ to: shared.wallet, amount: node?.output?.['received_amount'] }]);
    await consistent(ended.movement_id);
  });
});

describe('a movement that may not be sent', () => {
  const nothingSent = async (movementId: string): Promise<void> => {
    expect(await ledgerOf(movementId)).toEqual([]);
    expect(
      await sql('SELECT 1 FROM evm_transactions WHERE movement_id = $1', [movementId]),
    ).toEqual([]);
  };

  test('fails when the token has too few digits for the amount', async () => {
    const ended = await run(await registered([transfer('sweep')]), 'FAILED', {
      intent: { asset: 'USDC', amount: '1.0000001' },
    });
    expect(ended).toMatchObject({
      error_code: 'AMOUNT_PRECISION',
      reservation_status: 'released',
      current_frontier: [],
    });
    expect(ended.nodes).toMatchObject([
      {
        state: 'FAILED',
        error_code: 'AMOUNT_PRECISION',
        error_message: expect.stringContaining('decimals'),
      },
    ]);
    await nothingSent(ended.movement_id);
    await consistent(ended.movement_id);
  });

  test('fails when it is more than the template allows', async () => {
    const of = await registered([withdrawal('out')], { risk_controls: { max_amount: '9.99' } });
    const ended = await run(of, 'FAILED');
    expect(ended).toMatchObject({
      error_code: 'MAX_AMOUNT_EXCEEDED',
      nodes: [{ state: 'FAILED', error_code: 'MAX_AMOUNT_EXCEEDED' }],
    });
    await nothingSent(ended.movement_id);
    expect(await auditOf(ended.movement_id)).toContainEqual({
      action: 'movement.fail',
      outcome: 'failed',
    });
  });

  test('runs when it is exactly what the template allows, and fails for a node that allows less', async () => {
    const of = await registered([noop('a'), noop('b', { risk_patch: { max_amount: '9' } })], {
      risk_controls: { max_amount: '10' },
    });
    const ended = await run(of, 'FAILED');
    expect(ended.nodes.map((node) => [node.state, node.error_code])).toEqual([
      ['COMPLETED', null],
      ['FAILED', 'MAX_AMOUNT_EXCEEDED'],
    ]);
  });

  test('is retried with a new attempt and completes when its fault is mended', async () => {
    await run(await registered([withdrawal('out')]), 'COMPLETED', {
      intent: { asset: 'USDC', amount: '3002' },
    });
    const paid = freshAddress();
    const row = await allowed(paid);
    const to = { config: { ...(transfer('x')['config'] as object), destination_address: paid } };
    const before = await create(await registered([transfer('sweep', to)]), {
      intent: { asset: 'USDC', amount: '3000.5' },
    });
    await revoked(row);
    // What arrived a moment ago is in the next fetch, and a refusal has the venue read once a
    // second at most.
    await waitFor(async () =>
      (await act(before.movement_id, 'approve', approval(before))).status === 200 ? true : null,
    );
    const failed = await reaches(before.movement_id, 'FAILED');
    expect(failed).toMatchObject({
      error_code: 'ADDRESS_NOT_ALLOWLISTED',
      nodes: [{ attempt: 1, state: 'FAILED' }],
    });
    await nothingSent(before.movement_id);

    await must(200, toDashboard('POST', `${ROWS}/${row.id}/reactivate`, { reason: 'mended' }));
    const request = randomUUID();
    expect(
      await must(200, act(before.movement_id, 'retry', undefined, { 'x-request-id': request })),
    ).toEqual({
      movement_id: before.movement_id,
      request_state: 'EXECUTING',
      current_frontier: ['sweep'],
      reservation_status: 'held',
    });
    const ended = await reaches(before.movement_id, 'COMPLETED');
    expect(ended).toMatchObject({
      error_code: null,
      reservation_status: 'consumed',
      nodes: [{ attempt: 2, state: 'COMPLETED', error_code: null }],
    });
    const hash = ended.nodes[0]?.output?.['tx_hash'];
    expect(
      (await transfersOnChain(shared.chain)).filter((each) => each.tx_hash === hash),
    ).toMatchObject([
      {
        from: shared.wallet,
        to: expect.stringMatching(new RegExp(`^${paid}$`, 'i')),
        amount: '3000.5',
      },
    ]);
    expect((await timeline(before.movement_id)).map((event) => event.event_type)).toEqual(
      expect.arrayContaining([
        'request_failed',
        'request_retried',
        'node_requeued',
        'request_completed',
      ]),
    );
    expect(await auditOfRequest(request)).toEqual([
      expect.objectContaining({ action: 'movement.retry', outcome: 'success' }),
    ]);
    await consistent(before.movement_id);
  });

  test('shows no signed bytes anywhere', async () => {
    const rows = await sql<{ raw_tx: string; movement_id: string }>(
      'SELECT raw_tx, movement_id FROM evm_transactions WHERE raw_tx IS NOT NULL',
    );
    for (const { raw_tx, movement_id } of rows) {
      const shown = JSON.stringify([await detail(movement_id), await timeline(movement_id)]);
      expect(shown).not.toContain(raw_tx);
    }
  });
});

describe('in Temporal', () => {
  const statusOf = (movementId: string): Promise<string> =>
    withTemporal(
      async (client) =>
        (await client.workflow.getHandle(movementWorkflowId(movementId)).describe()).status.name,
    );

  test('a movement is found by state, strategy, asset and template', async () => {
    const of = await gated();
    const strategy = `strategy-${randomUUID()}`;
    const { movement_id } = await run(of, 'WAITING_MANUAL_ACTION', {
      strategy_id: strategy,
      intent: { asset: 'EURC', amount: '1' },
    });
    const found = (query: string) =>
      withTemporal(async (client) => {
        for await (const each of client.workflow.list({ query }))
          if (each.workflowId === movementWorkflowId(movement_id)) return true;
        return false;
      });
    const { state, strategy: by, asset, template } = SEARCH_ATTRIBUTES;
    const common = `${by} = "${strategy}" AND ${asset} = "EURC" AND ${template} = "${of.template_key}"`;
    await waitFor(() => found(`${common} AND ${state} = "WAITING_MANUAL_ACTION"`));
    await must(200, act(movement_id, 'resume'));
    await waitFor(() => found(`${common} AND ${state} = "COMPLETED"`));
    expect(await found(`${common} AND ${state} = "WAITING_MANUAL_ACTION"`)).toBe(false);
  });

  test('a run tells what it is doing, and its activities have summaries', async () => {
    const { movement_id } = await run(await gated(), 'WAITING_MANUAL_ACTION');
    await withTemporal(async (client) => {
      const handle = client.workflow.getHandle(movementWorkflowId(movement_id));
      const { currentDetails } = await handle.query<{ currentDetails: string }>(
        '__temporal_workflow_metadata',
      );
      expect(currentDetails).toContain('WAITING_MANUAL_ACTION');
      expect(currentDetails).toMatch(/\| check \| READY \|/);
      const { events } = await handle.fetchHistory();
      const summaries = (events ?? []).flatMap((event) => {
        const phase = event.activityTaskScheduledEventAttributes;
        const data = phase == null ? null : event.userMetadata?.summary?.data;
        return data == null ? [] : [JSON.parse(Buffer.from(data).toString()) as string];
      });
      expect(summaries).toEqual(['before · preflight, prepare, submit, observe']);
    });
  });

  test('the close status mirrors how a movement ended', async () => {
    const noops = await registered([noop('a')]);
    const completed = await run(noops, 'COMPLETED');
    const failed = await run(
      await registered([noop('a')], { risk_controls: { max_amount: '1' } }),
      'FAILED',
    );
    const rejected = await create(noops);
    await must(200, act(rejected.movement_id, 'reject'));
    const closed = (movementId: string) =>
      waitFor(async () => {
        const status = await statusOf(movementId);
        return status !== 'RUNNING' && status;
      });
    expect([
      await closed(completed.movement_id),
      await closed(failed.movement_id),
      await closed(rejected.movement_id),
    ]).toEqual(['COMPLETED', 'FAILED', 'COMPLETED']);
  });

  test('a history holds no address or secret, and its amount only in its name', async () => {
    const amount = '11.223344';
    const { movement_id } = await run(await registered([withdrawal('out')]), 'COMPLETED', {
      intent: { asset: 'USDC', amount },
    });
    await withTemporal(async (client) => {
      const history = await client.workflow
        .getHandle(movementWorkflowId(movement_id))
        .fetchHistory();
      const text = Buffer.concat(payloads(history)).toString();
      expect(text).toContain(movement_id);
      const [name, ...others] = text.split(amount);
      expect([name, others.length]).toEqual([expect.stringMatching(/"$/), 1]);
      expect(others[0]).toMatch(/^ USDC · test\//);
      expect(text.toLowerCase()).not.toContain(shared.wallet.slice(2).toLowerCase());
    });
  });
});

/** Every byte string of a history. */
function payloads(value: unknown): Uint8Array[] {
  if (value instanceof Uint8Array) return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(payloads);
}
