/**
 * An agent's key on every route of the table, with everything of another namespace that there is to
 * name: no answer shows anything of others. A route that is added needs a case here.
 */
import { randomUUID } from 'node:crypto';
import { commercial } from '../../api/commercial.ts';
import { withExtensions } from '../../api/extension.ts';
import { encodeCursor } from '../../api/http/paging.ts';
import { routes as base } from '../../venues/routes.ts';
import { agent, attempt, proposal, propose, type Agent } from '../support/agents.ts';
import {
  create,
  gated,
  movementBody,
  must,
  noop,
  post,
  register,
  send,
  sendAs,
  shared,
  sql,
  template,
} from '../support/http.ts';
import { issueKey } from '../support/tool.ts';

const routes = withExtensions(base, [commercial({ autoApproveDryRun: false })]);

/** What others have: every value is found nowhere but with them. */
interface Others {
  readonly rival: Agent;
  readonly template_key: string;
  readonly template_id: string;
  readonly movement_id: string;
  readonly proposal_id: string;
  readonly strategy_id: string;
  readonly label: string;
  readonly callback: string;
  readonly reference: string;
  /** An address that its movement is for. */
  readonly destination: string;
  /** A value of its metadata. */
  readonly desk: string;
  /** Used by the rival, whose client is the agent's too. */
  readonly idempotency_key: string;
  readonly proposal_key: string;
  readonly created_at: string;
  /** A movement outside all namespaces. */
  readonly common_movement: string;
  readonly policy_client: string;
}

let own: Agent;
let others: Others;
let ownTemplate: { template_key: string; template_version: number };

const unique = (of: string): string => `${of}-${randomUUID()}`;

beforeAll(async () => {
  own = await agent();
  const rival = await agent();
  const [strategy_id, label, callback] = [
    unique('rival-strategy'),
    unique('rival-label'),
    `https://${unique('rival')}.example/callback`,
  ];
  const proposal_key = unique('proposed');
  const made = await must(
    200,
    attempt(
      rival,
      { callback_url: callback, signer_profile: 'treasury' },
      { 'Idempotency-Key': proposal_key },
    ),
  );
  const way = await register(template([noop('a')], { template_key: `${rival.namespace}/way` }));
  const mine = await register(template([noop('a')], { template_key: `${own.namespace}/way` }));
  ownTemplate = { template_key: mine.template_key, template_version: mine.version };
  const idempotency_key = unique('created');
  const [reference, desk] = [unique('rival-reference'), unique('rival-desk')];
  const destination = unique('rival-destination');
  const theirs = await must<{ movement_id: string; created_at: string }>(
    201,
    sendAs(rival, 'POST', '/movements', {
      ...movementBody(way, { strategy_id, callback_url: callback, labels: { label } }),
      ...{ idempotency_key, external_reference: reference, metadata: { desk } },
      intent: { asset: 'USDC', amount: '3', destination_address: destination },
    }),
  );
  const stranger = await issueKey(
    ...['--client-name', unique('stranger'), '--key-id', unique('key'), '--role', 'operator'],
  );
  const policy = { client_id: stranger.clientId, strategy_id, allowed_assets: ['USDC'] };
  const caps = { window_hours: 24, max_amount_per_window: '777777' };
  const allowed_templates = [{ template_key: way.template_key, template_version: 1 }];
  await must(201, post('/auto-approve-policies', { ...policy, ...caps, allowed_templates }));
  await sql(
    `INSERT INTO perp_bindings (strategy_id, created_at, updated_at) VALUES ($1, now(), now())`,
    [strategy_id],
  );
  const common = await create(await gated());
  others = {
    ...{ rival, strategy_id, label, callback, idempotency_key, proposal_key },
    ...{ template_key: way.template_key, template_id: way.template_id },
    ...{ movement_id: theirs.movement_id, created_at: theirs.created_at },
    ...{ reference, desk, destination },
    proposal_id: made.proposal_id,
    common_movement: common.movement_id,
    policy_client: stranger.clientId,
  };
  secrets = [
    ...[rival.authority, rival.keyId, way.template_key, way.template_id, theirs.movement_id],
    ...[made.proposal_id, made.movement_id ?? '', made.template_key ?? ''],
    ...[strategy_id, label, callback, idempotency_key, proposal_key, common.movement_id],
    ...[reference, desk, destination],
    ...[stranger.clientId, '777777'],
  ];
});

let secrets: readonly string[] = [];

interface Probe {
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** What it may be answered; each tells nothing. */
  readonly statuses: readonly number[];
  /** What everybody may know. */
  readonly open?: (of: Others) => readonly string[];
}

const ask = (path: string, ...statuses: number[]): Probe => ({ path, statuses });
/** Through all pages of a list, with the filters that would find what others have. */
const list = (path: string, ...queries: readonly string[]): Probe[] =>
  ['limit=200', ...queries].map((query) => ask(`${path}?${query}`, 200, 422));
const ofMovement = (part: string) => (of: Others) =>
  [of.movement_id, of.common_movement].map((id) => ask(`/movements/${id}${part}`, 404));
/** The same for everybody, whoever asks. */
const forAll = (path: string) => () => [ask(path, 200, 404)];
const cursorOf = ({ created_at, movement_id: id }: Others): string =>
  encodeCursor({ created_at, id });

/** The routes that agents may call. */
const CASES: Readonly<Record<string, (of: Others) => readonly Probe[]>> = {
  createMovement: (of) => [
    ...['', 'true'].flatMap((dry) => {
      const headers = dry === '' ? {} : { 'Dry-Run': dry };
      const intent = { asset: 'USDC', amount: '3' };
      const theirs = { template_key: of.template_key, template_version: 1, intent };
      const mine = { ...ownTemplate, intent };
      return [
        { path: '/movements', headers, body: theirs, statuses: [403] },
        {
          path: '/movements',
          headers,
          body: { ...theirs, idempotency_key: of.idempotency_key },
          statuses: [403],
        },
        {
          path: '/movements',
          headers: { ...headers, 'Idempotency-Key': of.idempotency_key },
          body: mine,
          statuses: [409, 200],
        },
        {
          path: '/movements',
          headers,
          body: { ...mine, template_key: `${own.namespace}/../${of.template_key}` },
          statuses: [404, 422],
        },
      ];
    }),
  ],
  listMovements: (of) =>
    list(
      '/movements',
      `strategy_id=${of.strategy_id}`,
      `template_key=${of.template_key}`,
      `external_reference=${of.reference}`,
      `metadata.desk=${of.desk}`,
      `metadata.desk=${of.desk}&external_reference=${of.reference}`,
      `metadata.desk=${of.desk}&asset=USDC`,
      `metadata.desk=${of.desk}&needs_attention=true`,
      `cursor=${cursorOf(of)}`,
      ...['needs_attention=true', 'asset=USDC', 'state=PENDING_APPROVAL'],
    ),
  getMovement: ofMovement(''),
  getMovementTimeline: ofMovement('/timeline'),
  getMovementGraph: ofMovement('/graph'),
  getMovementPlan: ofMovement('/plan'),
  listPlanTemplates: (of) =>
    list('/plan-templates', `template_key=${of.template_key}`, `cursor=${cursorOf(of)}`),
  getPlanTemplate: (of) => [ask(`/plan-templates/${of.template_id}`, 404)],
  retirePlanTemplate: (of) => [
    { path: `/plan-templates/${of.template_id}/retire`, body: { reason: 'x' }, statuses: [404] },
  ],
  getPlanTemplateGraph: (of) => [
    ask(`/plan-templates/${of.template_id}/graph`, 404),
    ask(`/plan-templates/${of.template_id}/graph?format=mermaid`, 404),
  ],
  listRoutes: () =>
    list('/route-catalog').map(() => ask('/route-catalog?include_health=true', 200)),
  recommendRoutes: () => [
    { path: '/routes/recommend', body: { asset: 'USDC', amount: '3' }, statuses: [200] },
  ],
  listBalances: forAll('/balances'),
  // Whose strategies are bound at the venue everybody may read; not whose movements they have.
  getStrategyBinding: (of) => [ofStrategy(of, '')],
  listAgentWallets: (of) => [ofStrategy(of, '/agent-wallets')],
  getEmergencyState: (of) => [ofStrategy(of, '/emergency-state')],
  getBudget: (of) => [
    { ...ask(`/budgets/${of.strategy_id}`, 200), open: ({ strategy_id }) => [strategy_id] },
    ask(`/budgets/${of.strategy_id}?client_id=${of.policy_client}`, 403),
  ],
  getAgentAuthority: ({ rival }) => [ask(`/agent-authorities/${rival.authority}`, 403)],
  createTemplateProposal: (of) => proposals(of, 'template-proposals'),
  createBridgeAttempt: (of) => proposals(of, 'bridge-attempt'),
  listTemplateProposals: (of) =>
    list(
      '/template-proposals',
      `authority_key=${of.rival.authority}`,
      `authority_key=${own.authority}`,
      'status=auto_promoted',
      `cursor=${cursorOf(of)}`,
    ),
  getTemplateProposal: (of) => [ask(`/template-proposals/${of.proposal_id}`, 404)],
  listBridgeChains: forAll('/bridge-c/chain-registry'),
  getBridgeChain: forAll('/bridge-c/chain-registry/any'),
  listPathBaselines: forAll('/bridge-c/path-baselines'),
  getPathBaseline: forAll('/bridge-c/path-baselines/a/b/USDC'),
  whoami: forAll('/whoami'),
  searchAll: (of) =>
    [
      ...[of.movement_id, of.common_movement, of.proposal_id, of.template_id, of.reference],
      ...[of.idempotency_key, of.proposal_key, of.destination, of.template_key],
    ].map((q) => ask(`/search?q=${encodeURIComponent(q)}`, 200)),
};

const ofStrategy = (of: Others, part: string): Probe => ({
  ...ask(`/perp-venue/strategy-bindings/${of.strategy_id}${part}`, 200),
  open: ({ strategy_id }) => [strategy_id],
});

function proposals(of: Others, part: string): readonly Probe[] {
  const path = (authority: string): string => `/agent-authorities/${authority}/${part}`;
  const headers = { 'Idempotency-Key': of.proposal_key };
  return [
    { path: path(of.rival.authority), body: proposal(), statuses: [403] },
    { path: path(of.rival.authority), body: proposal(), headers, statuses: [403] },
    { path: path(own.authority), body: proposal(), headers, statuses: [409] },
  ];
}

/** Where an object of others may stand in a path. */
const put = (path: string, of: Others): string =>
  path
    .replace('{movement_id}', of.movement_id)
    .replace('{template_id}', of.template_id)
    .replace('{template_key+}', of.template_key)
    .replace('{proposal_id}', of.proposal_id)
    .replace('{strategy_id}', of.strategy_id)
    .replace('{authority_key}', of.rival.authority)
    .replace(/\{[a-z_]+_id\}/, of.movement_id)
    .replace(/\{[a-z_]+\+?\}/g, 'any');

/** What of others an answer holds that was not said in asking, nor is open to everybody. */
function leaks(body: unknown, probe: Probe): readonly string[] {
  const text = JSON.stringify(body);
  const said = JSON.stringify([probe.path, probe.body, probe.headers]);
  // A path says more than what it names: an id beside it is no answer to it.
  const known = [...(probe.open?.(others) ?? []), ...secrets.filter((each) => said.includes(each))];
  return secrets.filter((each) => text.includes(each) && !known.includes(each));
}

test('every route that an agent may call has a case, and no other has', () => {
  const callable = routes.filter(({ roles }) => roles.includes('agent')).map(({ id }) => id);
  expect(Object.keys(CASES).sort()).toEqual(callable.sort());
});

describe('an agent', () => {
  test.each(Object.keys(CASES))('learns nothing of others from %s', async (id) => {
    const route = routes.find((each) => each.id === id);
    const probes = CASES[id]?.(others) ?? [];
    expect(probes.length).toBeGreaterThan(0);
    for (const probe of probes) {
      const answer = await sendAs(
        ...([own, route?.method ?? '', probe.path, probe.body, probe.headers] as const),
      );
      const { path } = probe;
      expect({ path, status: answer.status, leaks: leaks(answer.body, probe) }).toEqual({
        ...{ path, status: answer.status, leaks: [] },
      });
      expect(probe.statuses).toContain(answer.status);
    }
  });

  test('may call no other route, whatever it names there', async () => {
    for (const { id, method, path, roles } of routes) {
      if (roles.includes('agent')) continue;
      const body = method === 'GET' ? undefined : {};
      const answer = await sendAs(own, method, put(path, others), body);
      expect({ id, status: answer.status, body: answer.body }).toEqual({
        ...{ id, status: 403 },
        body: { detail: { error: 'forbidden', message: expect.any(String) } },
      });
    }
  });

  test('finds in its lists what is its own', async () => {
    const mine = await must(200, propose(own));
    const body = { ...ownTemplate, intent: { asset: 'USDC', amount: '1' } };
    const { movement_id } = await must<{ movement_id: string }>(
      201,
      sendAs(own, 'POST', '/movements', body),
    );
    const { movements } = await must<{ movements: { movement_id: string }[] }>(
      200,
      sendAs(own, 'GET', '/movements?limit=200'),
    );
    expect(movements.map((each) => each.movement_id)).toContain(movement_id);
    expect(mine.template_key).toContain(own.namespace);
    // Seen by who may, the others' are there: the sweep looks for what exists.
    const all = await send('GET', `/movements?strategy_id=${others.strategy_id}`);
    expect(leaks(all.body, { path: '', statuses: [] })).toContain(others.movement_id);
    const emergency = `/perp-venue/strategy-bindings/${others.strategy_id}/emergency-state`;
    expect(JSON.stringify((await send('GET', emergency)).body)).toContain(others.movement_id);
    expect(shared.keys.admin.keyId).not.toBe(own.keyId);
  });
});
