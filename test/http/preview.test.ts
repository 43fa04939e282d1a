/** A create with `Dry-Run: true` answers what it would do. */
import { randomUUID } from 'node:crypto';
import { createApi } from '../../api/app.ts';
import { movementRoutes } from '../../api/movements/routes.ts';
import { createNoopExecutor } from '../../executors/local/noop.ts';
import { connectDatabase } from '../../prisma/client.ts';
import { dependencies, serve } from '../api/support.ts';
import {
  act,
  approval,
  create,
  edge,
  expectInvalid,
  expectRefusal,
  gate,
  get,
  movementBody,
  must,
  noop,
  patch,
  post,
  registered,
  shared,
  sql,
  transfer,
  uniqueKey,
  waitFor,
  withdrawal,
  withTemporal,
  type Answer,
  type CreatedView,
  type TemplateView,
} from '../support/http.ts';

interface PreviewView {
  readonly would_create: boolean;
  readonly compiled_plan_hash: string | null;
  readonly current_frontier: readonly string[];
  readonly bindings: readonly Readonly<Record<string, unknown>>[];
  readonly allowlist: readonly unknown[];
  readonly limits: readonly unknown[];
  readonly auto_approve: unknown;
  readonly blocking_reasons: readonly Readonly<Record<string, unknown>>[];
}

const dry = { 'dry-run': 'true' };
const ask = (
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer<PreviewView>> => post<PreviewView>('/movements', body, { ...headers, ...dry });
const preview = (body: unknown, headers?: Readonly<Record<string, string>>): Promise<PreviewView> =>
  must(200, ask(body, headers));

let linear: TemplateView;
beforeAll(async () => {
  linear = await registered([noop('a'), noop('b')]);
});

async function tables(): Promise<readonly string[]> {
  const rows = await sql<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`,
  );
  return rows.map((row) => row.name);
}

/** Rows of every table, in one statement. */
async function rowCounts(): Promise<Readonly<Record<string, string>>> {
  // A signed request leaves its nonce, and the sealer what others wrote before.
  const counted = (await tables()).filter(
    (name) => name !== 'nonce_registry' && name !== 'audit_seals',
  );
  const parts = counted.map(
    (name) => `SELECT '${name}' AS name, count(*)::text AS rows FROM "${name}"`,
  );
  const rows = await sql<{ name: string; rows: string }>(parts.join(' UNION ALL '));
  return Object.fromEntries(rows.map((row) => [row.name, row.rows]));
}

describe('a preview', () => {
  test('tells what the create would make', async () => {
    const of = await registered([withdrawal('out'), gate('check'), transfer('sweep')]);
    expect(await preview(movementBody(of, { strategy_id: 's' }))).toEqual({
      would_create: true,
      compiled_plan_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      current_frontier: ['out'],
      bindings: [
        {
          node_key: 'out',
          executor_key: 'paper.withdrawal',
          signer_key: null,
          available: true,
          reason: null,
        },
        {
          node_key: 'check',
          executor_key: expect.any(String),
          signer_key: null,
          available: true,
          reason: null,
        },
        {
          node_key: 'sweep',
          executor_key: 'evm.transfer',
          signer_key: 'test-wallet',
          available: true,
          reason: null,
        },
      ],
      allowlist: [
        {
          node_key: 'out',
          address: shared.wallet.toLowerCase(),
          chain_id: null,
          allowed: true,
          usable_after: null,
        },
        {
          node_key: 'sweep',
          address: shared.chain.accounts.treasury.address.toLowerCase(),
          chain_id: shared.chain.chainId,
          allowed: true,
          usable_after: null,
        },
      ],
      external_reference: null,
      metadata: {},
      limits: [],
      outflow: [{ asset: 'USDC', amount: '20' }],
      auto_approve: null,
      blocking_reasons: [],
      // test/http/review.test.ts
      sends: expect.any(Array),
      balances: expect.any(Array),
      would_fail: expect.any(Array),
      would_wait: [],
    });
  });

  test('has the hash and the frontier of the real create of the same body', async () => {
    const forked = await registered([noop('a'), noop('b'), noop('c')], {
      edges: [edge('a', 'c'), edge('b', 'c')],
    });
    const body = movementBody(forked, {
      intent: { asset: 'usdc', amount: '10.500', chain_id: 1, destination_address: 'x' },
      input_params: { node_config: { note: 'x' }, own: [1, { two: 2 }] },
      labels: { a: 'b' },
    });
    const before = await preview(body);
    const made = await must(201, post<CreatedView>('/movements', body));
    expect([before.compiled_plan_hash, before.current_frontier]).toEqual([
      made.compiled_plan_hash,
      made.current_frontier,
    ]);
    expect((await preview(body)).compiled_plan_hash).toBe(made.compiled_plan_hash);
    expect(
      (await preview({ ...body, intent: { ...body.intent, amount: '11' } })).compiled_plan_hash,
    ).not.toBe(made.compiled_plan_hash);
  });

  test('is the normal create with `Dry-Run: false`', async () => {
    const { status, body } = await post<CreatedView>('/movements', movementBody(linear), {
      'dry-run': 'false',
    });
    expect([status, body.request_state]).toEqual([201, 'PENDING_APPROVAL']);
  });

  test.each(['yes', 'True', '1', ''])(
    'is 422 with `Dry-Run: %s`, and nothing is made',
    async (value) => {
      const strategy_id = randomUUID();
      expectInvalid(
        await post('/movements', movementBody(linear, { strategy_id }), { 'dry-run': value }),
        'dry-run',
      );
      expect(await sql('SELECT 1 FROM movements WHERE strategy_id = $1', [strategy_id])).toEqual(
        [],
      );
    },
  );

  test('is refused where there is none', async () => {
    const { movement_id, compiled_plan_hash } = await create(linear);
    expectInvalid(
      await post(`/movements/${movement_id}/approve`, approval({ compiled_plan_hash }), dry),
      'dry-run',
    );
    expectInvalid(
      await post('/plan-templates', { template_key: 'x' }, dry),
      ...(await missingFields()),
      'dry-run',
    );
    expect((await get<CreatedView>(`/movements/${movement_id}`)).body.request_state).toBe(
      'PENDING_APPROVAL',
    );
  });
});

/** What an empty template lacks, together with the header. */
async function missingFields(): Promise<readonly string[]> {
  const { body } = await post<{ detail: { issues: { path: string }[] } }>('/plan-templates', {
    template_key: 'x',
  });
  return body.detail.issues.map((issue) => issue.path);
}

describe('a preview writes nothing', () => {
  test('in any table, whether it would create or not', async () => {
    const unserved = await registered([noop('a', { action_type: 'test_unserved' })]);
    const key = randomUUID();
    await create(linear, { idempotency_key: key });
    // Other files use the same stack, so one moment without their rows is waited for: a row of ours
    // would come every time.
    await waitFor(
      async () => {
        const before = await rowCounts();
        await preview(movementBody(linear, { idempotency_key: randomUUID() }));
        await preview(movementBody(linear, { idempotency_key: key }));
        await preview(movementBody(unserved));
        expect(
          (await ask(movementBody({ template_key: uniqueKey('unknown'), version: 1 }))).status,
        ).toBe(404);
        return JSON.stringify(await rowCounts()) === JSON.stringify(before);
      },
      { what: () => 'equal counts of rows' },
    );
  });

  test('that holds its request id, template, key or strategy, and starts no run', async () => {
    const of = await registered([noop('a')]);
    const [request, key, strategy_id] = [randomUUID(), randomUUID(), randomUUID()];
    const url = 'https://callback.example/x';
    await preview(movementBody(of, { strategy_id, callback_url: url }), {
      'x-request-id': request,
      'idempotency-key': key,
    });
    const marks = `%(${request}|${key}|${strategy_id}|${of.template_id})%`;
    const found = await Promise.all(
      (await tables())
        .filter((name) => !name.startsWith('plan_'))
        .map((name) =>
          sql(
            `SELECT '${name}' AS name FROM "${name}" AS t WHERE t::text SIMILAR TO $1
              AND t::text NOT LIKE '%plan_template.%'`,
            [marks],
          ),
        ),
    );
    expect(found.flat()).toEqual([]);
  });

  test('with a database that refuses every write, where the real create fails', async () => {
    const db = connectDatabase({
      url: `${shared.databaseUrl}?target_session_attrs=any`,
      poolSize: 2,
      sessionSettings: { default_transaction_read_only: 'on' },
    });
    const woken: string[] = [];
    const deps = {
      ...dependencies(),
      db,
      executors: { list: () => [createNoopExecutor().descriptor] },
      handOver: (id: string) => void woken.push(id),
    };
    const served = await serve(createApi(deps, movementRoutes));
    try {
      const url = `${served.url}/v3/movements`;
      expect(await must(200, post(url, movementBody(linear), dry))).toMatchObject({
        would_create: true,
      });
      expect((await post(url, movementBody(linear))).status).toBe(503);
      const refused = await registered([noop('a', { action_type: 'test_unserved' })]);
      expect(await must(200, post(url, movementBody(refused), dry))).toMatchObject({
        would_create: false,
      });
      expect(woken).toEqual([]);
    } finally {
      await served.close();
      await db.$disconnect();
    }
  });

  test('and starts no workflow', async () => {
    const runs = async (): Promise<ReadonlySet<string>> =>
      withTemporal(async (client) => {
        const ids = new Set<string>();
        for await (const each of client.workflow.list()) ids.add(each.workflowId);
        return ids;
      });
    await preview(movementBody(linear));
    // The list is behind: what a preview had started would be shown by the time that this is.
    const made = await create(linear);
    await waitFor(async () => (await runs()).has(`movement/${made.movement_id}`));
    // Runs first: a movement is stored before its run begins, so that one which somebody else
    // creates meanwhile is known too.
    const running = await runs();
    const known = new Set(
      (await sql<{ id: string }>('SELECT movement_id AS id FROM movements')).map(
        (row) => `movement/${row.id}`,
      ),
    );
    expect([...running].filter((id) => id.startsWith('movement/') && !known.has(id))).toEqual([]);
  });

  test('and uses no key: the create after it is the first', async () => {
    const body = movementBody(linear, { idempotency_key: randomUUID() });
    expect((await preview(body)).would_create).toBe(true);
    const made = await post<CreatedView>('/movements', body);
    expect([made.status, made.headers.get('idempotent-replayed')]).toEqual([201, null]);
  });
});

describe('a preview of what the create would refuse', () => {
  /**
   * The preview's first reason is the detail of the create's refusal; a preview has no plan then.
   */
  async function sameAsCreate(body: unknown): Promise<PreviewView> {
    const seen = await preview(body);
    const { status, body: refusal } = await post<{ detail: unknown }>('/movements', body);
    expect(status).toBeGreaterThanOrEqual(409);
    expect(seen.would_create).toBe(false);
    expect(seen.blocking_reasons[0]).toEqual(refusal.detail);
    return seen;
  }
  const nothing = { compiled_plan_hash: null, current_frontier: [], limits: [] };

  test('lists a plan that cannot be executed', async () => {
    const seen = await sameAsCreate(
      movementBody(await registered([noop('a', { config: { amount_ref: 'nodes.zzz.output.x' } })])),
    );
    expect(seen).toMatchObject({
      ...nothing,
      blocking_reasons: [{ error: 'template_not_executable', reasons: ['unknown_amount_ref:a'] }],
    });
  });

  test('lists the reserved family', async () => {
    const reserved = noop('t', {
      action_type: 'agent_wallet_top_up',
      executor_selector: { action_type: 'agent_wallet_top_up', provider: 'unknown' },
      signer_selector: { chain_family: 'evm', profile: 'test-wallet' },
    });
    const seen = await sameAsCreate(movementBody(await registered([reserved])));
    expect(seen.blocking_reasons.map((each) => each['error'])).toEqual([
      'reserved_template_family',
      'binding_unresolved',
    ]);
  });

  test('names for each node what could not be bound', async () => {
    const seen = await sameAsCreate(
      movementBody(
        await registered([
          noop('a', { action_type: 'test_twin' }),
          transfer('b', { signer_selector: { chain_family: 'evm', profile: 'unknown' } }),
          noop('c', { action_type: 'test_unserved' }),
        ]),
      ),
    );
    expect(seen).toMatchObject(nothing);
    expect(seen.blocking_reasons.map((each) => each['error'])).toEqual(['binding_unresolved']);
    expect(seen.bindings).toEqual([
      {
        node_key: 'a',
        executor_key: null,
        signer_key: null,
        available: false,
        reason: 'executor_ambiguous',
      },
      {
        node_key: 'b',
        executor_key: 'evm.transfer',
        signer_key: null,
        available: false,
        reason: 'signer_missing',
      },
      {
        node_key: 'c',
        executor_key: null,
        signer_key: null,
        available: false,
        reason: 'executor_missing',
      },
    ]);
  });

  test('tells every reason at once, the one of the create first', async () => {
    const nodes = [
      noop('a', { action_type: 'test_unserved', config: { amount_ref: 'nodes.zzz.output.x' } }),
    ];
    const seen = await sameAsCreate(movementBody(await registered(nodes)));
    expect(seen.blocking_reasons.map((each) => each['error'])).toEqual([
      'template_not_executable',
      'binding_unresolved',
    ]);
  });

  test('names the movement that a key was used for', async () => {
    const body = movementBody(linear, { idempotency_key: randomUUID() });
    const first = await must(201, post<CreatedView>('/movements', body));
    expect(await preview(body)).toMatchObject({
      would_create: false,
      compiled_plan_hash: first.compiled_plan_hash,
      blocking_reasons: [
        {
          error: 'idempotent_replay',
          message: expect.stringMatching(/\w/),
          movement_id: first.movement_id,
        },
      ],
    });
    const other = { ...body, intent: { asset: 'USDC', amount: '11' }, strategy_id: 's' };
    const seen = await sameAsCreate(other);
    expect(seen.blocking_reasons).toMatchObject([
      {
        error: 'idempotency_conflict',
        movement_id: first.movement_id,
        fields: ['intent.amount', 'strategy_id'],
      },
    ]);
  });

  test('stays 422 and 404 where there is nothing to preview', async () => {
    expectInvalid(
      await ask(movementBody(linear, { template_version: 0, unknown: 1 })),
      'template_version',
      'unknown',
    );
    const template_key = uniqueKey('unknown');
    const answer = await ask(movementBody({ template_key, version: 1 }));
    expectRefusal(answer, 404, 'template_not_found', { template_key, template_version: 1 });
    expectInvalid(
      await ask(movementBody(linear, { idempotency_key: 'a' }), { 'idempotency-key': 'b' }),
      'idempotency_key',
    );
  });
});

describe('a preview of what would fail later', () => {
  test('shows an executor that is switched off: it can be created, and not be approved', async () => {
    const body = movementBody(await registered([noop('a', { action_type: 'test_previewed' })]));
    await must(200, patch('/executors/test.previewed', { status: 'disabled', reason: 'a test' }));
    try {
      expect(await preview(body)).toMatchObject({
        would_create: true,
        blocking_reasons: [],
        bindings: [
          {
            node_key: 'a',
            executor_key: 'test.previewed',
            available: false,
            reason: 'executor_disabled',
          },
        ],
      });
      const made = await must(201, post<CreatedView>('/movements', body));
      expectRefusal(
        await act(made.movement_id, 'approve', approval(made)),
        409,
        'binding_unavailable',
        {
          bindings: [{ binding: 'executor', key: 'test.previewed', reason: 'disabled' }],
        },
      );
    } finally {
      await must(200, patch('/executors/test.previewed', { status: 'active' }));
    }
    expect((await preview(body)).bindings).toMatchObject([{ available: true, reason: null }]);
  });

  test('shows a signer that is switched off', async () => {
    const of = await registered([transfer('a', { signer_selector: { chain_family: 'near' } })]);
    await must(200, patch('/signers/test-previewed', { status: 'disabled' }));
    try {
      expect((await preview(movementBody(of))).bindings).toMatchObject([
        { signer_key: 'test-previewed', available: false, reason: 'signer_disabled' },
      ]);
    } finally {
      await must(200, patch('/signers/test-previewed', { status: 'active' }));
    }
  });

  test("holds the amounts against the plan's and the nodes' limits", async () => {
    const nodes = [
      noop('a', { risk_patch: { max_amount: '9.5' } }),
      noop('b', { config: { amount: '4' }, risk_patch: { max_amount: '5' } }),
      noop('c', { config: { amount_ref: 'nodes.a.output.x' } }),
    ];
    const seen = await preview(
      movementBody(
        await registered(nodes, { risk_controls: { max_amount: '20', min_amount: '1' } }),
      ),
    );
    expect(seen).toMatchObject({
      would_create: true,
      blocking_reasons: [{ error: 'MAX_AMOUNT_EXCEEDED', node_key: 'a' }],
    });
    expect(seen.limits).toEqual([
      { control: 'max_amount', limit: '20', used: null, after: '10', ok: null },
      { control: 'nodes.a.max_amount', limit: '9.5', used: null, after: '10', ok: false },
      { control: 'nodes.b.max_amount', limit: '5', used: null, after: '4', ok: true },
    ]);
  });
});
