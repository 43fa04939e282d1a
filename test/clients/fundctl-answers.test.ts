/**
 * What `fundctl` makes of answers that a service in good order does not give: what it says, how it
 * ends, and what it has sent by then.
 */
import { createHash } from 'node:crypto';
import { Interrupted } from '../../clients/command-line/exit.ts';
import { fundctl } from '../../clients/fundctl/program.ts';
import { freePort } from '../../dev/stack/ports.ts';
import { clientEnv, runFundctl } from '../support/fundctl.ts';
import { answer, hang, lose, refuse, startFlakyServer, type Act } from './flaky-server.ts';
import { started } from '../support/started.ts';

const KEY = { keyId: 'tester', secret: 'a-secret-that-no-one-may-see' };
const ID = '01a2b3c4-0000-4000-8000-000000000001';
const server = started(() => startFlakyServer());

const env = () => clientEnv(server.url, KEY);
const run = (...args: readonly string[]) => runFundctl(env(), args);
const html: Act = (response) =>
  response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');

/** Acts by method and path, each list in turn and its last again. */
function serve(acts: Readonly<Record<string, Act | readonly Act[]>>): void {
  const left = new Map<string, Act[]>();
  for (const [name, act] of Object.entries(acts)) left.set(name, [act].flat());
  server.script((response, seen) => {
    const path = seen.target.split('?')[0] ?? '';
    const name = isDryRun(seen.target) ? 'dry run' : `${seen.method} ${path}`;
    const queue = left.get(name) ?? [];
    const act = queue.length > 1 ? queue.shift() : queue[0];
    (act ?? refuse(404, 'route_not_found'))(response, seen);
  });
}
const sent = (name: string) =>
  server.seen.filter(
    ({ method, target }) => `${method} ${target.split('?')[0] ?? ''}` === name && !isDryRun(target),
  );
const isDryRun = (target: string): boolean => target.endsWith('?dry_run=true');
const health = answer(200, { ok: true, service: 'x', api_prefix: '/v3' });

const CREATED = {
  movement_id: ID,
  request_state: 'PENDING_APPROVAL',
  compiled_plan_hash: '',
  outflow: [],
  auto_approve_result: null,
  expires_at: null,
};
const PREVIEW = {
  would_create: true,
  compiled_plan_hash: '',
  bindings: [],
  allowlist: [],
  limits: [],
  outflow: [],
  auto_approve: null,
  blocking_reasons: [],
  sends: [],
  balances: [],
  would_fail: [],
  would_wait: [],
};
const create = ['movements', 'create', '--template', 'a@1', '--asset', 'USDC', '--amount', '1'];
const keyOf = (body: string) => (JSON.parse(body) as { idempotency_key: string }).idempotency_key;

describe('a create', () => {
  test.each([
    ['turned away', refuse(503, 'overloaded')],
    ['limited', answer(429, { detail: 'rate limit exceeded' }, { 'retry-after': '0' })],
    ['stopped by a proxy', answer(403, 'not here')],
  ])('whose answer was lost before its repeat was %s tells the key', async (_, then) => {
    serve({
      'GET /healthz': health,
      'dry run': answer(200, PREVIEW),
      'POST /v3/movements': [lose, then],
    });
    const { err } = await run(...create);
    const [first] = sent('POST /v3/movements');
    expect(err).toContain(`--idempotency-key ${keyOf(first?.body ?? '')}: it will not be done`);
    expect(err).toContain('the request may have been taken');
  });

  test('whose success cannot be read may have been taken', async () => {
    serve({
      'GET /healthz': health,
      'dry run': answer(200, PREVIEW),
      'POST /v3/movements': html,
    });
    const { status, err } = await run(...create);
    expect([status, sent('POST /v3/movements').length]).toEqual([4, 1]);
    expect(err).toContain('--idempotency-key fundctl-');
  });

  test('prints its key before it is sent, and once more when it is stopped', async () => {
    let err = '';
    let printedBefore = false;
    const stop = new AbortController();
    serve({
      'GET /healthz': health,
      'dry run': answer(200, PREVIEW),
      'POST /v3/movements': (response, seen) => {
        printedBefore = err.includes(keyOf(seen.body));
        hang(response, seen);
        stop.abort(new Interrupted());
      },
    });
    const status = await fundctl(create, {
      env: env(),
      out: () => undefined,
      err: (text) => (err += text),
      signal: stop.signal,
      terminal: { in: false, out: false, err: false },
      read: () => Promise.resolve(''),
    });
    expect([status, printedBefore]).toEqual([130, true]);
    expect(err).toMatch(/not known whether this was carried out/);
  });
});

/** A plan of all that pays: a transfer, a team’s own node, and one that runs on a cancel. */
const OWN_PAYEE = 'tz1VSUr8wwNhLAzempoch5d6hLRiTh8Cjcjb';
const PAID = '0x52908400098527886e0f7030069857d2e4169ee7';
const BACK = '0x8617e340b3d01fa5f11f306f4090fd50e238070d';
const PULLER = `0x${'d4'.repeat(20)}`;
const PULLED = `0x${'e5'.repeat(20)}`;
const node = (node_key: string, action_type: string, config: object, more: object = {}) => ({
  node_key,
  node_kind: 'action',
  action_type,
  config,
  asset: 'USDC',
  sends: true,
  executor_binding: { executor_key: 'x' },
  signer_binding: null,
  has_side_effect: true,
  ...more,
});
const PLAN = JSON.stringify({
  template: { template_id: ID, template_key: 'a', version: 1 },
  intent: { asset: 'USDC', amount: '7.25' },
  input_params: {},
  outflow: [{ asset: 'USDC', amount: '9' }],
  risk_controls: {},
  nodes: [
    node(
      'pay',
      'evm_erc20_transfer',
      { destination_address: PAID, chain_id: 1, amount: '3' },
      { pulled_by: PULLER, pulled_token: PULLED },
    ),
    node('rest', 'evm_native_transfer', {
      destination_address: PAID,
      chain_id: 1,
      amount_ref: 'nodes.pay.output.left',
    }),
    node('team', 'payroll', { destination_address: PAID, pay_to: OWN_PAYEE }),
    node(
      'back',
      'evm_erc20_transfer',
      { destination_address: BACK, chain_id: 1 },
      {
        node_kind: 'compensation',
        has_side_effect: false,
      },
    ),
  ],
  edges: [],
});
const HASH = createHash('sha256').update(PLAN).digest('hex');
const plan: Act = (response) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end(PLAN);
/** Of whom the service says nothing, but for one payee of the team’s. */
const listed = { chain_family: 'cex', address: OWN_PAYEE, chain_id: null, allowed: true };
const movement = answer(200, {
  movement_id: ID,
  request_state: 'PENDING_APPROVAL',
  compiled_plan_hash: HASH,
  nodes: [],
  created_by: {},
  review: {
    sends: [
      {
        node_key: 'team',
        payees: [{ ...listed, usable_after: null, code: null, problem: null }],
      },
    ],
    limits: [],
    balances: [],
    would_fail: [],
  },
});
const APPROVE = `POST /v3/movements/${ID}/approve`;
const approving = (approve: Act, labels: Act = refuse(403, 'forbidden')) =>
  serve({
    'GET /healthz': health,
    [`GET /v3/movements/${ID}/plan`]: plan,
    [`GET /v3/movements/${ID}`]: movement,
    'GET /dashboard/allowed-addresses': labels,
    [APPROVE]: approve,
  });
const approvalsOf = (received: number, why_not: string | null) => ({
  rules: ['large'],
  required: [
    { rule: 'large', group: 'treasury', threshold: 2, received, missing: 2 - received },
    { rule: 'large', group: 'risk', threshold: 1, received: 0, missing: 1 },
  ],
  decisions: [
    {
      person: 'ann',
      name: 'Ann Lee',
      decision: 'approve',
      at: '2026-11-28T10:00:00.000Z',
      reason: 'as planned',
      counts: received > 0,
    },
  ],
  you: { may: why_not === null, why_not },
});
const approved = answer(200, {
  movement_id: ID,
  request_state: 'APPROVED',
  current_frontier: ['pay'],
  reservation_status: 'none',
});

describe('an approval', () => {
  test('shows every payee of the plan, and all inputs of a team’s executor', async () => {
    approving(approved);
    const { status, err } = await run('movements', 'approve', ID, '--yes');
    expect(status).toBe(0);
    const block = (key: string) =>
      err.split(/\n(?=\S)/).find((each) => each.startsWith(`${key} `)) ?? '';
    expect(block('pay')).toMatch(new RegExp(`3 USDC\n.*${PAID} on chain 1\n`));
    for (const each of [PULLER, PULLED]) expect(block('pay')).toContain(each);
    expect(block('rest')).toMatch(new RegExp(`nodes.pay.output.left .*\n.*${PAID} on chain 1\n`));
    expect(block('back')).toMatch(new RegExp(`7\\.25 USDC\n.*${BACK} on chain 1\n`));
    expect(block('team')).toMatch(new RegExp(`${OWN_PAYEE}\n.*allowlist +may be paid\n`));
    // What the service leaves out is marked.
    for (const key of ['pay', 'team']) expect(block(key)).toContain('NOT LOOKED AT');
    expect(err).toContain(`"pay_to":"${OWN_PAYEE}"`);
    expect(err).toContain('9 USDC');
    expect(sent(APPROVE).map(({ body }) => JSON.parse(body) as object)).toMatchObject([
      { compiled_plan_hash: HASH },
    ]);
  });

  test.each([
    ['a page of a proxy', html],
    ['another list', answer(200, { rows: [] })],
    ['a page that leads to itself', answer(200, { allowed_addresses: [], next_cursor: 'x' })],
  ])('goes on without labels where the list of addresses is %s', async (_, labels) => {
    approving(approved, labels);
    const { status, err } = await run('movements', 'approve', ID, '--yes');
    expect([status, err]).toEqual([0, expect.stringContaining('Labels are not known here')]);
    const { status: listed, err: said } = await run('allowlist', 'list', '--all');
    expect([listed, said]).toEqual([4, expect.stringMatching(/^fundctl: [^\n]+\n$/)]);
  });

  test.each([
    ['is lost', lose],
    ['is a proxy’s 504', answer(504, 'gateway time-out')],
    ['says that the outcome is unknown', refuse(503, 'outcome_unknown')],
  ])('whose answer %s was sent once, and says that it may have been taken', async (_, act) => {
    approving(act);
    const { status, out, err } = await run('movements', 'approve', ID, '--yes', '--quiet');
    expect([status, out]).toEqual([4, '']);
    expect(err).toMatch(/^fundctl: [^\n]*the request may have been taken[^\n]*\n$/);
    expect(sent(APPROVE)).toHaveLength(1);
  });
});

describe('under approval rules', () => {
  const lines = (text: string) => text.replace(/ +/g, ' ').split('\n');

  test('an approval that needs others sends its reason, and prints what is missing', async () => {
    approving(
      answer(200, {
        movement_id: ID,
        request_state: 'PENDING_APPROVAL',
        current_frontier: ['pay'],
        reservation_status: 'none',
        approvals: approvalsOf(1, null),
      }),
    );
    const why = ['--reason', 'as planned'];
    const { status, out } = await run('movements', 'approve', ID, ...why, '--yes');
    expect([status, lines(out)]).toEqual([
      0,
      expect.arrayContaining([
        'large treasury 1 of 2 1',
        'large risk 0 of 1 1',
        'Ann Lee ann 2026-11-28 10:00:00Z yes as planned',
        'You may approve.',
      ]),
    ]);
    expect(sent(APPROVE).map(({ body }) => JSON.parse(body) as object)).toMatchObject([
      { compiled_plan_hash: HASH, reason: 'as planned' },
    ]);
  });

  test('the approvers of a movement are listed, with why one may not approve', async () => {
    const member = { rule: 'large', person: 'ann', name: 'Ann Lee', groups: ['treasury', 'risk'] };
    serve({
      'GET /healthz': health,
      [`GET /v3/movements/${ID}/approvers`]: answer(200, {
        movement_id: ID,
        approvals: approvalsOf(0, 'not_in_group'),
        approvers: [
          { ...member, may: false, why_not: 'initiator', decided_at: null, counts: false },
        ],
      }),
    });
    const { status, out } = await run('movements', 'approvers', ID);
    expect([status, lines(out)]).toEqual([
      0,
      expect.arrayContaining([
        'large treasury 0 of 2 2',
        'Ann Lee ann 2026-11-28 10:00:00Z no longer as planned',
        expect.stringMatching(/^You may not approve: .*\(not_in_group\)$/),
        'large Ann Lee ann treasury, risk no: initiator - -',
      ]),
    ]);
  });

  test('a rule is listed with its conditions and who may not approve under it', async () => {
    const rule = {
      name: 'large',
      revision: 3,
      applies_to: 'movement',
      when: { origins: ['api'], outflow_above: [{ asset: '*', amount: '100000' }] },
      require: [
        { group: 'treasury', threshold: 2 },
        { group: 'risk', threshold: 1 },
      ],
      initiator_may_approve: false,
      payee_author_may_approve: false,
      template_author_may_approve: true,
      expires_after_seconds: 86_400,
      reason_required: true,
      created_at: '2026-11-28T09:00:00.000Z',
      updated_at: '2026-11-28T10:00:00.000Z',
    };
    const ofChanges = { ...rule, name: 'pins', applies_to: 'signers', when: {} };
    serve({
      'GET /healthz': health,
      'GET /v3/approval-rules': answer(200, { rules: [rule, ofChanges] }),
    });
    const { status, out } = await run('approvals', 'rules');
    expect(lines(out)[2]).toMatch(/^pins 3 signers every change: signers 2 of treasury /);
    expect([status, lines(out)[1]]).toEqual([
      0,
      [
        'large 3 movement origin api; above 100000 of any asset',
        '2 of treasury and 1 of risk initiator, payee_author required 24h 2026-11-28 10:00:00Z',
      ].join(' '),
    ]);
  });
});

describe('a change that waits for people', () => {
  const CHANGE = '01a2b3c4-0000-7000-8000-00000000000c';
  const call = {
    method: 'POST',
    path: '/v3/signers/treasury/expected-identity',
    body: { expected_signer_address: PAID, reason: 'a new device' },
    subject: 'signers',
    before: { signer_key: 'treasury', expected_signer_address: BACK, tags: [] },
    after: { signer_key: 'treasury', expected_signer_address: PAID, tags: ['cold'] },
  };
  const author = { client_id: 'desk', key_id: 'desk-1', role: 'admin' };
  const kinds = ['signers', 'policies'];
  const DOCUMENT = JSON.stringify({ id: CHANGE, kind: 'signers', kinds, author, ...call });
  const hash = createHash('sha256').update(DOCUMENT).digest('hex');
  const request = {
    change_request_id: CHANGE,
    kind: 'signers',
    state: 'open',
    hash,
    author: 'desk',
    ...call,
    approvals: approvalsOf(1, null),
    break_glass: false,
    reason: null,
    code: null,
    created_at: '2026-11-28T10:00:00.000Z',
    expires_at: '2026-12-05T10:00:00.000Z',
    ended_at: null,
    ended_by: null,
  };
  const decided = { ...request, approvals: { ...approvalsOf(2, null), required: [] } };
  const of = (verb: string) => `POST /v3/change-requests/${CHANGE}/${verb}`;
  const waiting = (after: object, document = DOCUMENT) =>
    serve({
      'GET /healthz': health,
      [`GET /v3/change-requests/${CHANGE}`]: answer(200, request),
      [`GET /v3/change-requests/${CHANGE}/document`]: (response) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(document),
      [of('approve')]: answer(200, after),
      [of('reject')]: answer(200, after),
      [of('withdraw')]: answer(200, after),
    });
  const lines = (text: string) => text.replace(/ +/g, ' ').split('\n');

  test.each([
    ['POST /v3/admin/cutover-mode', ['cutover', 'set', '--mode', 'normal', '--reason', 'a test']],
    [
      'POST /dashboard/allowed-addresses',
      ['allowlist', 'add', PAID, '--family', 'evm', '--reason', 'a test'],
    ],
  ])('%s ends with 6, and names the change request', async (name, words) => {
    const requested = { change_request_id: CHANGE, kind: 'cutover', hash };
    serve({ 'GET /healthz': health, [name]: answer(202, requested) });
    const operator = { SVC_DASHBOARD_OPERATOR: 'olga', SVC_DASHBOARD_SECRET: 'a-secret' };
    const { status, out, err } = await runFundctl({ ...env(), ...operator }, [
      ...words,
      ...['--yes', '--quiet', '--output', 'json'],
    ]);
    expect([status, out]).toEqual([6, '']);
    expect(err).toMatch(/^fundctl: [^\n]*; nothing was changed yet\.[^\n]*\n$/);
    expect(err).toContain(`fundctl changes show ${CHANGE}`);
    expect(sent(name)).toHaveLength(1);
  });

  test('is listed with its call and what is missing', async () => {
    serve({
      'GET /healthz': health,
      'GET /v3/change-requests': answer(200, { change_requests: [request], next_cursor: null }),
    });
    const filters = ['--state', 'open', '--kind', 'signers', '--break-glass'];
    const { status, out } = await run('changes', 'list', ...filters);
    expect([status, lines(out)[1]]).toEqual([
      0,
      `${CHANGE} signers open desk POST ${call.path} 2 2026-11-28 10:00:00Z`,
    ]);
    expect(server.seen.at(-1)?.target).toBe(
      '/v3/change-requests?state=open&kind=signers&break_glass=true',
    );
  });

  test('is approved as its document shows it, field by field', async () => {
    waiting({ ...request, approvals: approvalsOf(2, null) });
    const why = ['--hash', hash.toUpperCase(), '--reason', 'checked', '--yes'];
    const { status, out, err } = await run('changes', 'approve', CHANGE, ...why);
    expect([status, lines(err)]).toEqual([
      0,
      expect.arrayContaining([
        'kind signers, policies',
        'author desk',
        `call POST ${call.path}`,
        `hash ${hash} (made here from the document)`,
        'reason a new device',
        `expected_signer_address ${BACK} ${PAID}`,
        'tags [] -',
        'tags[0] - cold',
        'signer_key treasury',
        'large treasury 1 of 2 1',
      ]),
    ]);
    expect(lines(out)).toEqual(expect.arrayContaining(['state open', '1 approval is missing.']));
    expect(sent(of('approve')).map(({ body }) => JSON.parse(body) as object)).toEqual([
      { hash, reason: 'checked' },
    ]);
  });

  test.each([
    ['without the hash that was read', [], DOCUMENT, 2, '--hash'],
    ['with another hash', ['--hash', '0'.repeat(64)], DOCUMENT, 1, hash],
    ['where the document is another', ['--hash', hash], `${DOCUMENT} `, 1, 'do not trust'],
  ])('is not approved %s', async (_, words, document, expected, said) => {
    waiting(decided, document);
    const { status, out, err } = await run('changes', 'approve', CHANGE, ...words, '--yes');
    expect([status, out, err]).toEqual([expected, '', expect.stringContaining(said)]);
    expect(sent(of('approve'))).toHaveLength(0);
  });

  test.each([
    ['applied', { state: 'applied' }, 0, 'It is applied'],
    ['failed', { state: 'failed', code: 'signer_not_found' }, 1, 'It failed (signer_not_found)'],
    ['not made yet', {}, 0, 'approve it again'],
    ['for fundadmin to make', { author: 'fundadmin:ann' }, 0, 'the same fundadmin command'],
  ])('is %s after the last approval, and says so', async (_, more, expected, said) => {
    waiting({ ...decided, ...more });
    const words = ['changes', 'approve', CHANGE, '--hash', hash, '--yes'];
    const { status, out } = await run(...words);
    expect([status, out]).toEqual([expected, expect.stringContaining(said)]);
  });

  test('is rejected with a reason, and withdrawn without', async () => {
    waiting({ ...request, state: 'rejected' });
    const { status, out, err } = await run(
      ...['changes', 'reject', CHANGE, '--reason', 'not ours', '--yes'],
    );
    expect([status, out]).toEqual([0, expect.stringContaining('It is rejected')]);
    expect(err).toContain(PAID);
    expect((await run('changes', 'withdraw', CHANGE, '--yes')).status).toBe(0);
    expect([...sent(of('reject')), ...sent(of('withdraw'))].map(({ body }) => body)).toEqual([
      '{"reason":"not ours"}',
      '',
    ]);
  });
});

describe('a command on movements that waits for people', () => {
  const CHANGE = '01a2b3c4-0000-7000-8000-00000000000d';
  const of = (verb: string) => `POST /v3/change-requests/${CHANGE}/${verb}`;
  /** Serves a request to resume, and the plan of its movement; returns its hash. */
  function waiting(movements: readonly object[]): string {
    const call = {
      ...{ method: 'POST', path: `/v3/movements/${ID}/actions/resume`, body: {} },
      ...{ subject: 'movements', before: { movements }, after: { command: 'resume', nodes: [] } },
    };
    const text = JSON.stringify({ id: CHANGE, kind: 'movement_action', author: {}, ...call });
    const hash = createHash('sha256').update(text).digest('hex');
    const request = answer(200, {
      ...{ change_request_id: CHANGE, kind: 'movement_action', state: 'open', hash, ...call },
      ...{ author: 'desk', approvals: approvalsOf(1, null), break_glass: false, reason: null },
      ...{ code: null, created_at: '2026-11-28T10:00:00.000Z', ended_at: null, ended_by: null },
      expires_at: '2026-12-05T10:00:00.000Z',
    });
    serve({
      'GET /healthz': health,
      [`GET /v3/change-requests/${CHANGE}`]: request,
      [`GET /v3/change-requests/${CHANGE}/document`]: (response) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(text),
      [`GET /v3/movements/${ID}/plan`]: plan,
      [`GET /v3/movements/${ID}`]: movement,
      'GET /dashboard/allowed-addresses': refuse(403, 'forbidden'),
      [of('approve')]: request,
      [of('reject')]: request,
    });
    return hash;
  }
  const named = (plan_hash: string) => [{ movement_id: ID, state: 'FAILED', plan_hash, nodes: [] }];
  const moves = [
    `What movement ${ID} moves`,
    ...['9 USDC', '3 USDC', `${PAID} on chain 1`, PULLER, PULLED, `${BACK} on chain 1`],
    ...[`"pay_to":"${OWN_PAYEE}"`, `${HASH} (made here from the plan's bytes)`],
  ];

  test('is shown and approved with what its movements move', async () => {
    const hash = waiting(named(HASH));
    const { status, err } = await run('changes', 'approve', CHANGE, '--hash', hash, '--yes');
    expect([status, moves.filter((each) => !err.includes(each))]).toEqual([0, []]);
    expect(sent(of('approve')).map(({ body }) => JSON.parse(body) as object)).toEqual([{ hash }]);
    const { out } = await run('changes', 'show', CHANGE);
    expect(moves.filter((each) => !out.includes(each))).toEqual([]);
  });

  test.each([
    ['a plan has another hash', named('f'.repeat(64)), 'approve nothing'],
    ['its movements cannot be read', [{ movement_id: ID }], 'cannot read which movements'],
  ])('is not approved where %s, but shown and rejected', async (_, movements, says) => {
    const hash = waiting(movements);
    const words = ['approve', CHANGE, '--hash', hash, '--yes'];
    const { status, out, err } = await run('changes', ...words);
    expect([status, out, err]).toEqual([1, '', expect.stringContaining(says)]);
    expect(sent(of('approve'))).toHaveLength(0);
    expect((await run('changes', 'show', CHANGE)).out).toContain(says);
    const rejected = await run('changes', 'reject', CHANGE, '--yes');
    expect([rejected.status, rejected.err]).toEqual([0, expect.stringContaining(says)]);
    expect(sent(of('reject'))).toHaveLength(1);
  });
});

describe('a smoke test', () => {
  const smoke = ['smoke', '--template', 'a@1', '--asset', 'USDC', '--amount', '1', '--yes'];
  const templates = answer(200, {
    plan_templates: [{ template_id: ID, template_key: 'a', version: 1 }],
    next_cursor: null,
  });
  const foreseen = (outflow: unknown, approve: Act = approved) => {
    serve({
      'GET /healthz': health,
      'GET /v3/plan-templates': templates,
      'dry run': answer(200, { ...PREVIEW, compiled_plan_hash: HASH, outflow }),
      'POST /v3/movements': answer(201, { ...CREATED, compiled_plan_hash: HASH }),
      [`GET /v3/movements/${ID}/plan`]: plan,
      [`GET /v3/movements/${ID}`]: movement,
      [APPROVE]: approve,
    });
  };
  const both = [
    { asset: 'USDC', amount: '3' },
    { asset: 'USDT', amount: '2.01' },
  ];

  test.each([
    ['several assets together', both, 'this can move 3 USDC, 2.01 USDT'],
    ['an unknown amount', null, 'is unknown'],
  ])('is not created where it moves more than five units: %s', async (_, outflow, why) => {
    foreseen(outflow);
    const { status, err } = await run(...smoke);
    expect([status, err]).toEqual([2, expect.stringContaining(why)]);
    expect(sent('POST /v3/movements')).toHaveLength(0);
  });

  test('approves no plan whose bytes move more than was foreseen, and tells the movement', async () => {
    foreseen([{ asset: 'USDC', amount: '1' }]);
    const { status, err } = await run(...smoke);
    expect([status, err]).toEqual([2, expect.stringContaining('this can move 9 USDC')]);
    expect(err).toContain(`Movement ${ID} is created`);
    expect(sent(APPROVE)).toHaveLength(0);
  });
});

describe('the exit status', () => {
  test.each([
    ['a refusal', refuse(409, 'invalid_state'), 3],
    ['a setting that is missing there', refuse(503, 'route_role_unmapped'), 3],
    ['a fault of the service', refuse(500, 'internal_error'), 1],
    ['a service that is not ready', refuse(503, 'dependency_unavailable'), 4],
    ['an unknown outcome', refuse(503, 'outcome_unknown'), 4],
    ['a page of a proxy', html, 4],
    ['a redirection', (response) => response.writeHead(302, { location: '/x' }).end(), 4],
  ] satisfies [string, Act, number][])('of %s is one line', async (_, act, expected) => {
    serve({ 'GET /healthz': health, 'GET /v3/whoami': act });
    const { status, out, err } = await run('keys', 'whoami', '--quiet');
    expect([status, out, err]).toEqual([expected, '', expect.stringMatching(/^fundctl: .+\n$/)]);
    expect(err).not.toContain(KEY.secret);
  });

  test('of another server’s health is that of an unreachable service', async () => {
    serve({ 'GET /healthz': answer(200, { api_prefix: 'http://elsewhere/' }) });
    expect((await run('keys', 'whoami')).status).toBe(4);
  });

  test('of a key that is not believed says what may be wrong, the clock too', async () => {
    serve({ 'GET /healthz': health, 'GET /v3/whoami': refuse(401, 'unauthenticated') });
    const { status, err } = await run('keys', 'whoami');
    expect([status, err]).toEqual([3, expect.stringContaining('clock')]);
  });

  test('a movement that is watched at a server that was never there is one line', async () => {
    const dead = clientEnv(`http://127.0.0.1:${String(await freePort())}`, KEY);
    const { status, out, err } = await runFundctl(dead, ['movements', 'watch', ID]);
    expect([status, out, err]).toEqual([4, '', expect.stringMatching(/^fundctl: .+\n$/)]);
  });
});

describe('an unreachable service is reported with where to look', () => {
  const why = async (apiUrl: string) => {
    const { status, err } = await runFundctl(clientEnv(apiUrl, KEY), ['keys', 'whoami']);
    return [status, err.trim().split('\n').at(-1)];
  };

  test('nothing listens', async () => {
    const dead = `http://127.0.0.1:${String(await freePort())}`;
    expect(await why(dead)).toEqual([4, expect.stringContaining('Nothing listens there')]);
  });

  test('the name is unknown', async () => {
    const unknown = 'http://no-such-host.invalid';
    expect(await why(unknown)).toEqual([4, expect.stringContaining('cannot be looked up')]);
  });

  test('https to what speaks plain http', async () => {
    const tls = server.url.replace('http:', 'https:');
    expect(await why(tls)).toEqual([4, expect.stringContaining('TLS: ')]);
  });

  test('it hangs up', async () => {
    serve({ 'GET /healthz': lose });
    expect(await why(server.url)).toEqual([4, expect.stringContaining('hung up')]);
  });

  test('another service', async () => {
    serve({ 'GET /healthz': answer(200, { hello: 'world' }) });
    expect(await why(server.url)).toEqual([4, expect.stringContaining("another server's")]);
  });
});

describe('the prefix of the API', () => {
  const targets = () => server.seen.map(({ method, target }) => `${method} ${target}`);
  const whoami = ['keys', 'whoami', '--output', 'json'];

  test('is the default, without a request for it', async () => {
    serve({ 'GET /healthz': health, 'GET /v3/whoami': answer(200, { role: 'admin' }) });
    expect((await run(...whoami)).status).toBe(0);
    expect(targets()).toEqual(['GET /v3/whoami']);
  });

  test('is read where the service has another one, and before a write', async () => {
    const elsewhere = answer(200, { ok: true, service: 'x', api_prefix: '/fund/v3' });
    serve({
      'GET /healthz': elsewhere,
      'GET /fund/v3/whoami': answer(200, { role: 'admin' }),
      'POST /fund/v3/admin/cutover-mode': answer(200, { mode: 'normal' }),
    });
    expect(await run(...whoami)).toMatchObject({
      status: 0,
      out: expect.stringContaining('admin') as unknown,
    });
    expect(targets()).toEqual(['GET /v3/whoami', 'GET /healthz', 'GET /fund/v3/whoami']);
    server.seen.length = 0;
    const set = ['cutover', 'set', '--mode', 'normal', '--reason', 'a test', '--yes'];
    expect((await run(...set, '--output', 'json')).status).toBe(0);
    expect(targets().filter((target) => target.startsWith('POST'))).toEqual([
      'POST /fund/v3/admin/cutover-mode',
    ]);
  });

  test('is right where a path is missing, and the refusal is the service’s own', async () => {
    serve({ 'GET /healthz': health });
    const { status, err } = await run(...whoami);
    expect([status, err]).toEqual([3, expect.stringContaining('route_not_found (404)')]);
  });
});

describe('dead letters that are sent again by a filter', () => {
  const row = (event_id: string, event_type: string, created_at: string) => ({
    event_id,
    event_type,
    created_at,
    movement_id: ID,
    status: 'dead_letter',
    attempts: 8,
    last_error: 'HTTP 500',
    url: 'https://a.example/',
  });
  const rows = [
    row('e1', 'request_completed', '2026-11-25T12:00:00.000Z'),
    row('e2', 'request_failed', '2026-11-25T12:00:00.000Z'),
    row('e3', 'request_completed', '2026-11-24T12:00:00.000Z'),
    row('e4', 'request_completed', '2026-11-25T13:00:00.000Z'),
  ];
  const again = (id: string) => `POST /v3/callbacks/${id}/redeliver`;
  const filter = ['--type', 'request_completed', '--since', '2026-11-25T00:00:00Z'];
  const all = (...more: readonly string[]) => run('callbacks', 'redeliver-all', ...filter, ...more);
  beforeEach(() =>
    serve({
      'GET /healthz': health,
      'GET /v3/callbacks': answer(200, { callbacks: rows, next_cursor: null }),
      [again('e1')]: answer(200, { ...rows[0], status: 'pending' }),
      [again('e4')]: refuse(409, 'invalid_state'),
    }),
  );

  test('are those, and one that is refused keeps no other back', async () => {
    const { status, out, err } = await all('--yes', '--output', 'json');
    expect(status).toBe(1);
    expect(JSON.parse(out)).toEqual({
      redelivered: ['e1'],
      refused: [{ event_id: 'e4', error: 'invalid_state' }],
    });
    expect(err).toMatch(/e1[\s\S]*e4/);
    expect(err).not.toMatch(/e2|e3/);
    for (const id of ['e2', 'e3']) expect(sent(again(id))).toHaveLength(0);
  });

  test('are not, without a terminal to confirm on', async () => {
    expect((await all()).status).toBe(2);
    expect(sent(again('e1'))).toHaveLength(0);
  });

  test('need a time with a zone', async () => {
    for (const since of ['2026-11-25', '2026-02-31T00:00:00Z', '2026-11-25T00:00:00']) {
      const { status, err } = await run('callbacks', 'redeliver-all', '--since', since);
      expect([status, err]).toEqual([2, expect.stringContaining('a time with its zone')]);
    }
  });
});

test('what a server puts into a note drives no terminal, and its pages end', async () => {
  const hostile = 'next\u001b[2J\u202e';
  serve({
    'GET /healthz': health,
    'GET /v3/movements': answer(200, { movements: [], next_cursor: hostile }),
  });
  const page = await run('movements', 'list');
  expect(page.err).toContain('next\\u001b[2J\\u202e');
  const all = await run('movements', 'list', '--all');
  expect([all.status, all.err]).toEqual([4, expect.stringContaining('whose next page is itself')]);
  expect(sent('GET /v3/movements')).toHaveLength(3);
});
