/**
 * The bridge in the free edition: its routes are not there, its actions are. Rows of its registry
 * are written with `fundadmin bridge`, and nothing is created over a path that they do not open.
 */
import { fundadmin } from '../../tools/command-line.ts';
import { sendAndArrive } from '../support/bridge-plans.ts';
import { ownStack } from '../support/own-stack.ts';

const TEMPLATE = 'test/free-bridge';
const own = ownStack({ bridges: true, env: { SVC_EDITION: 'free' } });
beforeAll(async () => {
  const { near: from, far: to } = own.stack.bridges!;
  const treasury = own.stack.chain.accounts.treasury.address;
  const plan = sendAndArrive({ key: TEMPLATE, from, to, payee: treasury });
  await own.api.expect(201, 'POST', '/plan-templates', plan);
}, 240_000);

const REASON = ['--reason', 'a test'];
const BASELINE = [
  'near',
  'far',
  'omni',
  '--expected-latency',
  '5',
  '--detection-budget',
  '900',
  '--fee-budget',
  '0.002',
  ...REASON,
];

/** One JSON value of `fundadmin bridge`, run where the database is. */
async function bridge(...args: string[]): Promise<unknown> {
  const { status, out, err } = await run(...args);
  if (status !== 0) throw new Error(`fundadmin bridge ${args.join(' ')}: ${err}`);
  return JSON.parse(out);
}

async function run(...args: string[]) {
  let [out, err] = ['', ''];
  const status = await fundadmin(['bridge', ...args], {
    env: {
      SVC_DATABASE_URL: own.stack.databaseUrl,
      SVC_VENUES_FILE: own.stack.env['SVC_VENUES_FILE'],
    },
    out: (text) => (out += text),
    err: (text) => (err += text),
  });
  return { status, out, err };
}

const BODY = {
  template_key: TEMPLATE,
  template_version: 1,
  intent: { asset: 'OMNI', amount: '2.5' },
};
const create = (headers = {}) => own.api.send('POST', '/movements', BODY, headers);
const refused = (reason: unknown) => ({
  detail: {
    error: 'bridge_path_not_ready',
    paths: [{ node_key: 'send', asset: 'OMNI', reason }],
  },
});

test('a path is opened with fundadmin, and until then nothing is created over it', async () => {
  const { near, far } = own.stack.bridges!;
  for (const path of ['/bridge-c/chain-registry', '/bridge-c/path-baselines'])
    expect(await own.api.send('GET', path)).toMatchObject({
      status: 404,
      body: { detail: { error: 'route_not_found' } },
    });
  const missing = 'the bridge registry has no baseline of this path';
  expect(await create()).toMatchObject({ status: 422, body: refused(missing) });
  for (const [chain, side] of [['near', near] as const, ['far', far] as const])
    expect(
      await bridge(
        'add-chain',
        chain,
        '--endpoint',
        `${String(side.eid)}:${side.contracts.endpoint}`,
        '--finality-age',
        '5',
        '--label',
        'local',
        ...REASON,
      ),
    ).toMatchObject({ chain, snapshot_stale: true, operator_label: 'local' });
  expect(await bridge('add-baseline', ...BASELINE)).toMatchObject({
    src_chain: 'near',
    dst_chain: 'far',
    asset: 'OMNI',
    fee_native_budget: '0.002',
    enabled: true,
    last_drill_pass_at: null,
  });
  expect(await create()).toMatchObject({
    status: 422,
    body: refused(expect.stringMatching(/stale.*stale.*no drill/)),
  });
  await own.api.expect(200, 'POST', '/executors/bridge-c/refresh-registry');
  expect(await bridge('chains')).toMatchObject([
    { chain: 'far', snapshot_stale: false },
    { chain: 'near' },
  ]);
  const preview = await create({ 'Dry-Run': 'true' });
  expect(preview).toMatchObject({
    status: 200,
    body: {
      would_create: false,
      blocking_reasons: [{ error: 'bridge_path_not_ready' }],
    },
  });
  const drill = ['drill-pass', 'near', 'far', 'OMNI', '--evidence', 'drills/1', ...REASON];
  expect(await bridge(...drill)).toMatchObject({ last_drill_evidence_path: 'drills/1' });
  const made = await own.api.create(TEMPLATE, { amount: '2.5', intent: { asset: 'OMNI' } });
  await own.api.approve(made);
  await own.api.reaches(made.movement_id, 'COMPLETED', 120_000);
  await bridge('replace-baseline', ...BASELINE, '--enabled', 'false', '--disabled-reason', 'moved');
  expect(await create()).toMatchObject({
    status: 422,
    body: refused('the path is disabled: moved'),
  });
}, 240_000);

test('what the registry cannot take is refused, and what it took is audited', async () => {
  const wrong = async (status: number, message: RegExp, ...args: string[]) => {
    const ran = await run(...args);
    expect([ran.status, ran.out]).toEqual([status, '']);
    expect(ran.err).toMatch(message);
  };
  const endpoint = `30999:0x${'9'.repeat(40)}`;
  const chain = (name: string, of = endpoint) => [
    name,
    '--endpoint',
    of,
    '--finality-age',
    '5',
    ...REASON,
  ];
  await wrong(2, /eid.*address/, 'add-chain', ...chain('third', '30999:0x12'));
  await wrong(2, /whole seconds/, 'add-chain', 'third', '--finality-age', '5.5');
  await wrong(2, /printable ASCII/, 'add-chain', ...chain('a/b'));
  await wrong(2, /two different ends/, 'remove-baseline', 'near', 'near', 'OMNI', ...REASON);
  await wrong(1, /exists; replace-chain/, 'add-chain', ...chain('near'));
  await wrong(1, /1 baselines begin or end at near/, 'remove-chain', 'near', ...REASON);
  await wrong(1, /has no chain third/, 'remove-chain', 'third', ...REASON);
  await wrong(1, /exists; replace-baseline/, 'add-baseline', ...BASELINE);
  await bridge('add-chain', ...chain('third'));
  await wrong(1, /The chain third has that endpoint/, 'replace-chain', ...chain('near'));
  await bridge('remove-baseline', 'near', 'far', 'OMNI', ...REASON);
  for (const name of ['near', 'far', 'third']) await bridge('remove-chain', name, ...REASON);
  expect([await bridge('chains'), await bridge('baselines')]).toEqual([[], []]);
  const { body } = await own.api.send('GET', '/audit/events?entity_type=bridge_path');
  expect(body['events']).toMatchObject(
    ['delete', 'replace', 'drill_pass', 'create'].map((verb) => ({
      action: `bridge_path.${verb}`,
      entity_key: 'near/far/OMNI',
      outcome: 'success',
      reason: 'a test',
      details: { tool: 'fundadmin' },
    })),
  );
}, 120_000);
