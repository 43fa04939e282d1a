/**
 * Changes that let more money go, over two APIs and `fundadmin` on one database: with a rule of
 * their kind each waits for two people, by every way, and is made once, exactly as approved.
 */
import { createHash, createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import canonicalize from 'canonicalize';
import { createApi } from '../../api/app.ts';
import { createGuard } from '../../api/auth/guard.ts';
import { createOperatorAuthentication } from '../../api/dashboard/authenticate.ts';
import { createNonces } from '../../api/dashboard/nonces.ts';
import { fileKeys } from '../../api/dashboard/operators.ts';
import type { DashboardParts } from '../../api/dashboard/routes.ts';
import type { SigningKey } from '../../dev/stack/keys.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { ApprovalRule } from '../../domain/approval/rule.ts';
import { createNoopExecutor } from '../../executors/local/noop.ts';
import type { DashboardKey } from '../../platform/dashboard-keys.ts';
import { createLocalSigner } from '../../signers/local.ts';
import { parseSecretsKey } from '../../platform/secrets.ts';
import { connectDatabase } from '../../prisma/client.ts';
import { changeApprovers } from '../../store/approvals.ts';
import { createChange, decideChange } from '../../store/change-requests.ts';
import { commercial } from '../../api/commercial.ts';
import { withExtensions } from '../../api/extension.ts';
import { chainAssets, parseVenueBindings } from '../../venues/bindings.ts';
import { routes } from '../../venues/routes.ts';
import { dependencies, serve, type Served } from '../api/support.ts';
import { makePasskey, type Ceremony, type SoftPasskey } from '../support/authenticator.ts';
import { dashboardHeaders } from '../support/dashboard.ts';
import { noop, template } from '../support/http.ts';
import { startOwnDatabase } from '../support/own-database.ts';
import { signedFetch } from '../support/signed-fetch.ts';
import { started } from '../support/started.ts';
import { tool, type ToolRun } from '../support/tool.ts';

const SECRETS = randomBytes(32).toString('base64');
const ORIGIN = 'http://localhost';
const SIGNERS = ['desk', 'desk-2'].map((signer_key) =>
  createLocalSigner({ signer_key, chain_family: 'evm' }, `0x${randomBytes(32).toString('hex')}`),
);
/** One whose caps are those of a venues file that names none. */
const CHAINS = chainAssets(
  parseVenueBindings({
    venues: [
      {
        ...{ venue_key: 'mainnet', provider: 'evm', chain_id: 1 },
        ...{ rpc_url: 'http://127.0.0.1:1', finality_confirmations: 64 },
        finality_override: { reason: 'a test' },
      },
    ],
  }),
);
const own = started(startOwnDatabase);
const db = started(async () => {
  const open = connectDatabase({ url: own.url, poolSize: 5 });
  return Object.assign(open, { close: () => open.$disconnect() });
});
const OPERATOR_SECRET = randomBytes(32).toString('hex');
const OPERATOR: DashboardKey = {
  secret: createSecretKey(OPERATOR_SECRET, 'utf8'),
  role: 'operator',
  allowlist: true,
};
/** The operators of the dashboard; a test may change their rights. */
const operators = new Map([
  ['olga', OPERATOR],
  ['piet', OPERATOR],
]);
let apis: readonly Served[] = [];
const keys = new Map<string, SigningKey>();

/** `fundadmin` on the database of this file. */
const fundadmin = (...args: readonly string[]): Promise<ToolRun> =>
  tool(args, { SVC_DATABASE_URL: own.url, SVC_SECRETS_KEY: SECRETS });

beforeAll(async () => {
  const secrets = parseSecretsKey(SECRETS);
  if (!secrets.ok) throw new Error('the key is no key');
  apis = await Promise.all(
    [1, 2].map(async () => {
      const pool = connectDatabase({ url: own.url, poolSize: 10 });
      const { log, ...deps } = dependencies({ authEnabled: true });
      const nonces = createNonces([createSecretKey(randomBytes(32))]);
      const app = createApi(
        {
          ...deps,
          ...{ db: pool, log, consoleOrigin: () => ORIGIN },
          chains: CHAINS,
          executors: { list: () => [createNoopExecutor().descriptor] },
          signers: {
            list: () => SIGNERS.map(({ descriptor }) => descriptor),
            get: (key) => SIGNERS.find(({ descriptor }) => descriptor.signer_key === key),
          },
        },
        withExtensions(routes, [commercial({ autoApproveDryRun: false })]),
        {
          guard: createGuard({
            ...{ db: pool, log, secretsKeys: secrets.keys },
            ...{ maxSkewSeconds: 300, rateLimits: null },
          }),
          dashboard: {
            parts: () => ({ cooling: null, nonces }) as DashboardParts,
            authentication: createOperatorAuthentication({
              ...{ db: pool, log, nonces },
              keys: fileKeys(operators),
              maxSkewSeconds: 300,
            }),
            origin: () => ORIGIN,
          },
        },
      );
      const served = await serve(app);
      return {
        ...served,
        close: async () => {
          const cut = await served.close();
          await pool.$disconnect();
          return cut;
        },
      };
    }),
  );
  for (const name of ['ann', 'bob', 'cid', 'eve']) {
    const { out, err, status } = await fundadmin(
      ...['keys', 'issue', '--client-name', name, '--key-id', name, '--role', 'admin'],
    );
    if (status !== 0) throw new Error(err);
    const issued = JSON.parse(out) as { hmac_secret: string; client_id: string };
    keys.set(name, { keyId: name, secret: issued.hmac_secret });
    clients.set(name, issued.client_id);
  }
  await changeApprovers(
    db,
    {
      people: ['ann', 'bob', 'cid', 'olga'].map((person) => ({
        person,
        name: person,
        identities: [identityOf(person)],
      })),
      groups: [{ name: 'desk', members: ['ann', 'bob', 'cid', 'olga'] }],
    },
    [],
  );
}, 240_000);
afterAll(async () => {
  await Promise.all(apis.map((api) => api.close()));
});
const clients = new Map<string, string>();

const TWO: ApprovalRule = {
  applies_to: 'allowlist',
  when: {},
  require: [{ group: 'desk', threshold: 2 }],
  initiator_may_approve: false,
  payee_author_may_approve: false,
  template_author_may_approve: false,
  reason_required: false,
};

/** Puts a rule of two people in force for each kind, and no other rule, as the owner could. */
async function ruled(...kinds: readonly Kind[]): Promise<void> {
  await db.$executeRawUnsafe('DELETE FROM approval_rules');
  for (const kind of kinds)
    await db.$executeRawUnsafe(
      `INSERT INTO approval_rules (name, rule, revision, created_at, updated_at)
       VALUES ($1, $2::jsonb, 1, svc_now(), svc_now())`,
      `two-${kind.replace('_', '-')}`,
      JSON.stringify({ ...TWO, applies_to: kind }),
    );
}
afterEach(() => ruled());

interface Answer<T = Record<string, unknown>> {
  readonly status: number;
  readonly body: T;
}
interface Change {
  readonly change_request_id: string;
  readonly kind: string;
  readonly hash: string;
  readonly state: string;
  readonly code: string | null;
  readonly before: unknown;
  readonly after: Record<string, unknown>;
  readonly approvals: { readonly required: readonly { readonly missing: number }[] };
}

/** Sends as a person with an API key, over one API or the other. */
async function as<T = Change>(
  who: string,
  method: string,
  path: string,
  body?: unknown,
  api = 0,
): Promise<Answer<T>> {
  const response = await signedFetch(
    keys.get(who) ?? { keyId: '', secret: '' },
    `${apis[api]?.url ?? ''}/v3${path}`,
    {
      method,
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    },
  );
  return { status: response.status, body: (await response.json()) as T };
}

/** Sends to the dashboard as an operator who may write the allowlist. */
async function dashboard<T = Change>(path: string, body: object): Promise<Answer<T>> {
  const text = JSON.stringify(body);
  const headers = dashboardHeaders('POST', path, text, {
    operator: 'olga',
    secret: OPERATOR_SECRET,
  });
  const response = await fetch(`${apis[0]?.url ?? ''}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: text,
  });
  return { status: response.status, body: (await response.json()) as T };
}

const approve = (who: string, { change_request_id, hash }: Change, api = 0) =>
  as(who, 'POST', `/change-requests/${change_request_id}/approve`, { hash }, api);
const read = async (id: string): Promise<Change> =>
  (await as('ann', 'GET', `/change-requests/${id}`)).body;

const ROWS = '/dashboard/allowed-addresses';
const fresh = (): string => `0x${randomBytes(20).toString('hex')}`;
const listing = (address: string) => ({
  chain_family: 'evm',
  address,
  chain_id: 1,
  label: 'a counterparty',
  reason: 'we pay them',
});
/** What the audit has of a request that was accepted, and from whom, oldest first. */
const audited = async (id: string): Promise<unknown> =>
  db.$queryRawUnsafe(
    `SELECT action, actor_client_id AS actor FROM audit_events
     WHERE action LIKE 'change_request.%' AND entity_key = $1 AND outcome = 'success'
     ORDER BY occurred_at, event_id`,
    id,
  );
const identityOf = (name: string): string => clients.get(name) ?? `dashboard:${name}`;
/** What is in a table, without what changes by itself. */
const rowsOf = async (table: string): Promise<unknown> =>
  db.$queryRawUnsafe(`SELECT to_jsonb(t) AS row FROM ${table} t ORDER BY to_jsonb(t)::text`);

type Kind = Exclude<ApprovalRule['applies_to'], 'movement'>;
interface Way {
  /** The kind of the rule. */
  readonly kind: Kind;
  /** The kind of the request, if it has several. */
  readonly named?: Kind;
  readonly table: string;
  /** Makes what the change needs, while no rule holds. */
  readonly before?: () => Promise<unknown>;
  readonly call: () => Promise<Answer<Change>>;
}
const policy = () => ({
  client_id: clients.get('ann'),
  strategy_id: 'alpha',
  allowed_templates: [{ template_key: 'acme/pay' }],
  allowed_assets: ['USDC'],
  max_amount_per_request: '1234567890.123456789',
});
const policyId = async (): Promise<string> =>
  (
    (await db.$queryRawUnsafe('SELECT policy_id::text AS id FROM auto_approve_policies')) as {
      id: string;
    }[]
  )[0]?.id ?? '';
const TRANSFER = '01938a5e-7c00-7b3a-9d2f-5b1c7e8a4f10';
/** Makes a transfer of 2 USDT that waits for a person. */
const madeTransfer = (id: string) =>
  db.$executeRawUnsafe(
    `INSERT INTO capital_transfers (transfer_id, client_scope, idempotency_key, request,
       request_state, source_venue, source_account_type, destination_venue,
       destination_account_type, asset, amount, reason, provider, created_by, claimed_until,
       next_sequence, created_at, updated_at)
     VALUES ($1::uuid, 'ann', $1, '{}', 'MANUAL_INTERVENTION', 'sub-a', 'SPOT', 'sub-b', 'SPOT',
       'USDT', 2, 'a test', 'paper', '{}', svc_now(), 1, svc_now(), svc_now())`,
    id,
  );
const PAUSE = '/perp-venue/strategy-bindings/alpha/pause';
let address = '';
const LANE_ADDRESS = `0x${'cd'.repeat(20)}`;
const raiseCaps = (max_gas_cost_wei: string, ttl_seconds = 600) =>
  as('ann', 'POST', `/admin/nonce-lanes/1/${LANE_ADDRESS}/raise`, {
    ...{ max_gas_cost_wei, ttl_seconds, reason: 'gas is dear' },
  });
const WAYS: Readonly<Record<string, Way>> = {
  'listing an address': {
    kind: 'allowlist',
    table: 'allowed_addresses',
    call: () => dashboard(ROWS, listing((address ||= fresh()))),
  },
  'taking an address back in': {
    kind: 'allowlist',
    table: 'allowed_addresses',
    before: async () => {
      const made = await dashboard<{ id: string }>(ROWS, listing(fresh()));
      address = made.body.id;
      await dashboard(`${ROWS}/${address}/revoke`, { reason: 'gone' });
    },
    call: () => dashboard(`${ROWS}/${address}/reactivate`, { reason: 'back' }),
  },
  'a policy': {
    kind: 'policies',
    table: 'auto_approve_policies',
    call: () => as('ann', 'POST', '/auto-approve-policies', policy()),
  },
  'a higher limit of a policy': {
    kind: 'policies',
    table: 'auto_approve_policies',
    call: async () =>
      as('ann', 'PATCH', `/auto-approve-policies/${await policyId()}`, {
        max_amount_per_request: '1234567890.12345679',
      }),
  },
  'a template': {
    kind: 'templates',
    table: 'plan_nodes',
    call: () =>
      as('ann', 'POST', '/plan-templates', template([noop('a')], { template_key: 'acme/pay' })),
  },
  'a template that a policy allows': {
    kind: 'policies',
    named: 'templates',
    table: 'plan_template_versions',
    call: () =>
      as(
        'ann',
        'POST',
        '/plan-templates',
        template([noop('b')], { template_key: 'acme/pay', version: 2 }),
      ),
  },
  'automatic approval of a template': {
    kind: 'templates',
    table: 'plan_templates',
    call: () =>
      as('ann', 'PATCH', '/plan-templates/acme/pay', {
        auto_approve_enabled: true,
        daily_cap_amount: '10',
        daily_cap_asset: 'USDC',
      }),
  },
  'an executor': {
    kind: 'executors',
    table: 'executors',
    before: () =>
      as('ann', 'PATCH', '/executors/builtin.noop', { status: 'disabled', reason: 'a test' }),
    call: () => as('ann', 'PATCH', '/executors/builtin.noop', { status: 'active' }),
  },
  'a signer': {
    kind: 'signers',
    table: 'signers',
    before: () => as('ann', 'PATCH', '/signers/desk', { status: 'disabled', reason: 'a test' }),
    call: () => as('ann', 'PATCH', '/signers/desk', { status: 'active' }),
  },
  'a pinned address': {
    kind: 'signers',
    table: 'signers',
    call: async () =>
      as('ann', 'PUT', '/signers/desk-2/expected-identity', {
        expected_address: await SIGNERS[1]?.identity(),
        previous_expected_address: null,
        reason: 'a test',
      }),
  },
  'a rotation': {
    kind: 'signers',
    table: 'signers',
    call: () =>
      as('ann', 'POST', '/admin/signers/desk/rotate', {
        replace_with: 'desk-2',
        reason: 'a test',
        ack_impact: true,
      }),
  },
  'higher fee caps of a lane': {
    kind: 'signers',
    table: 'nonce_lanes',
    before: () =>
      db.$executeRawUnsafe(
        `INSERT INTO nonce_lanes (chain_id, address, next_nonce, signer_key)
         VALUES (1, '${LANE_ADDRESS}', 1, 'desk')`,
      ),
    call: () => raiseCaps('50000000000000001'),
  },
  'a strategy at the perps venue': {
    kind: 'perps',
    table: 'perp_bindings',
    before: () =>
      db.$executeRawUnsafe(
        `INSERT INTO perp_master (master_address, signer_key, network, created_at)
         VALUES ('0x${'ab'.repeat(20)}', 'desk', 'testnet', svc_now())`,
      ),
    call: () =>
      as('ann', 'POST', '/perp-venue/strategy-bindings', {
        strategy_id: 'alpha',
        max_agent_balance: '10',
      }),
  },
  'the end of a pause': {
    kind: 'perps',
    table: 'perp_bindings',
    before: () => as('ann', 'POST', PAUSE, { paused: true, reason: 'a test' }),
    call: () => as('ann', 'POST', PAUSE, { paused: false, reason: 'over' }),
  },
  'what became of a capital transfer': {
    kind: 'capital_transfer',
    table: 'capital_transfers',
    before: () => madeTransfer(TRANSFER),
    call: () =>
      as('ann', 'POST', `/capital-transfers/${TRANSFER}/actions/resolve`, {
        resolution: 'failed',
        reason: 'The statement shows none.',
      }),
  },
  'a chain of the bridge': {
    kind: 'bridge',
    table: 'bridge_chains',
    call: () =>
      as('ann', 'POST', '/bridge-c/chain-registry', {
        chain: 'base',
        endpoint_identity: '30184:0x1a44076050125825900e736c501f859c50fe728c',
        finality_age_seconds: 1_200,
      }),
  },
  'the end of a stop': {
    kind: 'cutover',
    table: 'cutover',
    before: () => as('ann', 'POST', '/admin/cutover-mode', { mode: 'frozen', reason: 'a test' }),
    call: () => as('ann', 'POST', '/admin/cutover-mode', { mode: 'normal', reason: 'over' }),
  },
};

test.each(Object.entries(WAYS))('waits for two people, and is made once: %s', async (_, way) => {
  const { kind, named = kind, table, call } = way;
  await way.before?.();
  await ruled(kind);
  const former = await rowsOf(table);
  const requested = await call();
  expect(requested).toMatchObject({
    status: 202,
    body: {
      kind: named,
      approvals: { required: [{ rule: `two-${kind.replace('_', '-')}`, missing: 2 }] },
    },
  });
  const { change_request_id: id } = requested.body;
  // The same call again is the same request, and its author may not approve it.
  expect((await call()).body.change_request_id).toBe(id);
  const author = kind === 'allowlist' ? 'olga' : 'ann';
  const others = ['ann', 'bob', 'cid'].filter((each) => each !== author);
  if (author === 'ann')
    expect(await approve('ann', requested.body)).toMatchObject({
      status: 403,
      body: { detail: { error: 'approver_excluded', why: 'initiator' } },
    });
  expect(await approve('eve', requested.body)).toMatchObject({
    status: 403,
    body: { detail: { error: 'approver_excluded', why: 'no_person' } },
  });
  for (let again = 0; again < 2; again += 1)
    expect(await approve(others[0] ?? '', requested.body)).toMatchObject({
      status: 200,
      body: { state: 'open', approvals: { required: [{ missing: 1 }] } },
    });
  expect((await call()).status).toBe(202);
  expect(await rowsOf(table)).toEqual(former);
  expect(await approve(others[1] ?? '', requested.body, 1)).toMatchObject({
    status: 200,
    body: { state: 'applied', code: null },
  });
  expect(await rowsOf(table)).not.toEqual(former);
  // What was approved once is not done twice.
  expect((await read(id)).state).toBe('applied');
  const [{ actor } = { actor: null }] = (await db.$queryRawUnsafe(
    `SELECT actor_client_id AS actor FROM audit_events
     WHERE action NOT LIKE 'change_request.%' AND outcome = 'success'
     ORDER BY occurred_at DESC, event_id DESC LIMIT 1`,
  )) as { actor: string | null }[];
  expect(actor).toBe(identityOf(author));
  // A repeat is no row of its own.
  expect(await audited(id)).toEqual([
    { action: 'change_request.create', actor: identityOf(author) },
    ...others
      .slice(0, 2)
      .map((each) => ({ action: 'change_request.approve', actor: identityOf(each) })),
  ]);
});

test.each(['failed', 'completed'])(
  'what became of a capital transfer waits under a rule that its create would need: %s',
  async (resolution) => {
    const rule = { applies_to: 'capital_transfer', when: {} };
    const id = randomUUID();
    await madeTransfer(id);
    const resolve = async (amount: string) => {
      await ruled('capital_transfer');
      await db.$executeRawUnsafe(
        'UPDATE approval_rules SET rule = rule || $1::jsonb',
        JSON.stringify({
          ...rule,
          when: { venues: ['sub-b'], assets: ['USDT'], amount_above: [{ asset: '*', amount }] },
        }),
      );
      const path = `/capital-transfers/${id}/actions/resolve`;
      return as('ann', 'POST', path, { resolution, reason: 'as the statement says' });
    };
    expect(await resolve('1.99')).toMatchObject({
      status: 202,
      body: { kind: 'capital_transfer' },
    });
    expect((await resolve('2')).status).toBe(200);
  },
);

test('a change that comes under a further kind is another change', async () => {
  await ruled('templates');
  const grown = { template_key: 'acme/grown' };
  const { body: requested } = await as(
    'ann',
    'POST',
    '/plan-templates',
    template([noop('c')], grown),
  );
  expect((await approve('bob', requested)).body.state).toBe('open');
  const allows = { ...policy(), strategy_id: 'beta', allowed_templates: [grown] };
  expect((await as('ann', 'POST', '/auto-approve-policies', allows)).status).toBe(201);
  await ruled('templates', 'policies');
  expect(await approve('cid', requested)).toMatchObject({
    status: 409,
    body: { detail: { error: 'change_outdated' } },
  });
  expect((await read(requested.change_request_id)).state).toBe('outdated');
  expect(JSON.stringify(await rowsOf('plan_template_versions'))).not.toContain('acme/grown');
});

test('what is approved is the document: the call, its author and the row, by its hash', async () => {
  await ruled('allowlist');
  const wanted = fresh();
  const { body } = await dashboard(ROWS, listing(wanted));
  const response = await signedFetch(
    keys.get('bob') ?? { keyId: '', secret: '' },
    `${apis[0]?.url ?? ''}/v3/change-requests/${body.change_request_id}/document`,
  );
  const text = await response.text();
  expect(createHash('sha256').update(text).digest('hex')).toBe(body.hash);
  const document = JSON.parse(text) as Record<string, unknown>;
  expect(canonicalize(document)).toBe(text);
  expect(document).toMatchObject({
    id: body.change_request_id,
    author: { client_id: 'dashboard:olga' },
    method: 'POST',
    path: ROWS,
    body: listing(wanted),
    before: null,
    after: { address: wanted, chain_id: '1', active: true, created_by: 'olga' },
  });
  expect(await approve('bob', { ...body, hash: 'f'.repeat(64) })).toMatchObject({
    status: 409,
    body: { detail: { error: 'change_hash_mismatch' } },
  });
});

test('a raise of fee caps waits as it is, whatever its lane does; to end one does not wait', async () => {
  await ruled();
  const lanes = (set: string) =>
    db.$executeRawUnsafe(`UPDATE nonce_lanes SET ${set} WHERE address = '${LANE_ADDRESS}'`);
  await db.$executeRawUnsafe(
    `INSERT INTO nonce_lanes (chain_id, address, next_nonce, signer_key)
     VALUES (1, '${LANE_ADDRESS}', 1, 'desk') ON CONFLICT DO NOTHING`,
  );
  await raiseCaps('1', 0);
  await ruled('signers');
  const { body: requested } = await raiseCaps('60000000000000000');
  expect(requested).toMatchObject({ kind: 'signers' });
  expect((await read(requested.change_request_id)).after).toMatchObject({
    chain_id: '1',
    address: LANE_ADDRESS,
    ttl_seconds: '600',
    cap_raise: { max_gas_cost_wei: '60000000000000000', reason: 'gas is dear' },
  });
  await approve('bob', requested);
  await lanes('next_nonce = 9, mined_count = 8, seen_at = svc_now(), stuck_since = NULL');
  expect(await approve('cid', requested)).toMatchObject({
    status: 200,
    body: { state: 'applied' },
  });
  const raised = await rowsOf('nonce_lanes');
  // The same for longer, and more of it, wait; a lower one and its end do not.
  for (const [cap, seconds] of [
    ['60000000000000000', 3_600],
    ['60000000000000001', 1],
  ] as const)
    expect((await raiseCaps(cap, seconds)).status).toBe(202);
  expect(await rowsOf('nonce_lanes')).toEqual(raised);
  expect((await raiseCaps('59000000000000000', 60)).status).toBe(200);
  expect((await raiseCaps('1', 0)).status).toBe(200);
});

test('what narrows goes at once, and makes a request outdated', async () => {
  const { body: row } = await dashboard<{ id: string }>(ROWS, listing(fresh()));
  await ruled('allowlist', 'cutover', 'executors');
  expect((await dashboard(`${ROWS}/${row.id}/revoke`, { reason: 'gone' })).status).toBe(200);
  const status = { status: 'disabled', reason: 'a test' };
  expect((await as('ann', 'PATCH', '/executors/builtin.noop', status)).status).toBe(200);
  const mode = { mode: 'drain', reason: 'a test' };
  expect((await as('ann', 'POST', '/admin/cutover-mode', mode)).status).toBe(200);
  const { body: requested } = await as('ann', 'POST', '/admin/cutover-mode', {
    mode: 'normal',
    reason: 'over',
  });
  await approve('bob', requested);
  const frozen = { mode: 'frozen', reason: 'worse' };
  expect((await as('cid', 'POST', '/admin/cutover-mode', frozen)).status).toBe(200);
  expect(await approve('cid', requested)).toMatchObject({
    status: 409,
    body: { detail: { error: 'change_outdated' } },
  });
  expect((await read(requested.change_request_id)).state).toBe('outdated');
  expect(await rowsOf('cutover')).toMatchObject([{ row: { mode: 'frozen' } }]);
  await ruled();
  await as('ann', 'POST', '/admin/cutover-mode', { mode: 'normal', reason: 'over' });
});

test('an author whose key is revoked changes nothing now', async () => {
  const made = await fundadmin(
    ...['keys', 'issue', '--client-name', 'fay', '--key-id', 'fay', '--role', 'admin'],
  );
  keys.set('fay', {
    keyId: 'fay',
    secret: (JSON.parse(made.out) as { hmac_secret: string }).hmac_secret,
  });
  await ruled('bridge');
  const { body: requested } = await as('fay', 'POST', '/bridge-c/chain-registry', {
    chain: 'arbitrum',
    endpoint_identity: '30110:0x1a44076050125825900e736c501f859c50fe728c',
    finality_age_seconds: 1_200,
  });
  await approve('bob', requested);
  expect(await fundadmin('keys', 'revoke', '--key-id', 'fay', '--as', 'ann')).toMatchObject({
    status: 0,
  });
  expect(await approve('cid', requested)).toMatchObject({
    status: 200,
    body: { state: 'failed', code: 'forbidden' },
  });
  expect(JSON.stringify(await rowsOf('bridge_chains'))).not.toContain('arbitrum');
});

test.each<[string, () => unknown]>([
  [
    'may no longer write the allowlist',
    () => operators.set('olga', { ...OPERATOR, allowlist: false }),
  ],
  ['is gone', () => operators.delete('olga')],
])('an operator who %s changes nothing now', async (_what, lose) => {
  await ruled('allowlist');
  const wanted = fresh();
  const { body: requested } = await dashboard(ROWS, listing(wanted));
  await approve('ann', requested);
  lose();
  const last = await approve('bob', requested, 1);
  operators.set('olga', OPERATOR);
  expect(last).toMatchObject({ status: 200, body: { state: 'failed', code: 'forbidden' } });
  expect(JSON.stringify(await rowsOf('allowed_addresses'))).not.toContain(wanted);
});

test('a fault leaves it open, and whoever approved last approves again', async () => {
  await ruled('bridge');
  const { body: requested } = await as('ann', 'POST', '/bridge-c/chain-registry', {
    chain: 'optimism',
    endpoint_identity: '30111:0x1a44076050125825900e736c501f859c50fe728c',
    finality_age_seconds: 1_200,
  });
  await approve('bob', requested);
  await db.$executeRawUnsafe(`CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'a fault'; END $$`);
  await db.$executeRawUnsafe(
    `CREATE TRIGGER fails BEFORE INSERT ON bridge_chains FOR EACH ROW EXECUTE FUNCTION fails()`,
  );
  const faulty = await approve('cid', requested);
  await db.$executeRawUnsafe('DROP FUNCTION fails() CASCADE');
  expect(faulty.status).toBeGreaterThanOrEqual(500);
  expect((await read(requested.change_request_id)).state).toBe('open');
  expect(await approve('cid', requested)).toMatchObject({
    status: 200,
    body: { state: 'applied' },
  });
  expect(JSON.stringify(await rowsOf('bridge_chains'))).toContain('optimism');
});

test('after seven days it can neither be approved nor let its change pass', async () => {
  await ruled('allowlist');
  const wanted = fresh();
  const { body: requested } = await dashboard(ROWS, listing(wanted));
  const { change_request_id: id } = requested;
  await approve('ann', requested);
  // The second approval by hand: through the API it would make the call.
  await db.$executeRawUnsafe(
    `INSERT INTO approval_decisions (decision_id, subject_id, person, identity, key_id, hash, at)
     SELECT gen_random_uuid(), subject_id, 'bob', $2, 'bob', hash, at FROM approval_decisions
     WHERE subject_id = $1::uuid`,
    id,
    identityOf('bob'),
  );
  await db.$executeRawUnsafe('ALTER TABLE change_requests DISABLE TRIGGER USER');
  await db.$executeRawUnsafe(
    `UPDATE change_requests SET created_at = created_at - interval '7 days'
     WHERE request_id = $1::uuid`,
    id,
  );
  await db.$executeRawUnsafe('ALTER TABLE change_requests ENABLE TRIGGER USER');
  expect(await approve('cid', requested)).toMatchObject({
    status: 409,
    body: { detail: { error: 'change_request_ended', state: 'expired' } },
  });
  expect(await read(id)).toMatchObject({
    state: 'expired',
    approvals: { required: [{ missing: 0 }] },
  });
  const { body: list } = await as<{ change_requests: readonly Change[] }>(
    'bob',
    'GET',
    '/change-requests?state=expired',
  );
  expect(list.change_requests.map((each) => each.change_request_id)).toContain(id);
  const again = await dashboard(ROWS, listing(wanted));
  expect(again).toMatchObject({
    status: 202,
    body: { approvals: { required: [{ missing: 2 }] } },
  });
  expect(again.body.change_request_id).not.toBe(id);
  expect(JSON.stringify(await rowsOf('allowed_addresses'))).not.toContain(wanted);
});

test('the rules of now count beside those of when it was made', async () => {
  await ruled('allowlist');
  const { body: requested } = await dashboard(ROWS, listing(fresh()));
  await db.$executeRawUnsafe(
    `UPDATE approval_rules SET rule = jsonb_set(rule, '{require,0,threshold}', '3')`,
  );
  await approve('ann', requested);
  expect(await approve('bob', requested)).toMatchObject({
    status: 200,
    body: { state: 'open', approvals: { required: [{ missing: 0 }, { missing: 1 }] } },
  });
  expect((await approve('cid', requested)).body.state).toBe('applied');
});

test('only the author withdraws it, anybody rejects it, and then it stays ended', async () => {
  await ruled('allowlist');
  const { body: first } = await dashboard(ROWS, listing(fresh()));
  const path = (each: Change) => `/change-requests/${each.change_request_id}`;
  // Eve is no person.
  for (const who of ['bob', 'eve'])
    expect(await as(who, 'POST', `${path(first)}/withdraw`)).toMatchObject({
      status: 403,
      body: { detail: { error: 'not_the_author' } },
    });
  expect(await as('bob', 'POST', `${path(first)}/reject`, { reason: 'no' })).toMatchObject({
    status: 200,
    body: { state: 'rejected' },
  });
  expect(await approve('cid', first)).toMatchObject({
    status: 409,
    body: { detail: { error: 'change_request_ended', state: 'rejected' } },
  });
  expect(await audited(first.change_request_id)).toEqual([
    { action: 'change_request.create', actor: identityOf('olga') },
    { action: 'change_request.reject', actor: identityOf('bob') },
  ]);
  await ruled('executors');
  await as('ann', 'PATCH', '/executors/builtin.noop', { status: 'disabled', reason: 'x' });
  const second = await as('ann', 'PATCH', '/executors/builtin.noop', { status: 'active' });
  expect((await as('ann', 'POST', `${path(second.body)}/withdraw`)).body.state).toBe('withdrawn');
  expect(await audited(second.body.change_request_id)).toEqual(
    ['create', 'withdraw'].map((verb) => ({
      action: `change_request.${verb}`,
      actor: identityOf('ann'),
    })),
  );
});

test('an approval is withdrawn while the request is open, by its person alone', async () => {
  await ruled('allowlist');
  const { body: requested } = await dashboard(ROWS, listing(fresh()));
  const { change_request_id: id } = requested;
  const withdraw = (who: string, api = 0) =>
    as(who, 'POST', `/change-requests/${id}/withdraw-approval`, {}, api);
  const none = { status: 409, body: { detail: { error: 'no_approval', change_request_id: id } } };
  expect(await withdraw('ann')).toMatchObject(none);
  await approve('ann', requested);
  expect(await withdraw('bob')).toMatchObject(none);
  expect(await withdraw('ann', 1)).toMatchObject({
    status: 200,
    body: { state: 'open', approvals: { required: [{ missing: 2 }], you: { approved: false } } },
  });
  expect(await withdraw('ann')).toMatchObject(none);
  expect(await approve('bob', requested)).toMatchObject({
    status: 200,
    body: { state: 'open', approvals: { required: [{ missing: 1 }] } },
  });
  expect(await approve('ann', requested)).toMatchObject({
    status: 200,
    body: { state: 'applied' },
  });
  expect(await withdraw('ann')).toMatchObject({
    status: 409,
    body: { detail: { error: 'change_request_ended', state: 'applied' } },
  });
  expect(await audited(id)).toEqual([
    { action: 'change_request.create', actor: identityOf('olga') },
    { action: 'change_request.approve', actor: identityOf('ann') },
    { action: 'change_request.withdraw_approval', actor: identityOf('ann') },
    { action: 'change_request.approve', actor: identityOf('bob') },
    { action: 'change_request.approve', actor: identityOf('ann') },
  ]);
});

test('of a compromised key what was applied is listed, and what waits loses it', async () => {
  const { out } = await fundadmin(
    ...['keys', 'issue', '--client-name', 'bob', '--key-id', 'bob-laptop', '--role', 'admin'],
  );
  const { hmac_secret: secret } = JSON.parse(out) as { hmac_secret: string };
  keys.set('bob-laptop', { keyId: 'bob-laptop', secret });
  const desk = ['ann', 'bob', 'cid', 'olga'];
  const piet = identityOf('piet');
  await changeApprovers(
    db,
    {
      people: [{ person: 'piet', name: 'piet', identities: [piet] }],
      groups: [{ name: 'desk', members: [...desk, 'piet'] }],
    },
    [],
  );
  try {
    await ruled('allowlist');
    const { body: applied } = await dashboard(ROWS, listing(fresh()));
    const { body: waits } = await dashboard(ROWS, listing(fresh()));
    const { change_request_id: request_id, hash } = waits;
    const missing = async () => (await read(request_id)).approvals.required;
    for (const change of [applied, waits]) await approve('bob-laptop', change);
    expect((await approve('ann', applied)).body.state).toBe('applied');
    expect(await missing()).toMatchObject([{ missing: 1 }]);
    const marked = async (...args: readonly string[]) => {
      const run = await fundadmin(...args, '--compromised', '--as', 'ann');
      expect(run.status).toBe(0);
      return JSON.parse(run.out) as object;
    };
    expect(await marked('keys', 'revoke', '--key-id', 'bob-laptop')).toMatchObject({
      compromised: {
        approvals_that_count_no_longer: 1,
        applied_change_requests: { count: 1, ids: [applied.change_request_id] },
        withdrawn_change_requests: [],
        actions: { 'approval_decision.record': 2, 'change_request.approve': 2 },
      },
    });
    expect(await missing()).toMatchObject([{ missing: 2 }]);
    // A key of the keys file has no row: its operator names it.
    const entity = { entity_type: 'change_request', entity_key: request_id } as const;
    await decideChange(db, {
      ...{ request_id, hash, identity: piet, key_id: piet, reason: null, evidence: null },
      audit: { ...entity, action: 'change_request.approve', outcome: 'success' },
    });
    expect(await missing()).toMatchObject([{ missing: 1 }]);
    expect(
      await marked('dashboard', 'end', '--operator', 'piet', '--key-id', 'file'),
    ).toMatchObject({
      ...{ operator: 'piet', key_id: 'file', ended_at: null },
      compromised: { approvals_that_count_no_longer: 1 },
    });
    expect(await missing()).toMatchObject([{ missing: 2 }]);
    expect(
      await db.$queryRawUnsafe(
        `SELECT key_id, recorded_as FROM compromised_keys WHERE kind = 'dashboard_key'`,
      ),
    ).toEqual([{ key_id: 'file:piet', recorded_as: piet }]);
  } finally {
    await changeApprovers(db, { groups: [{ name: 'desk', members: desk }] }, []);
  }
});

test('decisions at once, over both APIs: each request is applied once', async () => {
  await ruled('allowlist');
  const requested = [];
  for (let made = 0; made < 20; made += 1)
    requested.push((await dashboard(ROWS, listing(fresh()))).body);
  const one = Math.floor(requested.length / 2);
  await Promise.all(
    requested.flatMap((change, nr) => [
      approve('ann', change, 0),
      approve('ann', change, 1),
      // Half of them never get a second person.
      ...(nr < one ? [approve('bob', change, 1), approve('cid', change, 0)] : []),
    ]),
  );
  const ended = await Promise.all(requested.map(({ change_request_id: id }) => read(id)));
  expect(ended.map(({ state }) => state)).toEqual(
    requested.map((_, nr) => (nr < one ? 'applied' : 'open')),
  );
  const listed = new Set(
    ((await rowsOf('allowed_addresses')) as { row: { address: string } }[]).map(
      ({ row }) => row.address,
    ),
  );
  expect(ended.map(({ after }) => listed.has(String(after['address'])))).toEqual(
    requested.map((_, nr) => nr < one),
  );
});

describe('fundadmin', () => {
  const member = [
    ...['approver-groups', 'set', '--name', 'desk', '--reason', 'bob left'],
    ...['ann', 'cid', 'olga'].flatMap((each) => ['--member', each]),
  ];
  /** Issues a key to a client of the same name. */
  const key = (name: string, role = 'operator') => [
    ...['keys', 'issue', '--client-name', name, '--key-id', name, '--role', role],
    ...['--as', 'ann'],
  ];

  test('issues a key as it was approved, and not otherwise; its secret stands nowhere', async () => {
    await ruled('keys');
    const secret = ['--hmac-secret', randomBytes(32).toString('hex')];
    expect((await fundadmin(...key('gus'), ...secret)).status).toBe(1);
    const { body: list } = await as<{ change_requests: readonly Change[] }>(
      'bob',
      'GET',
      '/change-requests?state=open&kind=keys',
    );
    const [change] = list.change_requests;
    if (change === undefined) throw new Error('there is no request');
    expect(change.after).toMatchObject({ role: 'operator', client_name: 'gus' });
    for (const who of ['bob', 'cid'])
      expect(await approve(who, change)).toMatchObject({ status: 200, body: { state: 'open' } });
    expect(await fundadmin(...key('gus', 'admin'), ...secret)).toMatchObject({
      status: 1,
      err: expect.stringContaining('nothing was written'),
    });
    expect(JSON.stringify(await rowsOf('change_requests'))).not.toContain(secret[1]);
    expect(JSON.stringify(await rowsOf('api_client_keys'))).not.toContain('"gus"');
    expect(await fundadmin(...key('gus'), ...secret)).toMatchObject({ status: 0 });
    expect((await read(change.change_request_id)).state).toBe('applied');
    expect(
      await db.$queryRawUnsafe(`SELECT role FROM api_client_keys WHERE key_id = 'gus'`),
    ).toEqual([{ role: 'operator' }]);
  });

  test('makes no change under a rule for passkeys of approvals that do not verify', async () => {
    const passkeys = new Map<string, SoftPasskey>();
    for (const who of ['bob', 'cid']) {
      const { body: ceremony } = await as<Ceremony>(who, 'POST', '/passkeys/challenge');
      const made = makePasskey(ceremony, ORIGIN);
      passkeys.set(who, made);
      const { body } = await as<{ fingerprint: string }>(who, 'POST', '/passkeys', made.offer);
      const args = ['--person', who, '--fingerprint', body.fingerprint];
      expect(await fundadmin('passkeys', 'confirm', ...args)).toMatchObject({ status: 0 });
    }
    await ruled('keys');
    await db.$executeRawUnsafe(
      `UPDATE approval_rules SET rule = rule || '{"evidence": "passkey"}'`,
    );
    const requested = async (name: string): Promise<Change> => {
      expect((await fundadmin(...key(name))).status).toBe(1);
      const { body } = await as<{ change_requests: readonly Change[] }>(
        'bob',
        'GET',
        '/change-requests?state=open&kind=keys',
      );
      const found = body.change_requests.find(({ after }) => after['client_name'] === name);
      if (found === undefined) throw new Error('there is no request');
      return found;
    };
    const change = await requested('ivy');
    const path = `/change-requests/${change.change_request_id}`;
    const assertionOf = async (who: string) => {
      const challenge = { decision: 'approve' };
      const { body } = await as<Ceremony>(who, 'POST', `${path}/challenge`, challenge);
      return passkeys.get(who)?.assert(body);
    };
    expect((await approve('bob', change)).status).toBe(422);
    // What the service's role could store in the name of two people.
    const forge = async (who: string, of = change) => {
      const evidence = { ...(await assertionOf(who)), counter: 50, nonce: randomUUID() };
      await db.$executeRawUnsafe(
        `INSERT INTO approval_decisions
           (decision_id, subject_id, person, identity, hash, at, evidence)
         VALUES ($1::uuid, $2::uuid, $3, $4, $5, svc_now(), $6::jsonb)`,
        ...[randomUUID(), of.change_request_id, who, identityOf(who), of.hash],
        JSON.stringify({
          ...evidence,
          signature: String(Reflect.get(evidence, 'signature')).replace(/.{8}$/, 'AAAAAAAA'),
        }),
      );
    };
    await forge('bob');
    await forge('cid');
    expect((await read(change.change_request_id)).approvals.required).toMatchObject([
      { missing: 0 },
    ]);
    expect(await fundadmin(...key('ivy'))).toMatchObject({
      status: 1,
      err: expect.stringContaining('do not verify'),
    });
    // A request that says the API wants it helps no more.
    const other = await createChange(db, {
      author: { client_id: identityOf('eve'), key_id: 'eve', role: 'admin' },
      call: { method: 'POST', path: '/v3/other', body: {}, idempotency_key: null },
      effect: {
        ...{ kinds: ['keys'], subject: 'api_client_keys' },
        ...{ before: null, after: change.after as JsonValue },
      },
      audit: () => ({
        ...{ action: 'change_request.create', entity_type: 'change_request' },
        ...{ entity_key: 'x', outcome: 'success' },
      }),
    });
    if (other === null) throw new Error('there is no request');
    const said = { ...change, change_request_id: other.request_id, hash: other.hash };
    await forge('bob', said);
    await forge('cid', said);
    expect((await fundadmin(...key('ivy'))).status).toBe(1);
    expect(JSON.stringify(await rowsOf('api_client_keys'))).not.toContain('"ivy"');
    const real = await requested('jan');
    for (const who of ['bob', 'cid']) {
      const of = `/change-requests/${real.change_request_id}`;
      const decision = { decision: 'approve' };
      const { body } = await as<Ceremony>(who, 'POST', `${of}/challenge`, decision);
      const assertion = passkeys.get(who)?.assert(body, { counter: 100 });
      expect(await as(who, 'POST', `${of}/approve`, { hash: real.hash, assertion })).toMatchObject({
        status: 200,
      });
    }
    expect(await fundadmin(...key('jan'))).toMatchObject({ status: 0 });
    expect((await read(real.change_request_id)).state).toBe('applied');

    // After a restore what was requested before is made again, for the present installation.
    const later = await requested('kay');
    const sign = async (who: string, counter: number, { change_request_id: id, hash }: Change) => {
      const of = `/change-requests/${id}`;
      const { body } = await as<Ceremony>(who, 'POST', `${of}/challenge`, { decision: 'approve' });
      const assertion = passkeys.get(who)?.assert(body, { counter });
      return as(who, 'POST', `${of}/approve`, { hash, assertion });
    };
    expect(await sign('bob', 101, later)).toMatchObject({
      status: 200,
      body: { approvals: { required: [{ missing: 1 }] } },
    });
    const restored = await fundadmin('after-restore', '--as', 'ann');
    expect(restored).toMatchObject({ status: 0 });
    expect(JSON.parse(restored.out)).toMatchObject({ cutover_mode: 'drain' });
    expect(await read(later.change_request_id)).toMatchObject({
      state: 'outdated',
      approvals: { required: [] },
    });
    await as('ann', 'POST', '/admin/cutover-mode', { mode: 'normal', reason: 'compared' });
    const anew = await requested('kay');
    for (const [who, counter] of [
      ['bob', 102],
      ['cid', 101],
    ] as const)
      expect((await sign(who, counter, anew)).status).toBe(200);
    expect(await fundadmin(...key('kay'))).toMatchObject({ status: 0 });
  });

  test('makes a request, and the change once it is approved and the command is run again', async () => {
    await ruled('approval_rules', 'keys');
    expect(await fundadmin(...member)).toMatchObject({
      status: 1,
      err: expect.stringContaining('--as <person>'),
    });
    const requested = await fundadmin(...member, '--as', 'ann');
    expect(requested).toMatchObject({
      status: 1,
      err: expect.stringContaining('nothing was written'),
    });
    const { body: list } = await as<{ change_requests: readonly Change[] }>(
      'bob',
      'GET',
      '/change-requests?state=open&kind=approval_rules',
    );
    const [change] = list.change_requests;
    if (change === undefined) throw new Error('there is no request');
    expect((await approve('ann', change)).status).toBe(403);
    for (const who of ['bob', 'cid'])
      expect(await approve(who, change)).toMatchObject({ status: 200, body: { state: 'open' } });
    // Another change than the approved one waits for approvals of its own.
    expect(await fundadmin(...member, '--member', 'bob', '--as', 'ann')).toMatchObject({
      status: 1,
      err: expect.stringContaining('nothing was written'),
    });
    expect(await fundadmin(...member, '--as', 'ann')).toMatchObject({ status: 0 });
    expect((await read(change.change_request_id)).state).toBe('applied');
    expect(await db.$queryRawUnsafe('SELECT person FROM approver_group_members')).toHaveLength(3);
  });

  test('breaks the glass alone, and everybody sees it', async () => {
    await ruled('keys');
    // What waits already is no obstacle.
    expect(await fundadmin(...key('hal'))).toMatchObject({ status: 1 });
    expect(await fundadmin(...key('hal'), '--break-glass')).toMatchObject({ status: 2 });
    const glass = ['--break-glass', '--reason', 'the desk is away'];
    expect(await fundadmin(...key('hal'), ...glass)).toMatchObject({ status: 0 });
    const { body } = await as<{ change_requests: readonly object[] }>(
      'bob',
      'GET',
      '/change-requests?break_glass=true',
    );
    expect(body.change_requests).toMatchObject([
      { state: 'applied', break_glass: true, reason: 'the desk is away', author: 'fundadmin:ann' },
    ]);
  });

  test('breaks the glass only as a person, and is seen where no rule holds for its kind', async () => {
    await ruled('keys');
    expect(await fundadmin(...member, '--break-glass')).toMatchObject({
      status: 1,
      err: expect.stringContaining('--as <person>'),
    });
    expect(await fundadmin(...member, '--break-glass', '--as', 'ann')).toMatchObject({ status: 0 });
    const { body } = await as<{ change_requests: readonly object[] }>(
      'bob',
      'GET',
      '/change-requests?break_glass=true&kind=approval_rules',
    );
    expect(body.change_requests).toMatchObject([{ state: 'applied', approvals: { rules: [] } }]);
  });

  test('names who acts in every change once a rule is in force, also of another kind', async () => {
    await ruled();
    const add = (...more: readonly string[]) =>
      fundadmin(
        ...['allowlist', 'add', '--family', 'evm', '--address', fresh(), '--reason', 'new'],
        ...more,
      );
    expect(await add()).toMatchObject({ status: 0 });
    expect(await add('--as', 'nemo')).toMatchObject({
      status: 1,
      err: expect.stringContaining('no person nemo'),
    });
    await ruled('executors');
    const before = await rowsOf('allowed_addresses');
    expect(await add()).toMatchObject({
      status: 1,
      err: expect.stringContaining('--as <person>'),
    });
    // What narrows does not wait, and has an author as well.
    const revoke = ['keys', 'revoke', '--key-id', 'no-such-key'];
    expect(await fundadmin(...revoke)).toMatchObject({
      status: 1,
      err: expect.stringContaining('--as <person>'),
    });
    expect(await fundadmin(...revoke, '--as', 'ann')).toMatchObject({
      err: expect.stringContaining('There is no key'),
    });
    expect(await fundadmin('allowlist', 'list')).toMatchObject({ status: 0 });
    expect(await rowsOf('allowed_addresses')).toEqual(before);
    const { status, out } = await add('--as', 'ann');
    expect(status).toBe(0);
    const { row } = JSON.parse(out) as { row: { id: string; created_by: string } };
    expect(row.created_by).toBe('fundadmin:ann');
    expect(
      await db.$queryRawUnsafe(
        `SELECT action, actor_client_id AS actor, encode(mac, 'hex') IS NOT NULL AS vouched
         FROM audit_events WHERE entity_key = $1`,
        row.id,
      ),
    ).toEqual([{ action: 'allowed_address.create', actor: 'fundadmin:ann', vouched: true }]);
  });
});
