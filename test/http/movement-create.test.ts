/** Creating, reading and listing movements over HTTP. */
import { randomUUID } from 'node:crypto';
import { MOVEMENT_STATES } from '../../domain/states/movement.ts';
import {
  auditOfRequest,
  cancellable,
  create,
  detail,
  expectInvalid,
  expectRefusal,
  get,
  movementBody,
  must,
  noop,
  post,
  registered,
  sql,
  timeline,
  transfer,
  uniqueKey,
  withdrawal,
  type CreatedView,
  type DetailView,
  type TemplateView,
  shared,
} from '../support/http.ts';

let linear: TemplateView;
beforeAll(async () => {
  linear = await registered([noop('a'), noop('b')]);
});

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

interface Page {
  readonly movements: readonly DetailView[];
  readonly next_cursor: string | null;
}

describe('creating a movement', () => {
  test('answers 201 with the compiled plan and waits for approval', async () => {
    const { template_id, template_key, version } = linear;
    const answer = await post<CreatedView>(
      '/movements',
      movementBody(linear, { approval_ttl_seconds: 600 }),
    );
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      movement_id: expect.stringMatching(UUID),
      request_state: 'PENDING_APPROVAL',
      template: { template_id, template_key, version },
      compiled_plan_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      current_frontier: ['a'],
      approval_status: 'pending',
      reservation_status: 'none',
      auto_approve_result: null,
      outflow: [],
      sends: [],
      limits: [],
      external_reference: null,
      metadata: {},
      expires_at: expect.stringMatching(TIME),
      created_at: expect.stringMatching(TIME),
    });
    expect(Date.parse(answer.body.expires_at) - Date.parse(answer.body.created_at)).toBe(600_000);
  });

  test('has as many labels as it may', async () => {
    const labels = Object.fromEntries(
      Array.from({ length: 50 }, (_, nr) => [String(nr).padStart(128, 'k'), 'x'.repeat(1_024)]),
    );
    const { movement_id } = await create(linear, { labels });
    expect((await detail(movement_id))['labels']).toEqual(labels);
  });

  test('waits two hours by default', async () => {
    const { created_at, expires_at } = await create(linear);
    expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(7_200_000);
  });

  test('can be read as it was sent', async () => {
    const more = {
      intent: { asset: 'usdc', amount: '10.500', source_venue: 'paper-main', chain_id: 31_337 },
      strategy_id: 'carry',
      input_params: { node_config: { note: 'x' }, own: [1, { two: 2 }] },
      labels: { ticket: 'T-1' },
    };
    const { sends, limits, ...created } = await create(linear, more);
    const seen = await detail(created.movement_id);
    const binding = { executor_key: 'builtin.noop' };
    const node = {
      node_kind: 'action',
      action_type: 'noop',
      state: 'BLOCKED',
      attempt: 1,
      executor_binding: binding,
      signer_binding: null,
      asset: 'USDC',
      amount: null,
      destination: null,
      external_ref: null,
      output: null,
      error_code: null,
      error_message: null,
      description: null,
      started_at: null,
      updated_at: expect.stringMatching(TIME),
      completed_at: null,
    };
    const named = (node_key: string) => ({
      ...node,
      node_key,
      idempotency_key: `${created.movement_id}:${node_key}:1`,
    });
    expect(seen).toEqual({
      ...created,
      template_key: linear.template_key,
      template_version: 1,
      strategy_id: 'carry',
      intent: { asset: 'USDC', amount: '10.5', source_venue: 'paper-main', chain_id: 31_337 },
      error_code: null,
      error_message: null,
      attention_reason: 'approval',
      attention: {
        reason: 'approval',
        message: `The movement waits for an approval until ${created.expires_at}.`,
        node_key: null,
        idempotency_key: null,
        description: null,
        last_answer: null,
        attempt: null,
        max_attempts: null,
        errors: null,
        next_look_at: null,
        actions: [
          {
            action: 'approve',
            consequence: 'The plan runs as it was hashed; it can move nothing.',
          },
          { action: 'reject', consequence: 'The movement ends as REJECTED, and nothing is moved.' },
        ],
      },
      updated_at: expect.stringMatching(TIME),
      input_params: more.input_params,
      labels: { ticket: 'T-1' },
      created_by: { client_id: shared.adminClientId, key_id: 'dev-admin', role: 'admin' },
      approver_id: null,
      approved_by: null,
      nodes: [named('a'), named('b')],
      review: { sends, limits, balances: [], would_fail: [] },
      artifacts: [],
      callbacks: { pending: 0, delivered: 0, dead_letter: 0 },
      workflow: {
        namespace: 'default',
        workflow_id: `movement/${created.movement_id}`,
        run_id: seen.workflow.run_id,
        ui_url: expect.stringContaining('/namespaces/default/workflows/movement%2F'),
      },
    });
    expect(await timeline(created.movement_id)).toEqual([
      {
        event_id: expect.stringMatching(UUID),
        sequence: 1,
        event_type: 'movement_created',
        node_key: null,
        attempt: null,
        from_state: null,
        to_state: 'PENDING_APPROVAL',
        actor: { type: 'key', client_id: shared.adminClientId, key_id: 'dev-admin' },
        message: expect.stringMatching(/\w/),
        data: expect.any(Object),
        occurred_at: expect.stringMatching(TIME),
      },
    ]);
  });

  test('shows the bindings of an on-chain node', async () => {
    const { movement_id } = await create(await registered([withdrawal('out'), transfer('sweep')]));
    expect((await detail(movement_id)).nodes).toMatchObject([
      { executor_binding: { executor_key: 'paper.withdrawal' }, signer_binding: null },
      {
        executor_binding: { executor_key: 'evm.transfer' },
        signer_binding: { signer_key: 'test-wallet' },
      },
    ]);
  });

  test('gives equal hashes for equal inputs in any order of keys, and others for others', async () => {
    const params = { x: { a: 1, b: [1, 2] }, y: 'z' };
    const turned = { y: 'z', x: { b: [1, 2], a: 1 } };
    const hash = async (more: Record<string, unknown>) =>
      (await create(linear, more)).compiled_plan_hash;
    const first = await hash({
      intent: { asset: 'USDC', amount: '10', chain_id: 1 },
      input_params: params,
    });
    expect(
      await hash({ input_params: turned, intent: { chain_id: 1, amount: '10.0', asset: 'usdc' } }),
    ).toBe(first);
    expect(
      await hash({ input_params: params, intent: { chain_id: 1, amount: '10.1', asset: 'USDC' } }),
    ).not.toBe(first);
    expect(
      await hash({
        input_params: { ...params, z: 1 },
        intent: { chain_id: 1, amount: '10', asset: 'USDC' },
      }),
    ).not.toBe(first);
  });

  test('leaves what is not of the plan out of the hash', async () => {
    const first = await create(linear, { labels: { a: '1' }, strategy_id: 's' });
    expect((await create(linear)).compiled_plan_hash).toBe(first.compiled_plan_hash);
  });

  test('is recorded in the audit with its request', async () => {
    const request = randomUUID();
    const { body } = await post<CreatedView>('/movements', movementBody(linear), {
      'x-request-id': request,
    });
    expect(await auditOfRequest(request)).toEqual([
      expect.objectContaining({
        action: 'movement.create',
        entity_type: 'movement',
        entity_key: body.movement_id,
        outcome: 'success',
      }),
    ]);
  });
});

describe('a create that is refused', () => {
  test.each([
    ['template_key', { template_key: '' }],
    ['template_key', { template_key: undefined }],
    ['template_version', { template_version: 0 }],
    ['template_version', { template_version: '1' }],
    ['intent', { intent: undefined }],
    ['intent.asset', { intent: { amount: '1' } }],
    ['intent.asset', { intent: { asset: 'x'.repeat(33), amount: '1' } }],
    ['intent.amount', { intent: { asset: 'A', amount: '0' } }],
    ['intent.amount', { intent: { asset: 'A', amount: '-1' } }],
    ['intent.amount', { intent: { asset: 'A', amount: '1e3' } }],
    ['intent.amount', { intent: { asset: 'A', amount: 1 } }],
    ['intent.amount', { intent: { asset: 'A', amount: '1'.repeat(21) } }],
    ['intent.amount', { intent: { asset: 'A', amount: `0.${'1'.repeat(19)}` } }],
    ['intent.chain_id', { intent: { asset: 'A', amount: '1', chain_id: 2_147_483_648 } }],
    ['strategy_id', { strategy_id: 'x'.repeat(129) }],
    ['input_params', { input_params: [] }],
    ['approval_ttl_seconds', { approval_ttl_seconds: 0 }],
    ['approval_ttl_seconds', { approval_ttl_seconds: 604_801 }],
    ['callback_url', { callback_url: 'ftp://example.com' }],
    ['labels.a', { labels: { a: 1 } }],
    ['labels.a', { labels: { a: 'x'.repeat(1_025) } }],
    [`labels.${'k'.repeat(129)}`, { labels: { ['k'.repeat(129)]: 'x' } }],
    [
      'labels',
      {
        labels: Object.fromEntries(Array.from({ length: 51 }, (_, nr) => [`k${String(nr)}`, 'x'])),
      },
    ],
    ['unknown', { unknown: 1 }],
  ])('for its %s names the place', async (path, change) => {
    expectInvalid(await post('/movements', movementBody(linear, change)), path);
  });

  test('for a template that does not exist is 404', async () => {
    const template_key = uniqueKey('unknown');
    const answer = await post('/movements', movementBody({ template_key, version: 1 }));
    expectRefusal(answer, 404, 'template_not_found', { template_key, template_version: 1 });
  });

  test('for a version that does not exist is 404', async () => {
    const { template_key } = linear;
    expectRefusal(
      await post('/movements', movementBody({ template_key, version: 2 })),
      404,
      'template_not_found',
      {
        template_key,
        template_version: 2,
      },
    );
  });

  test('for a plan that cannot be executed is recorded as denied', async () => {
    const of = await registered([noop('a', { config: { amount_ref: 'nodes.zzz.output.x' } })]);
    const request = randomUUID();
    expect((await post('/movements', movementBody(of), { 'x-request-id': request })).status).toBe(
      409,
    );
    expect(await auditOfRequest(request)).toEqual([
      expect.objectContaining({
        action: 'movement.create',
        outcome: 'denied',
        reason: 'template_not_executable',
      }),
    ]);
  });

  test('for an action that no executor serves is 422', async () => {
    const of = await registered([noop('ok'), noop('b', { action_type: 'test_unserved' })]);
    const fault = { node_key: 'b', binding: 'executor', reason: 'missing', candidates: [] };
    expectRefusal(await post('/movements', movementBody(of)), 422, 'binding_unresolved', {
      ...fault,
      bindings: [fault],
    });
  });

  test('for an action that two executors serve is 422 and names them', async () => {
    const of = await registered([noop('a', { action_type: 'test_twin' })]);
    const fault = {
      node_key: 'a',
      binding: 'executor',
      reason: 'ambiguous',
      candidates: ['test.twin-a', 'test.twin-b'],
    };
    expectRefusal(await post('/movements', movementBody(of)), 422, 'binding_unresolved', {
      ...fault,
      bindings: [fault],
    });
  });

  test('for signers that are missing or ambiguous is 422', async () => {
    const of = await registered([
      transfer('a', { signer_selector: { chain_family: 'evm', profile: 'unknown' } }),
      transfer('b', { signer_selector: { chain_family: 'evm' } }),
    ]);
    const first = { node_key: 'a', binding: 'signer', reason: 'missing', candidates: [] };
    expectRefusal(await post('/movements', movementBody(of)), 422, 'binding_unresolved', {
      ...first,
      bindings: [
        first,
        {
          node_key: 'b',
          binding: 'signer',
          reason: 'ambiguous',
          candidates: ['dev-treasury', 'test-wallet', 'test-guarded', 'test-purse'],
        },
      ],
    });
  });

  test('for a selector that fits no executor is 422', async () => {
    const of = await registered([
      withdrawal('a', { executor_selector: { action_type: 'cex_withdrawal', provider: 'other' } }),
    ]);
    const { status, body } = await post<{ detail: { bindings: unknown } }>(
      '/movements',
      movementBody(of),
    );
    expect([status, body.detail.bindings]).toEqual([
      422,
      [{ node_key: 'a', binding: 'executor', reason: 'missing', candidates: [] }],
    ]);
  });

  test.each([
    'completion_assurance',
    'amount_ref',
    'match_from',
    'burn_from',
    'tag',
    'baseline',
    'baseline_amount',
    'destination_caller',
    'max_fee',
    'finality',
    'fee_limit',
  ])('whose node_config says %s is 422', async (key) => {
    const of = await registered([noop('a')]);
    expectInvalid(
      await post('/movements', movementBody(of, { input_params: { node_config: { [key]: 'x' } } })),
      `input_params.node_config.${key}`,
    );
    expect(
      (
        await post(
          '/movements',
          movementBody(of, { input_params: { [key]: 'x', node_config: { deep: { [key]: 'x' } } } }),
        )
      ).status,
    ).toBe(201);
  });

  test('that asks its last node for more than its executor can show is 422', async () => {
    const completion_policy = { completion_assurance: 'protocol_finalized' };
    const of = await registered([transfer('a'), withdrawal('b')], { completion_policy });
    const supported = [
      'provider_completed',
      'destination_observed',
      'destination_credited',
      'destination_finalized',
    ];
    const fault = {
      node_key: 'b',
      executor_key: 'paper.withdrawal',
      asked: 'protocol_finalized',
      supported,
    };
    expectRefusal(
      await post('/movements', movementBody(of)),
      422,
      'completion_assurance_unsupported',
      {
        ...fault,
        nodes: [fault],
      },
    );
    expect(
      (
        await post(
          '/movements',
          movementBody(await registered([withdrawal('b'), transfer('a')], { completion_policy })),
        )
      ).status,
    ).toBe(201);
  });

  test('for the family of agent wallet top-ups is 422', async () => {
    const of = await registered([
      noop('first'),
      noop('top-up', {
        action_type: 'agent_wallet_top_up',
        signer_selector: { chain_family: 'evm', profile: 'treasury' },
      }),
    ]);
    expectRefusal(await post('/movements', movementBody(of)), 422, 'reserved_template_family', {
      node_key: 'top-up',
    });
  });

  test('leaves nothing behind', async () => {
    const template_key = uniqueKey('unknown');
    await post('/movements', movementBody({ template_key, version: 1 }));
    expect(await sql('SELECT 1 FROM movements WHERE template_key = $1', [template_key])).toEqual(
      [],
    );
  });
});

describe('the list of movements', () => {
  test('pages newest first, and an insert moves nothing', async () => {
    const strategy_id = randomUUID();
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1)
      ids.unshift((await create(linear, { strategy_id })).movement_id);
    const seen: string[] = [];
    let cursor: string | null = null;
    for (let pages = 0; pages < 5; pages += 1) {
      const path = `/movements?strategy_id=${strategy_id}&limit=2${cursor === null ? '' : `&cursor=${cursor}`}`;
      const page: Page = await must(200, get<Page>(path));
      seen.push(...page.movements.map((each) => each.movement_id));
      await create(linear, { strategy_id });
      cursor = page.next_cursor;
      if (cursor === null) break;
    }
    expect(seen).toEqual(ids);
    expect(cursor).toBeNull();
  });

  test('shows summaries', async () => {
    const strategy_id = randomUUID();
    const { movement_id, created_at, expires_at } = await create(linear, { strategy_id });
    const { movements, next_cursor } = await must(
      200,
      get<Page>(`/movements?strategy_id=${strategy_id}`),
    );
    expect(next_cursor).toBeNull();
    expect(movements).toEqual([
      {
        movement_id,
        template_key: linear.template_key,
        template_version: 1,
        strategy_id,
        request_state: 'PENDING_APPROVAL',
        approval_status: 'pending',
        reservation_status: 'none',
        intent: { asset: 'USDC', amount: '10' },
        outflow: [],
        current_frontier: ['a'],
        external_reference: null,
        metadata: {},
        error_code: null,
        attention_reason: 'approval',
        created_at,
        updated_at: expect.stringMatching(TIME),
        expires_at,
      },
    ]);
  });

  test('filters by state and strategy together', async () => {
    const strategy_id = randomUUID();
    const [kept, dropped] = [
      await create(linear, { strategy_id }),
      await create(await cancellable(), { strategy_id }),
    ];
    await must(200, post(`/movements/${dropped.movement_id}/reject`));
    const ids = async (state: string) => {
      const page = await must(
        200,
        get<Page>(`/movements?state=${state}&strategy_id=${strategy_id}`),
      );
      return page.movements.map((each) => each.movement_id);
    };
    expect(await ids('PENDING_APPROVAL')).toEqual([kept.movement_id]);
    expect(await ids('REJECTED')).toEqual([dropped.movement_id]);
    expect(await ids('COMPLETED')).toEqual([]);
  });

  test('takes each of the ten states', async () => {
    const answers = await Promise.all(
      MOVEMENT_STATES.map((state) => get(`/movements?state=${state}&limit=1`)),
    );
    expect(answers.map((answer) => answer.status)).toEqual(MOVEMENT_STATES.map(() => 200));
    expect(MOVEMENT_STATES).toHaveLength(10);
  });

  test.each([
    ['state', 'state=DONE'],
    ['state', 'state=completed'],
    ['limit', 'limit=0'],
    ['limit', 'limit=201'],
    ['limit', 'limit=1.5'],
    ['cursor', 'cursor=abc'],
    ['cursor', 'cursor='],
    ['strategy_id', 'strategy_id='],
    ['asset', 'asset=U%20SD'],
    ['needs_attention', 'needs_attention=yes'],
    ['template_key', 'template_key='],
    ['venue', 'venue=paper-main'],
  ])('refuses a bad %s: %s', async (path, query) => {
    expectInvalid(await get(`/movements?${query}`), path);
  });
});
