/** The agent CLI against the service: what it prints, how it ends, and what it cannot do. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeClientEnvironments } from '../../dev/stack/client-env.ts';
import { fundagent } from '../../clients/fundagent/program.ts';
import { agent, promote, proposal, type Agent } from '../support/agents.ts';
import { get, must, post, sendAs, shared, sql, type CreatedView } from '../support/http.ts';
import { ended, toolEnv } from '../support/mcp.ts';

interface Run {
  readonly status: number;
  readonly out: string;
  readonly err: string;
  readonly json: () => Record<string, unknown>;
}

/** One command line in this process, as an agent's shell would call it. */
async function run(
  env: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<Run> {
  let [out, err] = ['', ''];
  const status = await fundagent(args, {
    env: { SVC_OUTPUT: 'json', ...env },
    out: (text) => (out += text),
    err: (text) => (err += text),
    terminal: { in: false, out: false, err: false },
    read: () => Promise.resolve(''),
    signal: new AbortController().signal,
  });
  return { status, out, err, json: () => JSON.parse(out) as Record<string, unknown> };
}

const flags = (more: object = {}): string[] =>
  Object.entries(proposal(more)).flatMap(([name, value]) => [
    `--${name.replaceAll('_', '-')}`,
    String(value),
  ]);

let own: Agent;
let env: Readonly<Record<string, string>>;
beforeAll(async () => {
  own = await agent();
  env = toolEnv(own, shared.apiUrl, own.namespace);
});

test('proposes with the flags of the contract, and makes a movement that waits for a person', async () => {
  const made = await run(env, 'proposals', 'create', ...flags());
  expect([made.status, made.err]).toEqual([0, '']);
  const { template_key, template_version, proposal_id } = made.json();
  expect(template_key).toBe(`${own.namespace}/onchain_transfer-USDC-local-chain-local-chain`);
  const shown = await run(env, 'proposals', 'show', String(proposal_id));
  expect(shown.json()).toMatchObject({ status: 'auto_promoted', proposal: proposal() });
  const wanted = [
    '--template-key',
    String(template_key),
    '--template-version',
    String(template_version),
    '--asset',
    'USDC',
    '--amount',
    '40',
  ];
  const preview = await run(env, 'movements', 'preview', ...wanted);
  expect(preview.json()).toMatchObject({ would_create: true });
  expect((await run(env, 'movements', 'list')).json()).toMatchObject({ movements: [] });
  const created = await run(env, 'movements', 'create', ...wanted, '--label', 'desk=agents');
  expect(created.status).toBe(0);
  const { movement_id, compiled_plan_hash } = created.json() as unknown as CreatedView;
  expect(created.json()).toMatchObject({
    request_state: 'PENDING_APPROVAL',
    auto_approve_result: { reason: 'agent_auto_approve_skipped' },
  });
  const plan = await run(env, 'movements', 'plan', movement_id);
  expect(createHash('sha256').update(plan.out).digest('hex')).toBe(compiled_plan_hash);
  const timeline = await run(env, 'movements', 'timeline', movement_id);
  expect(timeline.out).toContain('movement_created');
  // It is never approved here, so a wait for it ends at its deadline.
  const waited = await run(env, 'wait', movement_id, '--timeout', '1');
  expect([waited.status, waited.err]).toEqual([5, expect.stringMatching(/PENDING_APPROVAL/)]);
  await must(200, post(`/movements/${movement_id}/reject`, {}));
  const labels = { external_reference: `INV ${randomUUID()}`, metadata: { run: randomUUID() } };
  const intent = { asset: 'USDC', amount: '40' };
  const named = await must<CreatedView>(
    201,
    sendAs(own, 'POST', '/movements', { template_key, template_version, intent, ...labels }),
  );
  const listed = async (...filter: readonly string[]) =>
    (await run(env, 'movements', 'list', ...filter)).json()['movements'];
  const only = [expect.objectContaining({ movement_id: named.movement_id })];
  expect(await listed('--reference', labels.external_reference)).toEqual(only);
  expect(await listed('--metadata', `run=${labels.metadata.run}`)).toEqual(only);
  expect(await listed('--metadata', 'run=another')).toEqual([]);
  expect(await listed('--created-to', '2020-01-01T00:00:00Z')).toEqual([]);
  const over = await run(env, 'wait', movement_id);
  expect([over.status, over.err]).toEqual([1, expect.stringMatching(/ended as REJECTED/)]);
});

test('npm run fundagent finds the stack of its clone, and the environment wins over it', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'fundagent-'));
  try {
    const key = { keyId: env['SVC_KEY_ID'] ?? '', secret: env['SVC_HMAC_SECRET'] ?? '' };
    const bare = { PATH: process.env['PATH'] ?? '', SVC_DATA_DIR: dataDir, SVC_OUTPUT: 'json' };
    const whoami = (more: object = {}) =>
      ended('embedded-fundagent', { env: { ...bare, ...more }, args: ['whoami'] });
    expect((await whoami()).status).toBe(2);
    writeClientEnvironments(dataDir, shared.apiUrl, { admin: key, operator: key, agent: key });
    // It names the authority of the stack, which is not this key's.
    const [found, named] = await Promise.all([
      whoami({
        SVC_AGENT_NAMESPACE: own.namespace,
        SVC_AUTHORITY_KEY: own.namespace.slice('agent/'.length),
      }),
      whoami(env),
    ]);
    expect([found.status, found.err]).toEqual([0, expect.stringMatching(/^Using the stack in /)]);
    expect([named.status, named.err]).toEqual([0, '']);
    expect(JSON.parse(found.out)).toMatchObject({ key_id: key.keyId, role: 'agent' });
  } finally {
    rmSync(dataDir, { recursive: true });
  }
});

test('a proposal beyond the limits is kept, names its rules, and waits for an admin', async () => {
  const made = await run(env, 'proposals', 'create', ...flags({ requested_notional: '500' }));
  expect([made.status, made.err]).toEqual([
    0,
    'notional_exceeded: proposed 500, authority allows 100; ask an admin to promote this proposal, or propose at most 100.\n',
  ]);
  await must(200, promote(String(made.json()['proposal_id'])));
  const none = await run(env, 'proposals', 'create', ...flags({ protocol_family: 'pigeon' }));
  expect([none.status, none.err]).toEqual([3, expect.stringMatching(/is rejected/)]);
});

test('a bridge attempt makes the movement too, once for its key', async () => {
  const attempt = (): Promise<Run> =>
    run(env, 'bridge-attempt', ...flags({ requested_notional: '39' }), ...more);
  const more = [
    '--idempotency-key',
    randomUUID(),
    '--callback-url',
    'https://agent.example/events',
  ];
  const first = (await attempt()).json();
  expect(first).toMatchObject({ status: 'auto_promoted', movement_id: expect.any(String) });
  expect((await attempt()).json()['movement_id']).toBe(first['movement_id']);
  const { body } = await get<CreatedView>(`/movements/${String(first['movement_id'])}`);
  expect(body.request_state).toBe('PENDING_APPROVAL');
  const [row] = await sql('SELECT callback_url FROM movements WHERE movement_id = $1', [
    first['movement_id'],
  ]);
  expect(row).toEqual({ callback_url: 'https://agent.example/events' });
});

test('reads who it is, routes and balances, as JSON and for people', async () => {
  expect((await run(env, 'whoami')).json()).toMatchObject({
    role: 'agent',
    namespace: own.namespace,
    authority: { max_notional: '100' },
  });
  expect((await run(env, 'routes', 'list')).json()).toMatchObject({ routes: expect.any(Array) });
  const best = await run(env, 'routes', 'recommend', '--asset', 'USDC', '--amount', '1');
  expect(best.json()).toMatchObject({ recommendations: expect.any(Array) });
  const people = { ...env, SVC_OUTPUT: '' };
  expect((await run(people, 'balances', '--asset', 'USDC')).out).toMatch(/^VENUE +ACCOUNT/);
  const { SVC_AGENT_NAMESPACE: _, ...found } = env;
  expect((await run(found, 'whoami')).json()).toMatchObject({ namespace: own.namespace });
});

test.each([
  [2, 'approve', ['movements', 'approve', randomUUID()]],
  [2, 'an unknown option', ['whoami', '--approve']],
  [2, 'an amount that is none', ['proposals', 'create', '--requested-notional', '1e3']],
  [3, 'a foreign movement', ['movements', 'show', randomUUID()]],
  [3, 'a name that no id has', ['movements', 'show', 'x']],
])('ends with %d for %s, in one line', async (status, _, args) => {
  const ran = await run(env, ...args);
  expect([ran.status, ran.out]).toEqual([status, '']);
  expect(ran.err.trimEnd().split('\n')).toHaveLength(1);
});

test('ends with 2 without a key, 3 with one that is wrong, 4 without a service', async () => {
  expect((await run({}, 'whoami')).status).toBe(2);
  expect((await run({ ...env, SVC_HMAC_SECRET: 'x' }, 'whoami')).status).toBe(3);
  const nowhere = { ...env, SVC_API_URL: 'http://localhost:9' };
  expect((await run(nowhere, 'whoami')).status).toBe(4);
  const { status, out, err } = await ended('fundagent', { env, args: ['whoami'] });
  expect([status, err]).toEqual([0, '']);
  expect(out).toContain(own.namespace);
});
