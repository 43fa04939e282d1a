/** What operators do with a movement, and when they may not. */
import { randomUUID } from 'node:crypto';
import { ACTION_STATES } from '../../domain/states/movement.ts';
import {
  act,
  approval,
  approve,
  auditOfRequest,
  cancellable,
  create,
  detail,
  edge,
  expectInvalid,
  expectRefusal,
  gate,
  gated,
  get,
  must,
  noop,
  patch,
  reaches,
  registered,
  run,
  sql,
  timeline,
  waitFor,
  withdrawal,
  type DetailView,
  type TemplateView,
  type Verb,
} from '../support/http.ts';

let linear: TemplateView;
let withCancel: TemplateView;
let withGate: TemplateView;
beforeAll(async () => {
  [linear, withCancel, withGate] = await Promise.all([
    registered([noop('a')]),
    cancellable(),
    gated(),
  ]);
});

const kinds = async (movementId: string): Promise<string[]> =>
  (await timeline(movementId)).map((event) => event.event_type);

describe('an action that the state does not allow', () => {
  const expectInvalidState = async (
    movement: { movement_id: string; compiled_plan_hash: string },
    verb: Verb,
    state: string,
  ) => {
    const answer = await act(
      movement.movement_id,
      verb,
      verb === 'approve' ? approval(movement) : undefined,
    );
    expectRefusal(answer, 409, 'invalid_state', {
      current_state: state,
      allowed_states: ACTION_STATES[verb],
    });
  };

  test.each(['approve', 'resume', 'retry'] as const)(
    'with an idempotency key in its header is refused: %s',
    async (verb) => {
      const movement = await create(linear);
      const body = verb === 'approve' ? approval(movement) : undefined;
      const headers = { 'idempotency-key': 'once' };
      expectInvalid(await act(movement.movement_id, verb, body, headers), 'idempotency-key');
    },
  );

  test.each(['reject', 'cancel'] as const)(
    'that only stops is not refused for a key in its header: %s',
    async (verb) => {
      const { movement_id } = await create(withCancel);
      await must(200, act(movement_id, verb, undefined, { 'idempotency-key': 'once' }));
    },
  );

  test.each(['resume', 'retry'] as const)(
    'is refused with both states: %s of one that waits for approval',
    async (verb) => {
      await expectInvalidState(await create(linear), verb, 'PENDING_APPROVAL');
    },
  );

  test.each(['approve', 'reject', 'resume', 'retry', 'cancel'] as const)(
    'is refused with both states: %s of a rejected one',
    async (verb) => {
      const movement = await create(withCancel);
      await must(200, act(movement.movement_id, 'reject'));
      await expectInvalidState(movement, verb, 'REJECTED');
    },
  );

  test.each(['approve', 'reject', 'resume', 'retry', 'cancel'] as const)(
    'is refused with both states: %s of a completed one',
    async (verb) => {
      await expectInvalidState(await run(withCancel, 'COMPLETED'), verb, 'COMPLETED');
    },
  );

  test('is recorded as denied, once', async () => {
    const { movement_id } = await create(linear);
    const request = randomUUID();
    await act(movement_id, 'resume', undefined, { 'x-request-id': request });
    expect(await auditOfRequest(request)).toEqual([
      expect.objectContaining({
        action: 'movement.resume',
        entity_key: movement_id,
        outcome: 'denied',
        reason: 'invalid_state',
      }),
    ]);
  });
});

describe('an approve', () => {
  test('answers with the movement as it is then', async () => {
    const movement = await create(linear);
    const request = randomUUID();
    const answer = await act(movement.movement_id, 'approve', approval(movement), {
      'x-request-id': request,
    });
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        movement_id: movement.movement_id,
        request_state: 'APPROVED',
        current_frontier: ['a'],
        reservation_status: 'held',
      },
    ]);
    expect(await auditOfRequest(request)).toEqual([
      expect.objectContaining({
        action: 'movement.approve',
        entity_key: movement.movement_id,
        outcome: 'success',
      }),
    ]);
  });

  test('with another hash is 409 and changes nothing', async () => {
    const { movement_id } = await create(linear);
    const request = randomUUID();
    const wrong = { compiled_plan_hash: '0'.repeat(64), approver_id: 'tester' };
    expectRefusal(
      await act(movement_id, 'approve', wrong, { 'x-request-id': request }),
      409,
      'compiled_plan_hash_mismatch',
      {
        movement_id,
      },
    );
    expect(await detail(movement_id)).toMatchObject({
      request_state: 'PENDING_APPROVAL',
      approval_status: 'pending',
      approver_id: null,
    });
    expect(await auditOfRequest(request)).toEqual([
      expect.objectContaining({
        action: 'movement.approve',
        outcome: 'denied',
        reason: 'compiled_plan_hash_mismatch',
      }),
    ]);
  });

  test('after the time is 409, and the movement is EXPIRED', async () => {
    const movement = await create(linear);
    // The run waits on the time it has read; only the approve that arrives sees this one.
    await waitFor(async () => (await detail(movement.movement_id)).workflow.run_id);
    await sql(
      "UPDATE movements SET expires_at = now() - interval '1 second' WHERE movement_id = $1",
      [movement.movement_id],
    );
    const answer = await act(movement.movement_id, 'approve', approval(movement));
    expectRefusal(answer, 409, 'approval_expired', { movement_id: movement.movement_id });
    const seen = await detail(movement.movement_id);
    expect(seen).toMatchObject({
      request_state: 'EXPIRED',
      approval_status: 'expired',
      reservation_status: 'none',
      current_frontier: [],
    });
    expect(await kinds(movement.movement_id)).toEqual(['movement_created', 'request_expired']);
  });

  test('of one whose second has passed is 409', async () => {
    const movement = await create(linear, { approval_ttl_seconds: 1 });
    await new Promise((resolve) => setTimeout(resolve, 1_050));
    const { status, body } = await act<{ detail: { error: string } }>(
      movement.movement_id,
      'approve',
      approval(movement),
    );
    expect(status).toBe(409);
    expect(body.detail.error).toBe('approval_expired');
    expect((await detail(movement.movement_id)).request_state).toBe('EXPIRED');
  });

  test('that never comes lets the movement expire by itself', async () => {
    const { movement_id, expires_at } = await create(linear, { approval_ttl_seconds: 1 });
    await reaches(movement_id, 'EXPIRED', 10_000);
    const events = await timeline(movement_id);
    expect(events.at(-1)).toMatchObject({
      event_type: 'request_expired',
      from_state: 'PENDING_APPROVAL',
      to_state: 'EXPIRED',
      actor: { type: 'system' },
    });
    expect(Date.parse(events.at(-1)?.occurred_at ?? '')).toBeGreaterThanOrEqual(
      Date.parse(expires_at),
    );
  });

  test('with an executor that is switched off is 409 and names it; switched on, it is 200', async () => {
    const movement = await create(await registered([noop('a', { action_type: 'test_switched' })]));
    await must(200, patch('/executors/test.switched', { status: 'disabled', reason: 'a test' }));
    const answer = await act(movement.movement_id, 'approve', approval(movement));
    expectRefusal(answer, 409, 'binding_unavailable', {
      bindings: [{ binding: 'executor', key: 'test.switched', reason: 'disabled' }],
    });
    expect(await detail(movement.movement_id)).toMatchObject({
      request_state: 'PENDING_APPROVAL',
      review: { would_fail: [{ at: 'approve', node_key: 'a', error: 'binding_unavailable' }] },
    });
    await must(200, patch('/executors/test.switched', { status: 'active' }));
    expect(await detail(movement.movement_id)).toMatchObject({ review: { would_fail: [] } });
    await approve(movement);
  });

  test('twice at once lets one win', async () => {
    const movement = await create(withGate);
    const answers = await Promise.all(
      [1, 2, 3].map(() => act(movement.movement_id, 'approve', approval(movement))),
    );
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 409, 409]);
  });
});

describe('a reject', () => {
  test('ends the movement with its reason', async () => {
    const movement = await create(linear);
    const { movement_id, compiled_plan_hash } = movement;
    const request = randomUUID();
    const body = { approver_id: 'somebody', reason: 'too much', compiled_plan_hash };
    expect(await must(200, act(movement_id, 'reject', body, { 'x-request-id': request }))).toEqual({
      movement_id,
      request_state: 'REJECTED',
      current_frontier: [],
      reservation_status: 'none',
    });
    expect(await detail(movement_id)).toMatchObject({
      request_state: 'REJECTED',
      approval_status: 'rejected',
      approver_id: 'somebody',
    });
    const events = await timeline(movement_id);
    expect(events.at(-1)).toMatchObject({
      event_type: 'request_rejected',
      data: { reason: 'too much' },
      actor: { type: 'key', label: 'somebody' },
    });
    expect(await auditOfRequest(request)).toEqual([
      expect.objectContaining({
        action: 'movement.reject',
        outcome: 'success',
        reason: 'too much',
      }),
    ]);
  });

  test('with another hash is 409', async () => {
    const { movement_id } = await create(linear);
    const answer = await act(movement_id, 'reject', { compiled_plan_hash: 'other' });
    expectRefusal(answer, 409, 'compiled_plan_hash_mismatch', { movement_id });
  });
});

describe('a cancel', () => {
  test('of a plan without an on_cancel edge is 409', async () => {
    const { movement_id } = await create(linear);
    expectRefusal(await act(movement_id, 'cancel'), 409, 'no_on_cancel_edge', { movement_id });
    expect((await detail(movement_id)).request_state).toBe('PENDING_APPROVAL');
  });

  test('before the approval ends the movement, and nothing of it runs', async () => {
    const { movement_id } = await create(withCancel);
    const request = randomUUID();
    expect(
      await must(200, act(movement_id, 'cancel', undefined, { 'x-request-id': request })),
    ).toEqual({
      movement_id,
      request_state: 'CANCELLED',
      current_frontier: [],
      reservation_status: 'released',
    });
    const ended = await waitFor<DetailView>(async () => {
      const movement = await detail(movement_id);
      return (
        movement.nodes.every((node) => ['CANCELLED', 'SKIPPED'].includes(node.state)) && movement
      );
    });
    expect(ended.nodes.map((node) => [node.node_key, node.state])).toEqual([
      ['do', 'CANCELLED'],
      ['undo', 'SKIPPED'],
    ]);
    expect(await kinds(movement_id)).toEqual([
      'movement_created',
      'request_cancelled',
      'node_cancelled',
      'node_skipped',
    ]);
    expect(await auditOfRequest(request)).toEqual([
      expect.objectContaining({ action: 'movement.cancel', outcome: 'success' }),
    ]);
  });

  test('at a gate keeps the reservation of what was done, and leaves out what comes after', async () => {
    const of = await registered(
      [
        noop('do', { has_side_effect: true }),
        gate('check'),
        { ...noop('undo'), node_kind: 'compensation' },
      ],
      {
        edges: [edge('do', 'check'), edge('check', 'undo', 'on_cancel')],
      },
    );
    const { movement_id } = await run(of, 'WAITING_MANUAL_ACTION');
    expect(await must(200, act(movement_id, 'cancel'))).toMatchObject({
      request_state: 'CANCELLED',
      reservation_status: 'held',
    });
    const ended = await waitFor<DetailView>(async () => {
      const movement = await detail(movement_id);
      return movement.nodes[2]?.state === 'SKIPPED' && movement;
    });
    expect(ended.nodes.map((node) => node.state)).toEqual(['COMPLETED', 'CANCELLED', 'SKIPPED']);
    expect(ended.request_state).toBe('CANCELLED');
  });

  test('of one whose approval may be lost is refused until its nodes are read', async () => {
    const { movement_id } = await create(withCancel);
    // As after-restore leaves it (prisma/functions/restore.sql).
    await sql(
      `UPDATE movement_nodes SET recover_first = true, restored = true WHERE movement_id = '${movement_id}'`,
    );
    const refused = await act(movement_id, 'cancel');
    expect([refused.status, refused.body]).toMatchObject([
      409,
      {
        detail: {
          error: 'invalid_state',
          current_state: 'PENDING_APPROVAL',
          nodes: ['do', 'undo'],
          message: expect.stringContaining('Approve it'),
        },
      },
    ]);
    expect((await detail(movement_id)).request_state).toBe('PENDING_APPROVAL');
    expect(await must(200, act(movement_id, 'reject', {}))).toMatchObject({
      request_state: 'REJECTED',
    });
  });

  test('and a resume at once let one win', async () => {
    const of = await registered([gate('check'), { ...noop('undo'), node_kind: 'compensation' }], {
      edges: [edge('check', 'undo', 'on_cancel')],
    });
    const { movement_id } = await run(of, 'WAITING_MANUAL_ACTION');
    const answers = await Promise.all([act(movement_id, 'cancel'), act(movement_id, 'resume')]);
    const [cancelled, resumed] = answers.map((answer) => answer.status);
    // A cancel may also come second, while the resumed movement still runs.
    expect([
      [200, 409],
      [409, 200],
      [200, 200],
    ]).toContainEqual([cancelled, resumed]);
    const state = cancelled === 200 ? 'CANCELLED' : 'COMPLETED';
    expect((await reaches(movement_id, state)).request_state).toBe(state);
  });
});

describe('a manual gate', () => {
  test('waits for a person and goes on when it is resumed', async () => {
    const movement = await create(withGate);
    const { movement_id } = movement;
    await approve(movement);
    const waiting = await reaches(movement_id, 'WAITING_MANUAL_ACTION');
    expect(waiting).toMatchObject({ current_frontier: ['check'], reservation_status: 'held' });
    expect(waiting.nodes.map((node) => node.state)).toEqual(['COMPLETED', 'READY', 'BLOCKED']);
    expectRefusal(await act(movement_id, 'retry'), 409, 'no_retryable_node', {
      movement_id,
      current_state: 'WAITING_MANUAL_ACTION',
    });

    const request = randomUUID();
    expect(
      await must(200, act(movement_id, 'resume', undefined, { 'x-request-id': request })),
    ).toEqual({
      movement_id,
      request_state: 'EXECUTING',
      current_frontier: ['after'],
      reservation_status: 'held',
    });
    const ended = await reaches(movement_id, 'COMPLETED');
    expect(ended).toMatchObject({
      current_frontier: [],
      reservation_status: 'consumed',
      error_code: null,
    });
    expect(await kinds(movement_id)).toEqual(
      expect.arrayContaining(['request_attention', 'request_resumed', 'request_completed']),
    );
    expect(await auditOfRequest(request)).toEqual([
      expect.objectContaining({ action: 'movement.resume', outcome: 'success' }),
    ]);
  });

  test('is passed by one of two who resume it at once', async () => {
    const { movement_id } = await run(withGate, 'WAITING_MANUAL_ACTION');
    const answers = await Promise.all([act(movement_id, 'resume'), act(movement_id, 'resume')]);
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 409]);
    await reaches(movement_id, 'COMPLETED');
  });
});

describe('a resume or retry that names its node', () => {
  /** By what a person was shown, and by what the service answers where another would go on. */
  const name = (node_key: string, attempt: number, state: string) => ({ node_key, attempt, state });

  test('that comes twice releases no second gate', async () => {
    const { movement_id } = await run(
      await registered([gate('first'), gate('second'), noop('after')]),
      'WAITING_MANUAL_ACTION',
    );
    const first = name('first', 1, 'READY');
    expect((await detail(movement_id))['attention']).toMatchObject({
      actions: [{ action: 'resume', ...first }],
    });
    await must(200, act(movement_id, 'resume', first));
    const second = name('second', 1, 'READY');
    await waitFor(async () => {
      const { request_state, current_frontier } = await detail(movement_id);
      return request_state === 'WAITING_MANUAL_ACTION' && current_frontier[0] === 'second';
    });
    expectRefusal(await act(movement_id, 'resume', first), 409, 'node_differs', second);
    for (const other of [{ node_key: 'first' }, { ...second, attempt: 2 }, { state: 'UNKNOWN' }])
      expectRefusal(await act(movement_id, 'resume', other), 409, 'node_differs', second);
    expect(await detail(movement_id)).toMatchObject({
      request_state: 'WAITING_MANUAL_ACTION',
      current_frontier: ['second'],
    });
    expectInvalid(await act(movement_id, 'resume', { node: 'second' }), 'node');
    await must(200, act(movement_id, 'resume', { node_key: 'second' }));
    await reaches(movement_id, 'COMPLETED');
  });

  test('that comes twice runs no second payment', async () => {
    // It may not send: what is looked at is which attempt is tried again.
    const of = await registered([withdrawal('pay')], { risk_controls: { max_amount: '1' } });
    const { movement_id } = await run(of, 'FAILED');
    const first = name('pay', 1, 'FAILED');
    await must(200, act(movement_id, 'retry', first));
    await waitFor(async () => {
      const { request_state, nodes } = await detail(movement_id);
      return request_state === 'FAILED' && nodes[0]?.attempt === 2;
    });
    const second = name('pay', 2, 'FAILED');
    expectRefusal(await act(movement_id, 'retry', first), 409, 'node_differs', second);
    expectRefusal(
      await act(movement_id, 'retry', { state: 'UNKNOWN' }),
      409,
      'node_differs',
      second,
    );
    expect(await detail(movement_id)).toMatchObject({ request_state: 'FAILED', nodes: [second] });
  });
});

describe('an acknowledge', () => {
  /** It may not send: what is looked at is who is to look at it. */
  const failing = async (): Promise<string> => {
    const of = await registered([withdrawal('pay')], { risk_controls: { max_amount: '1' } });
    return (await run(of, 'FAILED')).movement_id;
  };
  const needing = async (id: string): Promise<boolean> => {
    const path = '/movements?needs_attention=true&state=FAILED&limit=200';
    const { movements } = await must(200, get<{ movements: { movement_id: string }[] }>(path));
    return movements.some(({ movement_id }) => movement_id === id);
  };
  const because = (reason: string) => ({ reason });

  test('takes a failed movement out of attention until it runs again', async () => {
    const id = await failing();
    expect(await needing(id)).toBe(true);
    const { attention } = await detail(id);
    // Its amount is beyond the plan's own limit, so that no retry is offered.
    expect(attention).toMatchObject({
      reason: 'failed',
      message: expect.stringContaining('another plan'),
      actions: [{ action: 'acknowledge' }],
    });
    const request = randomUUID();
    const head = await must(
      200,
      act(id, 'acknowledge', because('by hand'), { 'x-request-id': request }),
    );
    expect(head).toMatchObject({ movement_id: id, request_state: 'FAILED' });
    expect([(await detail(id))['attention'], await needing(id)]).toEqual([null, false]);
    expect((await timeline(id)).at(-1)).toMatchObject({
      event_type: 'request_acknowledged',
      actor: { type: 'operator', key_id: expect.any(String) },
      data: { reason: 'by hand' },
    });
    expect(await auditOfRequest(request)).toEqual([
      expect.objectContaining({
        action: 'movement.acknowledge',
        outcome: 'success',
        reason: 'by hand',
      }),
    ]);
    await must(200, act(id, 'retry'));
    await waitFor(async () => {
      const { request_state, nodes } = await detail(id);
      return request_state === 'FAILED' && nodes[0]?.attempt === 2;
    });
    expect(await needing(id)).toBe(true);
  });

  test('is one person’s: the first reason stays, and only a failure takes it', async () => {
    const id = await failing();
    const answers = await Promise.all(
      ['one', 'two'].map((reason) => act(id, 'acknowledge', because(reason))),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expectRefusal(await act(id, 'acknowledge', because('three')), 409, 'invalid_state', {
      current_state: 'FAILED',
      allowed_states: [],
    });
    expect((await kinds(id)).filter((kind) => kind === 'request_acknowledged')).toHaveLength(1);
    expectInvalid(await act(id, 'acknowledge', {}), 'reason');
    const waiting = await create(linear);
    expectRefusal(
      await act(waiting.movement_id, 'acknowledge', because('x')),
      409,
      'invalid_state',
      {
        current_state: 'PENDING_APPROVAL',
        allowed_states: ACTION_STATES.acknowledge,
      },
    );
  });

  test('deals with the reason that was shown, and with no landing that came since', async () => {
    const id = await failing();
    const failed = { attention_reason: 'failed', node_key: 'pay' };
    const landed = { attention_reason: 'landed_late', node_key: 'pay' };
    const offer = { action: 'acknowledge', consequence: expect.any(String) };
    expect(await detail(id)).toMatchObject({ attention: { actions: [{ ...offer, ...failed }] } });
    await sql(
      `UPDATE movement_nodes SET error_code = 'ABANDONED', landed_late_at = svc_now(),
          external_ref = 'tx-9'
        WHERE movement_id = $1`,
      [id],
    );
    const refuses = async (named: object): Promise<void> => {
      const answer = await act(id, 'acknowledge', { ...because('paid by hand'), ...named });
      expectRefusal(answer, 409, 'node_differs', landed);
    };
    await refuses(failed);
    await refuses({});
    await refuses({ node_key: 'pay' });
    await refuses({ ...landed, node_key: 'another' });
    expect(await detail(id)).toMatchObject({
      attention: {
        reason: 'landed_late',
        message: expect.stringContaining('tx-9'),
        actions: [{ ...offer, ...landed }],
      },
    });
    expect(await needing(id)).toBe(true);
    const body = { ...because('settled with the payee'), ...landed };
    await must(200, act(id, 'acknowledge', body));
    expect([(await detail(id))['attention'], await needing(id)]).toEqual([null, false]);
    expect((await timeline(id)).at(-1)).toMatchObject({
      event_type: 'request_acknowledged',
      node_key: 'pay',
      data: { reason: 'settled with the payee', attention_reason: 'landed_late' },
    });
    // A click that comes twice finds nothing left.
    expectRefusal(await act(id, 'acknowledge', body), 409, 'invalid_state', {
      current_state: 'FAILED',
      allowed_states: [],
    });
    // Nothing was sent, so nothing of it may count as sent where the books are verified.
    await sql(
      `UPDATE movement_nodes SET error_code = 'AMOUNT_ABOVE_MAX', landed_late_at = NULL,
          external_ref = NULL
        WHERE movement_id = $1`,
      [id],
    );
  });

  test('of a movement that has ended otherwise is for a landing alone', async () => {
    const { movement_id: id } = await run(linear, 'COMPLETED');
    expectRefusal(await act(id, 'acknowledge', because('x')), 409, 'invalid_state', {
      current_state: 'COMPLETED',
      allowed_states: [],
    });
  });
});
