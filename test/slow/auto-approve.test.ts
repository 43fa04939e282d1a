/**
 * Automatic approval through the API: what a policy approves, what it leaves to a person, and that
 * its budget is exact.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { issue } from '../../tools/keys/issue.ts';
import { moreParts, type MoreParts } from '../support/more-parts.ts';
import { MovementApi, startOwnStack, type OwnStack } from '../support/own-stack.ts';
import { compensation, edge, gate, noop, storeTemplate, withdrawal } from '../support/plans.ts';

interface Result {
  readonly outcome: string;
  readonly reason: string;
  readonly policy_id?: string;
  readonly checks: readonly { readonly check: string; readonly passed: boolean }[];
  readonly evaluated_at: string;
}

interface Made {
  readonly movement_id: string;
  readonly request_state: string;
  readonly compiled_plan_hash: string;
  readonly auto_approve_result: Result | null;
  readonly [field: string]: unknown;
}

let own: OwnStack;
let parts: MoreParts;
let api: MovementApi;
let second: MovementApi;
let clientId: string;
const templates = { plain: '', gated: '', cancellable: '', failing: '' };

beforeAll(async () => {
  own = await startOwnStack({ split: true, env: { SVC_AUTO_APPROVE_ENABLED: 'true' } });
  parts = moreParts(own.stack);
  api = own.api;
  second = await another('second-api', {});
  clientId = String((await api.expect(200, 'GET', '/whoami'))['client_id']);
  templates.plain = await storeTemplate(api, [noop('first'), noop('then')]);
  templates.gated = await storeTemplate(api, [gate('check')]);
  templates.cancellable = await storeTemplate(api, [gate('check'), compensation('undo')], {
    edges: [edge('check', 'undo', 'on_cancel')],
  });
  templates.failing = await storeTemplate(api, [
    noop('a'),
    noop('b', { config: { amount_ref: 'nodes.a.output.nothing' } }),
  ]);
}, 180_000);
afterAll(async () => {
  await parts?.stop();
  await own?.close();
});

/** Another API process over the same database. */
const another = async (
  name: string,
  settings: Readonly<Record<string, string>>,
): Promise<MovementApi> => new MovementApi(await parts.api(name, settings), own.stack.keys.admin);

const movement = (template_key: string, strategy_id: string | undefined, more: object = {}) => ({
  template_key,
  template_version: 1,
  intent: { asset: 'USDC', amount: '10' },
  ...(strategy_id === undefined ? {} : { strategy_id }),
  ...more,
});
const create = async (body: object, at = api): Promise<Made> =>
  (await at.expect(201, 'POST', '/movements', body)) as unknown as Made;

interface Policy {
  readonly policy_id: string;
  readonly strategy_id: string;
}

/** A policy that allows the templates above in USDC, and these limits. */
async function policyWith(more: object = {}): Promise<Policy> {
  return (await api.expect(201, 'POST', '/auto-approve-policies', {
    client_id: clientId,
    strategy_id: randomUUID(),
    allowed_templates: Object.values(templates).map((template_key) => ({ template_key })),
    allowed_assets: ['USDC'],
    ...more,
  })) as unknown as Policy;
}
const change = (policy: Policy, patch: object) =>
  api.expect(200, 'PATCH', `/auto-approve-policies/${policy.policy_id}`, patch);

async function budgetOf(policy: Policy): Promise<Record<string, unknown>> {
  const { policies } = (await api.expect(200, 'GET', `/budgets/${policy.strategy_id}`)) as {
    policies: Record<string, unknown>[];
  };
  return policies[0] ?? {};
}

describe('a plan that can move something else than its intent says', () => {
  const caps = { max_amount_per_request: '10', window_hours: 1, max_amount_per_window: '20' };
  const open = { venue: 'paper-main', network: 'local' };
  /** Withdrawals whose amount and asset the caller may give. */
  const payouts = (...names: readonly string[]): Promise<string> => {
    const { destination_address } = withdrawal(own.stack.chain, 'x')['config'] as {
      destination_address: string;
    };
    return storeTemplate(
      api,
      names.map((name) => ({
        ...withdrawal(own.stack.chain, name),
        config: { ...open, destination_address },
      })),
    );
  };
  const capped = async (template_key: string, node_config: object, more: object = {}) => {
    const policy = await policyWith({ ...caps, allowed_templates: [{ template_key }], ...more });
    const body = movement(template_key, policy.strategy_id, {
      intent: { asset: 'USDC', amount: '1' },
      input_params: { node_config },
    });
    return { policy, body };
  };

  test('is judged by what it can move: an amount in the config does not bypass a cap', async () => {
    const { policy, body } = await capped(await payouts('pay'), { amount: '90000' });
    const { body: preview } = await api.send('POST', '/movements', body, { 'dry-run': 'true' });
    expect(preview).toMatchObject({
      outflow: [{ asset: 'USDC', amount: '90000' }],
      limits: [
        { control: 'policy.max_amount_per_request', limit: '10', after: '90000', ok: false },
        {
          control: 'policy.max_amount_per_window',
          limit: '20',
          used: '0',
          after: '90000',
          ok: false,
        },
      ],
    });
    const made = await create(body);
    expect(made).toMatchObject({
      request_state: 'PENDING_APPROVAL',
      outflow: [{ asset: 'USDC', amount: '90000' }],
      auto_approve_result: { outcome: 'pending', reason: 'amount_exceeded_per_request' },
    });
    expect(await budgetOf(policy)).toMatchObject({
      reserved_amount: '0',
      consumed_amount: '0',
      count_in_window: 0,
    });
  });

  test('counts each draw: three withdrawals of the intent are three times the intent', async () => {
    const { policy, body } = await capped(await payouts('a', 'b', 'c'), { amount: '4' });
    expect(await create(body)).toMatchObject({
      outflow: [{ asset: 'USDC', amount: '12' }],
      auto_approve_result: { reason: 'amount_exceeded_per_request' },
    });
    const within = await capped(await payouts('a', 'b'), { amount: '4' });
    expect(await create(within.body)).toMatchObject({
      outflow: [{ asset: 'USDC', amount: '8' }],
      auto_approve_result: { reason: 'policy_passed' },
    });
    expect(await budgetOf(within.policy)).toMatchObject({
      available_amount: '12',
      count_in_window: 1,
    });
    expect(await budgetOf(policy)).toMatchObject({ available_amount: '20', count_in_window: 0 });
  });

  test('is refused where it moves another asset only, and waits for a person where it moves another one too', async () => {
    const one = await capped(await payouts('pay'), { asset: 'usdt' });
    expect(await api.send('POST', '/movements', one.body)).toMatchObject({
      status: 422,
      body: { detail: { error: 'intent_asset_not_moved', asset: 'USDC', moved: ['USDT'] } },
    });
    const both = await storeTemplate(api, [
      withdrawal(own.stack.chain, 'plain', { config: { amount: '1' } }),
      withdrawal(own.stack.chain, 'other', { config: { amount: '5', asset: 'USDT' } }),
    ]);
    const strict = await capped(both, {});
    expect(await create(strict.body)).toMatchObject({
      outflow: [
        { asset: 'USDC', amount: '1' },
        { asset: 'USDT', amount: '5' },
      ],
      auto_approve_result: { reason: 'asset_not_allowed' },
    });
    const wide = await capped(both, {}, { allowed_assets: ['USDC', 'USDT'] });
    expect(await create(wide.body)).toMatchObject({
      auto_approve_result: { reason: 'outflow_asset_differs' },
    });
  });

  test('is never approved by a rule where nothing bounds it', async () => {
    const team = {
      ...withdrawal(own.stack.chain, 'on'),
      config: {
        ...(withdrawal(own.stack.chain, 'on')['config'] as object),
        asset: 'USDT',
        amount_ref: 'nodes.note.output.amount',
      },
    };
    const template_key = await storeTemplate(api, [
      withdrawal(own.stack.chain, 'first', { config: { amount: '1' } }),
      noop('note'),
      team,
    ]);
    const { body } = await capped(
      template_key,
      {},
      {
        allowed_assets: ['USDC', 'USDT'],
        max_amount_per_request: null,
        max_amount_per_window: null,
        window_hours: null,
      },
    );
    expect(await create(body)).toMatchObject({
      outflow: [
        { asset: 'USDC', amount: '1' },
        { asset: 'USDT', amount: null },
      ],
      auto_approve_result: { reason: 'outflow_unknown' },
    });
  });
});

test('a plan that only observes is left to a person', async () => {
  const { chainId, tokens } = own.stack.chain;
  const look = {
    node_key: 'look',
    node_kind: 'observe',
    action_type: 'evm_balance_observe',
    has_side_effect: false,
    config: {
      chain_id: chainId,
      token_address: tokens.USDC.address,
      min_increase: '1',
      address: '0x00000000000000000000000000000000000dead1',
    },
  };
  const template_key = await storeTemplate(api, [look]);
  const policy = await policyWith({ allowed_templates: [{ template_key }] });
  expect(await create(movement(template_key, policy.strategy_id))).toMatchObject({
    request_state: 'PENDING_APPROVAL',
    auto_approve_result: { outcome: 'pending', reason: 'no_sending_node' },
  });
});

describe('a movement within its policy', () => {
  test('is approved in its create and runs, with all that an approve leaves behind', async () => {
    const policy = await policyWith({
      window_hours: 24,
      max_amount_per_window: '25',
      max_count_per_window: 9,
    });
    const body = movement(templates.plain, policy.strategy_id, {
      callback_url: 'https://hooks.example/',
      idempotency_key: randomUUID(),
    });
    const made = await create(body);
    expect(made).toMatchObject({
      request_state: 'APPROVED',
      approval_status: 'approved',
      reservation_status: 'held',
      current_frontier: ['first'],
      auto_approve_result: {
        outcome: 'approved',
        reason: 'policy_passed',
        policy_id: policy.policy_id,
      },
    });
    const names = ['is_active', 'asset', 'template', 'amount', 'binding_available'];
    expect(made.auto_approve_result?.checks).toEqual(
      names.map((check) => ({ check, passed: true })),
    );

    const id = made.movement_id;
    expect(await api.reaches(id, 'COMPLETED')).toMatchObject({
      approver_id: null,
      approved_by: null,
      reservation_status: 'consumed',
    });
    const events = await api.timeline(id);
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
    expect(events.slice(0, 3)).toMatchObject([
      { event_type: 'movement_created', actor: { type: 'key' } },
      {
        event_type: 'auto_approve_evaluated',
        actor: { type: 'system' },
        data: { reason: 'policy_passed' },
      },
      {
        event_type: 'request_approved',
        actor: { type: 'system' },
        from_state: 'PENDING_APPROVAL',
        to_state: 'APPROVED',
      },
    ]);
    const audit = `SELECT action, actor_role, reason, request_id,
      details ->> 'policy_id' AS policy_id FROM audit_events
                   WHERE entity_key = $1 AND action IN ('movement.create', 'movement.approve')
                     ORDER BY action DESC`;
    const rows = await own.query<{ request_id: string }>(audit, [id]);
    expect(rows).toMatchObject([
      { action: 'movement.create', actor_role: 'admin' },
      {
        action: 'movement.approve',
        actor_role: 'system',
        reason: 'policy_passed',
        policy_id: policy.policy_id,
      },
    ]);
    expect(rows[1]?.request_id).toBe(rows[0]?.request_id);
    expect(
      await own.query(
        'SELECT event_type FROM callbacks WHERE movement_id = $1 ORDER BY sequence LIMIT 1',
        [id],
      ),
    ).toEqual([{ event_type: 'request_approved' }]);
    const commands =
      'SELECT kind, applied_at IS NOT NULL AS applied FROM commands WHERE movement_id = $1 ORDER BY kind';
    expect(await own.query(commands, [id])).toEqual([
      { kind: 'approve', applied: true },
      { kind: 'create', applied: true },
    ]);
    const used = {
      reserved_amount: '0',
      consumed_amount: '10',
      available_amount: '15',
      count_in_window: 1,
    };
    expect(await budgetOf(policy)).toMatchObject(used);
    // A repeat is the same movement and takes nothing.
    expect(await api.send('POST', '/movements', body)).toMatchObject({
      status: 200,
      body: { movement_id: id, request_state: 'COMPLETED' },
    });
    expect(await budgetOf(policy)).toMatchObject(used);
  });

  test('has its limits previewed, with what they have used and would have', async () => {
    const policy = await policyWith({
      max_amount_per_request: '10',
      window_hours: 1,
      max_amount_per_window: '15',
      max_count_per_window: 2,
    });
    const limitsOf = async (): Promise<unknown> => {
      const answer = await api.send(
        'POST',
        '/movements',
        movement(templates.plain, policy.strategy_id),
        { 'dry-run': 'true' },
      );
      return answer.body['limits'];
    };
    const single = {
      control: 'policy.max_amount_per_request',
      limit: '10',
      used: null,
      after: '10',
      ok: true,
    };
    expect(await limitsOf()).toEqual([
      single,
      { control: 'policy.max_amount_per_window', limit: '15', used: '0', after: '10', ok: true },
      { control: 'policy.max_count_per_window', limit: '2', used: '0', after: '1', ok: true },
    ]);
    await create(movement(templates.plain, policy.strategy_id));
    expect(await limitsOf()).toEqual([
      single,
      { control: 'policy.max_amount_per_window', limit: '15', used: '10', after: '20', ok: false },
      { control: 'policy.max_count_per_window', limit: '2', used: '1', after: '2', ok: true },
    ]);
  });

  test('gives its budget back when it is cancelled', async () => {
    const policy = await policyWith({ window_hours: 1, max_amount_per_window: '10' });
    const made = await create(movement(templates.cancellable, policy.strategy_id));
    expect(await budgetOf(policy)).toMatchObject({
      reserved_amount: '10',
      available_amount: '0',
      count_in_window: 1,
    });
    await api.act('cancel', made.movement_id);
    expect(await budgetOf(policy)).toMatchObject({
      reserved_amount: '0',
      available_amount: '10',
      count_in_window: 0,
    });
  });

  test('uses up what was sent of its own asset, and nothing but its count for another asset that was sent beside it', async () => {
    const other = (amount: string) =>
      withdrawal(own.stack.chain, 'other', { config: { amount, asset: 'USDT' } });
    const unlisted = withdrawal(own.stack.chain, 'unlisted', {
      config: { destination_address: `0x${'b2'.repeat(20)}` },
    });
    const own_asset = withdrawal(own.stack.chain, 'own', { config: { amount: '3' } });
    const ends = async (...nodes: Parameters<typeof storeTemplate>[1]) => {
      const template_key = await storeTemplate(api, nodes);
      const caps = { window_hours: 1, max_count_per_window: 5 };
      const policy = await policyWith({
        ...caps,
        allowed_assets: ['USDC', 'USDT'],
        allowed_templates: [{ template_key }],
      });
      const made = await create(movement(template_key, policy.strategy_id));
      expect(made).toMatchObject({
        outflow: [{ asset: 'USDC' }, { asset: 'USDT', amount: '9' }],
        auto_approve_result: { reason: 'policy_passed' },
      });
      const { nodes: ended } = await api.reaches(made.movement_id, 'FAILED');
      expect(ended.map(({ node_key, state }) => [node_key, state])).toContainEqual([
        'other',
        'COMPLETED',
      ]);
      return budgetOf(policy);
    };
    expect(await ends(other('9'), unlisted)).toMatchObject({
      reserved_amount: '0',
      consumed_amount: '0',
      count_in_window: 1,
    });
    expect(await ends(own_asset, other('9'), unlisted)).toMatchObject({
      reserved_amount: '0',
      consumed_amount: '3',
      count_in_window: 1,
    });
  });

  test('gives it back when it fails, and a retry takes it again or is refused', async () => {
    const policy = await policyWith({ window_hours: 1, max_count_per_window: 1 });
    const { movement_id } = await create(movement(templates.failing, policy.strategy_id));
    expect(await api.reaches(movement_id, 'FAILED')).toMatchObject({
      error_code: 'AMOUNT_UNRESOLVED',
      reservation_status: 'released',
    });
    const other = await create(movement(templates.gated, policy.strategy_id));
    expect(other.request_state).toBe('APPROVED');
    const before = await api.timeline(movement_id);
    const refused = await api.send('POST', `/movements/${movement_id}/actions/retry`);
    const context = { policy_id: policy.policy_id, reason: 'window_count_exceeded' };
    expect(refused).toMatchObject({
      status: 409,
      body: { detail: { error: 'budget_exceeded', ...context } },
    });
    expect(await api.timeline(movement_id)).toEqual(before);
    const denied = `SELECT reason FROM audit_events WHERE entity_key = $1
      AND action = 'movement.retry' AND outcome = 'denied'`;
    expect(await own.query(denied, [movement_id])).toEqual([{ reason: 'budget_exceeded' }]);
    await change(policy, { max_count_per_window: 2 });
    await api.act('retry', movement_id);
    await api.reaches(movement_id, 'FAILED');
    const taken =
      'SELECT status FROM budget_reservations WHERE movement_id = $1 ORDER BY reserved_at';
    expect(await own.query(taken, [movement_id])).toEqual([
      { status: 'released' },
      { status: 'released' },
    ]);
  });
});

describe('what a policy does not allow', () => {
  const PASS = {
    is_active: true,
    max_amount_per_request: null,
    window_hours: null,
    max_amount_per_window: null,
    max_count_per_window: null,
  };
  test.each([
    ['policy_inactive', { is_active: false }, 1],
    ['asset_not_allowed', { allowed_assets: ['USDT'] }, 2],
    ['template_not_allowed', { allowed_templates: [{ template_key: 'some/other' }] }, 3],
    ['amount_exceeded_per_request', { max_amount_per_request: '9.999999999999999999' }, 4],
    [
      'window_amount_exceeded',
      { window_hours: 1, max_amount_per_window: '9.999999999999999999' },
      4,
    ],
    ['window_count_exceeded', { window_hours: 1, max_count_per_window: 0 }, 4],
  ])('waits for a person: %s; a preview says so too', async (reason, limits, looked) => {
    const policy = await policyWith({ ...PASS, ...limits });
    const body = movement(templates.plain, policy.strategy_id);
    const result = {
      outcome: 'pending',
      reason,
      policy_id: policy.policy_id,
      evaluated_at: expect.any(String),
    };
    const made = await create(body);
    expect(made).toMatchObject({
      request_state: 'PENDING_APPROVAL',
      approval_status: 'pending',
      reservation_status: 'none',
    });
    expect(made.auto_approve_result).toMatchObject(result);
    expect(made.auto_approve_result?.checks.map(({ passed }) => passed)).toEqual([
      ...Array<boolean>(looked - 1).fill(true),
      false,
    ]);
    expect((await api.timeline(made.movement_id)).map(({ event_type }) => event_type)).toEqual([
      'movement_created',
      'auto_approve_evaluated',
    ]);
    const preview = await previewOf(body);
    expect(preview).toEqual({ ...made.auto_approve_result, evaluated_at: expect.any(String) });
    // A person may, and takes nothing from the budget.
    await api.approve(made);
    await api.reaches(made.movement_id, 'COMPLETED');
    expect(
      await own.query('SELECT 1 FROM budget_reservations WHERE movement_id = $1', [
        made.movement_id,
      ]),
    ).toEqual([]);
  });

  test('needs a person where there is no policy; without a strategy no policy is evaluated', async () => {
    const other = await create(movement(templates.plain, randomUUID()));
    expect(other).toMatchObject({
      request_state: 'PENDING_APPROVAL',
      auto_approve_result: { reason: 'policy_not_found', checks: [] },
    });
    expect(await create(movement(templates.plain, undefined))).toMatchObject({
      auto_approve_result: null,
    });
    expect(await previewOf(movement(templates.plain, undefined))).toBeNull();
  });

  test('is what a switched-off executor would do', async () => {
    const policy = await policyWith();
    const [bound] = (await detailOf(await create(movement(templates.plain, policy.strategy_id))))
      .nodes;
    const path = `/executors/${bound?.executor_binding.executor_key ?? ''}`;
    await api.expect(200, 'PATCH', path, { status: 'disabled' });
    try {
      const made = await create(movement(templates.plain, policy.strategy_id));
      expect(made).toMatchObject({
        request_state: 'PENDING_APPROVAL',
        auto_approve_result: { reason: 'binding_unavailable' },
      });
    } finally {
      await api.expect(200, 'PATCH', path, { status: 'active' });
    }
  });

  test('is what an agent asks for, whatever its policy says', async () => {
    const io = {
      env: {
        SVC_DATABASE_URL: own.stack.databaseUrl,
        SVC_SECRETS_KEY_FILE: own.stack.env['SVC_SECRETS_KEY_FILE'],
      },
      out: () => undefined,
      err: () => undefined,
    };
    const key = await issue(
      { clientName: 'a-bot', keyId: 'a-bot-1', role: 'agent', authorityKey: 'bot' },
      io,
    );
    const bot = new MovementApi(own.stack.apiUrl, { keyId: key.key_id, secret: key.hmac_secret });
    const template_key = 'agent/bot/plain';
    const completion_policy = { completion_assurance: 'destination_credited' };
    await api.expect(201, 'POST', '/plan-templates', {
      template_key,
      version: 1,
      name: 'x',
      nodes: [noop('a')],
      completion_policy,
    });
    const policy = await policyWith({
      client_id: key.client_id,
      allowed_templates: [{ template_key, template_version: 1 }],
    });
    const made = await create(movement(template_key, policy.strategy_id), bot);
    expect(made).toMatchObject({
      request_state: 'PENDING_APPROVAL',
      auto_approve_result: { reason: 'agent_auto_approve_skipped' },
    });
  });
});

const detailOf = async ({ movement_id }: Made) =>
  (await api.movement(movement_id)) as unknown as {
    nodes: readonly { executor_binding: { executor_key: string } }[];
  };

/** What a preview says of automatic approval; nothing may be written by it. */
async function previewOf(body: object, at = api): Promise<unknown> {
  const count =
    'SELECT (SELECT count(*) FROM movements)::int AS movements, (SELECT count(*) FROM budget_reservations)::int AS budget';
  const before = await own.query(count);
  const { status, body: answer } = await at.send('POST', '/movements', body, { 'Dry-Run': 'true' });
  expect([status, await own.query(count)]).toEqual([200, before]);
  return answer['auto_approve'];
}

test('a preview promises what the create then does, and takes nothing', async () => {
  const policy = await policyWith({ window_hours: 1, max_count_per_window: 1 });
  const body = movement(templates.gated, policy.strategy_id);
  expect(await previewOf(body)).toMatchObject({ outcome: 'approved', reason: 'policy_passed' });
  expect(await create(body)).toMatchObject({
    auto_approve_result: { outcome: 'approved', reason: 'policy_passed' },
  });
  expect(await previewOf(body)).toMatchObject({
    outcome: 'pending',
    reason: 'window_count_exceeded',
  });
});

describe('other settings', () => {
  test('a dry run tells what a policy would say, and a person decides', async () => {
    const dry = await another('dry-api', { SVC_AUTO_APPROVE_DRY_RUN: 'true' });
    const policy = await policyWith({ max_amount_per_request: '10' });
    const passed = await create(movement(templates.plain, policy.strategy_id), dry);
    expect(passed).toMatchObject({
      request_state: 'PENDING_APPROVAL',
      auto_approve_result: { outcome: 'dry_run', reason: 'policy_passed' },
    });
    const much = { intent: { asset: 'USDC', amount: '11' } };
    expect(await create(movement(templates.plain, policy.strategy_id, much), dry)).toMatchObject({
      request_state: 'PENDING_APPROVAL',
      auto_approve_result: { outcome: 'dry_run', reason: 'amount_exceeded_per_request' },
    });
  });

  test('without the switch no policy is evaluated', async () => {
    const off = await another('off-api', { SVC_AUTO_APPROVE_ENABLED: 'false' });
    const policy = await policyWith();
    const made = await create(movement(templates.plain, policy.strategy_id), off);
    expect(made).toMatchObject({ request_state: 'PENDING_APPROVAL', auto_approve_result: null });
    expect(await previewOf(movement(templates.plain, policy.strategy_id), off)).toBeNull();
  });

  test('without authentication a policy has no client to be found by', async () => {
    const open = await another('open-api', { SVC_AUTH_ENABLED: 'false' });
    expect(await create(movement(templates.plain, 'any'), open)).toMatchObject({
      request_state: 'PENDING_APPROVAL',
      auto_approve_result: { outcome: 'pending', reason: 'client_id_missing', checks: [] },
    });
  });

  test("the free edition goes by the template's cap, and holds it exactly", async () => {
    const free = await another('free-api', { SVC_EDITION: 'free' });
    const template = await storeTemplate(api, [gate('check')]);
    const strategy = randomUUID();
    const ask = async (amount: string, asset = 'USDC'): Promise<unknown> => {
      const made = await create(movement(template, strategy, { intent: { asset, amount } }), free);
      return [
        made.request_state,
        made.auto_approve_result?.outcome,
        made.auto_approve_result?.reason,
      ];
    };
    const waits = (reason: string) => ['PENDING_APPROVAL', 'pending', reason];
    const passes = ['APPROVED', 'approved', 'free_simple_cap_passed'];
    expect(await ask('1')).toEqual(waits('template_auto_approve_disabled'));
    const caps = { auto_approve_enabled: true, daily_cap_amount: '30', daily_cap_asset: 'USDC' };
    await api.expect(200, 'PATCH', `/plan-templates/${template}`, caps);
    expect(await ask('1', 'USDT')).toEqual(waits('asset_mismatch'));
    expect(await ask('30.000000000000000001')).toEqual(waits('amount_exceeded_per_request'));
    expect(await ask('12')).toEqual(passes);
    expect(await ask('18.000000000000000001')).toEqual(waits('daily_cap_exceeded'));
    // What a person approved counts as well.
    const byHand = await create(
      movement(template, undefined, { intent: { asset: 'USDC', amount: '8' } }),
      free,
    );
    expect(byHand).toMatchObject({ request_state: 'PENDING_APPROVAL', auto_approve_result: null });
    await api.approve(byHand);
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask('2.5')));
    expect(
      answers.filter((answer) => JSON.stringify(answer) === JSON.stringify(passes)),
    ).toHaveLength(4);
    expect(
      answers.filter(
        (answer) => JSON.stringify(answer) === JSON.stringify(waits('daily_cap_exceeded')),
      ),
    ).toHaveLength(16);
    // A day later the template is free again.
    await own.query(
      `UPDATE movements SET approved_at = approved_at - interval '24 hours'
       WHERE template_key = $1`,
      [template],
    );
    expect(await ask('30')).toEqual(passes);
    // Policies are kept in this edition too, and decide nothing.
    const policy = await policyWith();
    expect(await create(movement(templates.plain, policy.strategy_id), free)).toMatchObject({
      auto_approve_result: { reason: 'template_auto_approve_disabled' },
    });
  });
});

test('the daily cap counts its own asset, of whatever else the same movements move', async () => {
  const free = await another('free-caps', { SVC_EDITION: 'free' });
  // The first moves what the intent says, in whatever asset that is.
  const pay = withdrawal(own.stack.chain, 'pay');
  const { asset: _any, ...anything } = pay['config'] as { readonly asset: string };
  const beside = withdrawal(own.stack.chain, 'beside', {
    config: { amount: '500', asset: 'USDT' },
  });
  const template = await storeTemplate(api, [gate('check'), { ...pay, config: anything }, beside]);
  await api.expect(200, 'PATCH', `/plan-templates/${template}`, {
    auto_approve_enabled: true,
    daily_cap_amount: '30',
    daily_cap_asset: 'USDC',
  });
  for (const intent of [
    { asset: 'USDC', amount: '5' },
    { asset: 'USDT', amount: '70' },
  ])
    await api.approve(await create(movement(template, undefined, { intent })));
  const preview = async (amount: string) => {
    const body = movement(template, randomUUID(), { intent: { asset: 'USDC', amount } });
    return (await free.send('POST', '/movements', body, { 'dry-run': 'true' })).body['limits'];
  };
  const daily = { limit: '30', used: '5' };
  expect(await preview('25')).toContainEqual(
    expect.objectContaining({ ...daily, after: '30', ok: true }),
  );
  expect(await preview('25.1')).toContainEqual(
    expect.objectContaining({ ...daily, after: '30.1', ok: false }),
  );
});

/**
 * Who waited too long for a connection of the process, or lost it, has made nothing (or one
 * movement under the key) and asks again.
 */
async function insist(body: object, at: MovementApi): Promise<Made> {
  const keyed = { ...body, idempotency_key: randomUUID() };
  for (;;) {
    const answer = await at.send('POST', '/movements', keyed).catch(() => null);
    if (answer !== null && answer.status < 300) return answer.body as unknown as Made;
    if (answer !== null && answer.status !== 503)
      throw new Error(`a create answered ${String(answer.status)}`);
    await sleep(100);
  }
}

/** 500 creates at once over both processes, with a look at the sums while they run. */
async function storm(
  policy: Policy,
  amount: string,
): Promise<{ readonly approved: number; readonly reasons: Set<unknown>; readonly most: unknown }> {
  let over = false;
  const sums = `SELECT coalesce(sum(amount), 0)::text AS amount, count(*)::int AS n
    FROM budget_reservations WHERE policy_id = $1 AND status <> 'released'`;
  const seen: { amount: string; n: number }[] = [];
  const watch = (async () => {
    while (!over) {
      seen.push(...(await own.query<{ amount: string; n: number }>(sums, [policy.policy_id])));
      await sleep(20);
    }
  })();
  const body = movement(templates.gated, policy.strategy_id, { intent: { asset: 'USDC', amount } });
  const made = await Promise.all(
    Array.from({ length: 500 }, (_, index) => insist(body, index % 2 === 0 ? api : second)),
  ).finally(() => {
    over = true;
  });
  await watch;
  expect(seen.length).toBeGreaterThan(1);
  const counts = seen.map(({ n }) => n);
  // Never less than before: nothing is released here, so the last look is the most that ever was.
  expect(counts).toEqual([...counts].sort((a, b) => a - b));
  return {
    approved: made.filter(({ request_state }) => request_state === 'APPROVED').length,
    reasons: new Set(made.map(({ auto_approve_result: result }) => result?.reason)),
    most: (await own.query<{ amount: string; n: number }>(sums, [policy.policy_id]))[0],
  };
}

describe('of 500 creates at once over two processes', () => {
  test('as many are approved as the window has money for, to the last digit', async () => {
    const policy = await policyWith({
      window_hours: 24,
      max_amount_per_window: '1000.000000000000000250',
    });
    const { approved, reasons, most } = await storm(policy, '4.000000000000000001');
    expect([approved, most]).toEqual([250, { amount: '1000.000000000000000250', n: 250 }]);
    expect(reasons).toEqual(new Set(['policy_passed', 'window_amount_exceeded']));
    expect(await budgetOf(policy)).toMatchObject({
      reserved_amount: '1000.00000000000000025',
      available_amount: '0',
      count_in_window: 250,
    });
    const rows = await own.query(
      'SELECT count(*)::int AS n FROM movements WHERE strategy_id = $1 AND approval_status = $2',
      [policy.strategy_id, 'approved'],
    );
    expect(rows).toEqual([{ n: 250 }]);
  }, 180_000);

  test('as many as it counts', async () => {
    const policy = await policyWith({ window_hours: 24, max_count_per_window: 123 });
    const { approved, reasons, most } = await storm(policy, '1');
    expect([approved, most]).toMatchObject([123, { n: 123 }]);
    expect(reasons).toEqual(new Set(['policy_passed', 'window_count_exceeded']));
  }, 180_000);
});
