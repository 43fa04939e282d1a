/** `fundctl` against the shared stack: what it prints, how it ends, what it keeps to itself. */
import { createHash, generateKeyPairSync, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../dev/stack/ports.ts';
import { changeDocument } from '../../domain/approval/change.ts';
import { tool } from '../support/tool.ts';
import {
  clientEnv,
  ELSEWHERE,
  JsonCommands,
  LEAVES,
  runFundctl,
  spawnFundctl,
} from '../support/fundctl.ts';
import { agent, propose } from '../support/agents.ts';
import { startApprovalDesk } from '../support/approval-desk.ts';
import { startBadProxy } from '../support/bad-proxy.ts';
import { freshAddress } from '../support/dashboard.ts';
import { PURSE_SIGNER } from '../support/shared-stack-facts.ts';
import { PAYER, wrongPayment } from '../support/wrong-payment.ts';
import {
  alone,
  edge,
  expectInvalid,
  gate,
  noop,
  post,
  reaches,
  register,
  shared,
  sql,
  template,
  waitFor,
} from '../support/http.ts';

// What it answers of a chain is what was seen last.
alone('the refresh of the bridge registry');
alone('USDT of the paper venue');
alone(PAYER);

const env = clientEnv(shared.apiUrl, shared.keys.admin);
const json = new JsonCommands(env);
const run = (...args: readonly string[]) => runFundctl(env, args);
const [operator = '', secret = ''] = Object.entries(shared.dashboardKeys)[0] ?? [];
const dashboard = { SVC_DASHBOARD_OPERATOR: operator, SVC_DASHBOARD_SECRET: secret };

const unique = (word: string): string => `${word}-${randomUUID()}`;

let folder: string;
/** A step, a gate, a step; and where a cancel leads. */
let gated: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fundctl-'));
  const made = await register(
    template([noop('step'), gate('look'), noop('after'), noop('stop', COMPENSATION)], {
      edges: EDGES,
    }),
  );
  gated = `${made.template_key}@1`;
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const COMPENSATION = { node_kind: 'compensation' };
const EDGES = [edge('step', 'look'), edge('look', 'after'), edge('step', 'stop', 'on_cancel')];

interface Created {
  readonly movement_id: string;
  readonly compiled_plan_hash: string;
}
const created = (...more: readonly string[]): Promise<Created> =>
  json.run('movements create', [
    '--template',
    gated,
    '--asset',
    'USDC',
    '--amount',
    '1',
    '--strategy',
    'fundctl',
    ...more,
  ]);
const file = (name: string, content: unknown): string => {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(content));
  return path;
};

/**
 * A change request of the admin, under a rule of its own for two people: one that is in force would
 * make the changes of other test files wait, too.
 */
async function changeRequest(
  group: string,
): Promise<{ readonly id: string; readonly hash: string }> {
  const id = randomUUID();
  const { keyId } = shared.keys.admin;
  const author = { client_id: shared.adminClientId, key_id: keyId, role: 'admin' } as const;
  const call = { method: 'POST', path: '/v3/no-such-route', body: {}, idempotency_key: null };
  const after = { strategy_id: unique('strategy') };
  const document = changeDocument(id, author, call, {
    kinds: ['policies'],
    subject: 'auto_approve_policies',
    before: null,
    after,
  });
  const hash = createHash('sha256').update(document).digest('hex');
  const rule = {
    applies_to: 'policies',
    when: {},
    require: [{ group, threshold: 2 }],
    initiator_may_approve: false,
    payee_author_may_approve: false,
    template_author_may_approve: false,
    reason_required: false,
  };
  await sql(
    `INSERT INTO change_requests (request_id, kinds, author, method, path, body, subject,
       row_before, row_after, document, hash, rules, created_at)
     VALUES ($1, '{policies}', $2, $3, $4, '{}', 'auto_approve_policies', 'null', $5, $6, $7, $8,
       now())`,
    [
      id,
      JSON.stringify(author),
      call.method,
      call.path,
      JSON.stringify(after),
      document,
      hash,
      JSON.stringify([{ name: group, rule }]),
    ],
  );
  return { id, hash };
}

describe('what is printed for programs fits the schema of its command', () => {
  test('movements, from a preview to their end', async () => {
    const request = ['--template', gated, '--asset', 'USDC', '--amount', '1'];
    expect(await json.run('movements preview', request)).toMatchObject({ would_create: true });
    await json.run('movements create', [...request, '--dry-run']);
    const { movement_id: id } = await created('--label', 'desk=treasury', '--param', 'why=test');
    await json.run('movements list', ['--strategy', 'fundctl', '--limit', '2']);
    await json.run('movements list', ['--template', gated.replace('@1', ''), '--all']);
    await json.run('movements plan', [id]);
    await json.run('movements graph', [id]);
    await json.run('movements approvers', [id]);
    await json.run('movements approve', [id, '--approver', 'desk', '--reason', 'a test', '--yes']);
    await json.run('movements watch', [id, '--until', 'WAITING_MANUAL_ACTION', '--timeout', '30']);
    await json.run('movements show', [id]);
    await json.run('movements resume', [id, '--yes']);
    const ended = await json.run('movements watch', [id, '--timeout', '30']);
    expect(ended).toMatchObject({ request_state: 'COMPLETED', labels: { desk: 'treasury' } });
    const events = await json.run<readonly { event_type: string }[]>('movements timeline', [id]);
    expect(events.map((event) => event.event_type)).toContain('request_resumed');
  });

  test('movements that are refused, cancelled and tried again', async () => {
    const { movement_id: refused } = await created();
    await json.run('movements reject', [refused, '--reason', 'not this week', '--yes']);
    const { movement_id: cancelled } = await created();
    await json.run('movements cancel', [cancelled, '--yes']);
    const broken = await register(
      template([noop('step', { config: { amount: '5' }, risk_patch: { max_amount: '2' } })]),
    );
    const { movement_id: failed } = await json.run<Created>('movements create', [
      '--template',
      broken.template_key,
      '--asset',
      'USDC',
      '--amount',
      '1',
    ]);
    await json.run('movements approve', [failed, '--over-limit', '--yes']);
    await reaches(failed, 'FAILED');
    const acknowledge = (...more: readonly string[]) =>
      json.run('movements acknowledge', [failed, ...more, '--reason', 'a test', '--yes']);
    const other = ['--about', 'landed_late', '--reason', 'a test', '--yes'];
    const another = await run('movements', 'acknowledge', failed, ...other);
    expect(another.err).toContain('failed of step');
    await acknowledge();
    // A late landing is taken only by name: what is shown is what is sent.
    for (const about of [[], ['--about', 'landed_late']]) {
      await sql(
        `UPDATE movement_nodes SET landed_late_at = svc_now(), landing_seen_at = NULL
          WHERE movement_id = $1`,
        [failed],
      );
      expect((await run('movements', 'show', failed)).out).toContain(
        `fundctl movements acknowledge ${failed} --about landed_late --reason`,
      );
      await acknowledge(...about);
    }
    // It has allowed no spender anything.
    const reset = await json.run<object>('movements reset-allowances', [failed, '--yes']);
    expect(reset).toMatchObject({ open_allowances: [], resets: [] });
    await json.run('movements retry', [failed, '--yes']);
    await json.run('movements watch', [failed, '--timeout', '30'], { status: 1 });
  });

  test('an approval of several, which is withdrawn', async () => {
    const people = ['fundctl-emil', 'fundctl-fred'];
    const desk = await startApprovalDesk('fundctl-gate', people, gated.replace('@1', ''));
    try {
      const [emil = shared.keys.operator] = desk.keys;
      const asEmil = { env: clientEnv(shared.apiUrl, emil) };
      const { movement_id: id } = await created();
      const approved = await json.run('movements approve', [id, '--yes'], asEmil);
      expect(approved).toMatchObject({ approvals: { you: { approved: true } } });
      const args = [id, '--yes'];
      expect(await json.run('movements withdraw-approval', args, asEmil)).toMatchObject({
        request_state: 'PENDING_APPROVAL',
        approvals: { required: [{ missing: 2 }], decisions: [] },
      });
      await json.run('movements reject', [id, '--yes'], asEmil);
    } finally {
      await desk.close();
    }
  });

  test('a payment of another movement', async () => {
    const { holder, target } = await wrongPayment();
    const moved = await json.run<object>('movements reassign', [
      holder,
      'arrive',
      '--to-movement',
      target,
      '--to-node',
      'arrive',
      '--reason',
      'it is theirs',
      '--evidence',
      'letter=2026-11-25',
      '--yes',
    ]);
    expect(moved).toMatchObject({ movement_id: holder, to: { movement_id: target } });
  });

  test('templates', async () => {
    const plan = template([noop('only')]);
    const path = file('plan.json', plan);
    await json.run('templates validate', [path]);
    await json.run('templates create', ['--file', path]);
    const key = plan.template_key;
    await json.run('templates list', ['--key', key, '--executable', 'true']);
    await json.run('templates show', [key]);
    await json.run('templates graph', [`${key}@1`]);
    await json.run('templates auto-approve', [
      key,
      '--daily-cap-amount',
      '5',
      '--daily-cap-asset',
      'USDC',
      '--yes',
    ]);
    await register({ ...plan, version: 2 });
    const why = ['--reason', 'a test'];
    const unnamed = await run('templates', 'retire', key, ...why, '--yes');
    expect([unnamed.status, unnamed.err]).toEqual([2, expect.stringContaining('<version>')]);
    const unconfirmed = await run('templates', 'retire', `${key}@2`, ...why);
    expect([unconfirmed.status, unconfirmed.err]).toEqual([
      2,
      expect.stringContaining('confirmation'),
    ]);
    expect(await json.run('templates retire', [`${key}@2`, ...why, '--yes'])).toMatchObject({
      status: 'retired',
      latest_active_version: 1,
    });
    const retired = ['--key', key, '--status', 'retired'];
    expect((await run('templates', 'list', ...retired)).out).toMatch(/@2 .*retired/);
    // A key alone is its newest active version.
    expect(await json.run('templates show', [key])).toMatchObject({ version: 1 });
  });

  test('transfers', async () => {
    const move = ['--from', 'paper-main', '--to', 'paper-sub-a', '--asset', 'USDT'];
    const made = await json.run<{ transfer_id: string }>('transfers create', [
      ...move,
      '--amount',
      '3',
      '--reason',
      'a test',
      '--yes',
    ]);
    await json.run('transfers watch', [made.transfer_id, '--timeout', '30']);
    await json.run('transfers show', [made.transfer_id]);
    await json.run('transfers timeline', [made.transfer_id]);
    await json.run('transfers list', ['--asset', 'USDT', '--limit', '1']);
    await json.run('transfers list', ['--needs-attention']);
  });

  test('funds, routes, policies, registries', async () => {
    await json.run('balances', ['--venue', 'paper-main']);
    await json.run('routes list', ['--health']);
    await json.run('routes recommend', ['--asset', 'USDC', '--amount', '10']);
    const strategy = unique('strategy');
    const limits = ['--max-amount', '10', '--window-hours', '24', '--max-amount-per-window', '50'];
    const policy = await json.run<{ policy_id: string }>('policies create', [
      '--client',
      shared.adminClientId,
      '--strategy',
      strategy,
      '--allow-asset',
      'USDC',
      '--allow-template',
      gated,
      ...limits,
      '--yes',
    ]);
    await json.run('policies update', [policy.policy_id, '--active', 'false', '--yes']);
    await json.run('policies show', [policy.policy_id]);
    await json.run('policies list');
    await json.run('approvals people');
    await json.run('approvals groups');
    await json.run('approvals rules');
    await json.run('budgets', [strategy]);
    await json.run('executors list');
    await json.run('signers list');
    await json.run('signers show', ['test-wallet']);
    const lane = freshAddress().toLowerCase();
    await sql(
      `INSERT INTO nonce_lanes (chain_id, address, next_nonce, signer_key)
       VALUES ($1, $2, 1, $3)`,
      [shared.chain.chainId, lane, PURSE_SIGNER.signer_key],
    );
    const raises = [PURSE_SIGNER.signer_key, String(shared.chain.chainId), '--address', lane];
    const cap = ['--max-gas-cost-wei', '90000000000000000', '--ttl-seconds', '60'];
    expect(
      await json.run('signers raise-caps', [...raises, ...cap, '--reason', 'a test', '--yes']),
    ).toMatchObject({ address: lane, raise: { reason: 'a test' } });
    expect((await run('signers', 'show', PURSE_SIGNER.signer_key)).out).toMatch(
      /raised +until .*a test/,
    );
    await sql('DELETE FROM nonce_lanes WHERE address = $1', [lane]);
    await json.run('signers inventory', ['test-wallet', '--no-persist']);
    await json.run('signers allowances', ['test-wallet']);
    await json.run('signers history', ['test-wallet']);
    const drift = await runFundctl(env, ['registry', 'verify-drift', '--output', 'json']);
    await json.run('registry verify-drift', [], { status: drift.status });
    await json.run('registry audit', ['--limit', '3']);
    await json.run('cutover show');
    await json.run('callbacks list', ['--limit', '3']);
    await json.run('callbacks dead-letters', ['--limit', '3']);
    await json.run('audit list', ['--action', 'movement.create', '--limit', '3']);
    await json.run('audit seal');
    await json.run('keys whoami');
    expect(await json.run('search', ['no-such-name'])).toEqual({ hits: [] });
  });

  test('bridges', async () => {
    const [from, to] = [unique('chain'), unique('chain')];
    const chain = (index: number): readonly string[] => [
      '--endpoint',
      `${String(index)}:${freshAddress()}`,
      '--finality-age',
      '60',
      '--yes',
    ];
    const eid = 40_000 + Math.floor(Math.random() * 10_000);
    await json.run('bridges add-chain', [from, ...chain(eid)]);
    await json.run('bridges add-chain', [to, ...chain(eid + 1)]);
    await json.run('bridges replace-chain', [from, ...chain(eid + 2)]);
    await json.run('bridges chains');
    const path = [from, to, 'USDX'];
    const limits = ['--expected-latency', '60', '--detection-budget', '600', '--fee-budget', '0.1'];
    await json.run('bridges add-baseline', [...path, ...limits, '--yes']);
    await json.run('bridges replace-baseline', [...path, ...limits, '--enabled', 'true', '--yes']);
    await json.run('bridges drill-pass', [...path, '--evidence', 'drills/1.json', '--yes']);
    await json.run('bridges baselines');
    await json.run('bridges refresh');
    await json.run('bridges remove-baseline', [...path, '--yes']);
    await json.run('bridges remove-chain', [from, '--yes']);
    await json.run('bridges remove-chain', [to, '--yes']);
  });

  test('the allowlist, changed with the key of an operator', async () => {
    const address = freshAddress();
    const row = await json.run<{ id: string }>(
      'allowlist add',
      [address, '--family', 'evm', '--label', 'cold wallet', '--reason', 'a test', '--yes'],
      { env: dashboard },
    );
    const why = [row.id, '--reason', 'a test', '--yes'];
    await json.run('allowlist revoke', why, { env: dashboard });
    await json.run('allowlist reactivate', why, { env: dashboard });
    await json.run('allowlist revoke', why, { env: dashboard });
    await json.run('allowlist list', ['--inactive', '--all']);
    const without = await run('allowlist', 'revoke', ...why);
    expect([without.status, without.err]).toEqual([
      2,
      expect.stringMatching(/^fundctl: [^\n]*SVC_DASHBOARD_OPERATOR[^\n]*\n$/),
    ]);
  });

  test('changes that wait for people', async () => {
    const group = 'fundctl-desk';
    const people = ['fundctl-carl', 'fundctl-dora'];
    const desk = await startApprovalDesk(group, people, unique('no-template'));
    try {
      const [carl = shared.keys.operator, dora = shared.keys.operator] = desk.keys;
      const asCarl = { env: clientEnv(shared.apiUrl, carl) };
      const [accepted, refused, withdrawn] = [
        await changeRequest(group),
        await changeRequest(group),
        await changeRequest(group),
      ];
      const { change_requests: open } = await json.run<{
        change_requests: readonly { change_request_id: string }[];
      }>('changes list', ['--state', 'open', '--kind', 'policies', '--all']);
      expect(open.map((each) => each.change_request_id)).toEqual(
        expect.arrayContaining([accepted.id, refused.id, withdrawn.id]),
      );
      expect(await json.run('changes show', [accepted.id])).toMatchObject({
        hash: accepted.hash,
        approvals: { required: [{ missing: 2 }], you: { may: false, why_not: 'no_person' } },
      });
      const why = ['--reason', 'a test', '--yes'];
      expect(await json.run('changes reject', [refused.id, ...why], asCarl)).toMatchObject({
        state: 'rejected',
      });
      expect(await json.run('changes withdraw', [withdrawn.id, '--yes'])).toMatchObject({
        state: 'withdrawn',
      });
      const approved = [accepted.id, '--hash', accepted.hash, ...why];
      const back = [accepted.id, '--yes'];
      for (let again = 0; again < 2; again += 1) {
        expect(await json.run('changes approve', approved, asCarl)).toMatchObject({
          state: 'open',
          approvals: { required: [{ missing: 1 }], decisions: [{ person: 'fundctl-carl' }] },
        });
        if (again === 0)
          expect(await json.run('changes withdraw-approval', back, asCarl)).toMatchObject({
            state: 'open',
            approvals: { required: [{ missing: 2 }], decisions: [] },
          });
      }
      // No rule in force holds for it, so the last approval does not make its call.
      const asDora = clientEnv(shared.apiUrl, dora);
      expect(await runFundctl(asDora, ['changes', 'approve', ...approved])).toMatchObject({
        status: 3,
        out: '',
        err: expect.stringMatching(/^fundctl: change_outdated \(409\): [^\n]+\n$/m),
      });
      expect(await json.run('changes show', [accepted.id])).toMatchObject({ state: 'outdated' });
    } finally {
      await desk.close();
    }
  });

  test('what an agent proposes is shown and promoted, and its limits', async () => {
    const of = await agent();
    const { body } = await propose(of, { requested_notional: '999999' });
    expect(await json.run('authorities show', [of.authority])).toMatchObject({
      authority_key: of.authority,
    });
    const { proposal_id: id } = body;
    expect(await json.run('proposals show', [id])).toMatchObject({ status: 'submitted' });
    const listed = await run('proposals', 'list', '--authority', of.authority);
    expect(listed.out).toMatch(new RegExp(`${id} .*submitted.*USDC.*999999.*notional_exceeded`));
    const none = ['--authority', of.authority, '--status', 'rejected'];
    expect(await json.run('proposals list', none)).toEqual({
      template_proposals: [],
      next_cursor: null,
    });
    const unconfirmed = await run('proposals', 'promote', id);
    expect([unconfirmed.status, unconfirmed.err]).toEqual([
      2,
      expect.stringContaining('confirmation'),
    ]);
    expect(await json.run('proposals promote', [id, '--yes'])).toMatchObject({
      proposal_id: id,
      promotion_mode: 'admin',
    });
    const { out } = await run('proposals', 'show', id);
    expect(out).toMatch(/reasons +notional_exceeded\n/);
    expect(out).toMatch(/requested_notional +999999\n/);
  });

  test('the dead letters of a movement are sent again, and no others', async () => {
    const { movement_id: id } = await created('--callback-url', 'https://a.example/');
    await json.run('movements reject', [id, '--yes']);
    const sent = await json.run<{ redelivered: readonly string[] }>('callbacks redeliver-all', [
      '--movement',
      id,
      '--since',
      '2020-01-01T00:00:00Z',
      '--yes',
    ]);
    const { callbacks } = await json.run<{ callbacks: readonly { event_id: string }[] }>(
      'callbacks list',
      ['--movement', id],
    );
    expect(sent.redelivered).toEqual(callbacks.map(({ event_id }) => event_id));
    expect(sent.redelivered).toHaveLength(1);
  });

  test('a bundle of the audit trail, and this program itself', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const [key, pub] = [join(folder, 'key.pem'), join(folder, 'key.pub')];
    writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
    writeFileSync(pub, publicKey.export({ type: 'spki', format: 'pem' }));
    const out = join(folder, 'bundle.jsonl');
    const [from, to] = [3_600_000, 0].map((ago) => new Date(Date.now() - ago).toISOString());
    const range = ['--from', from ?? '', '--to', to ?? ''];
    // What is not sealed yet is not exported.
    await waitFor(async () => {
      const words = ['audit', 'export', ...range, '--out', out, '--key-file', key];
      return (await tool(words)).status === 0;
    });
    expect(await json.run('audit check-bundle', [out, '--public-key', pub])).toMatchObject({
      ok: true,
      trusted: true,
    });
    await json.run('config check');
    await json.run('schema', ['movements', 'list']);
    await json.run('completion', ['bash']);
  });

  test('and that is every command, but for those of test/slow', () => {
    expect([...json.covered, ...ELSEWHERE].sort()).toEqual(LEAVES.map(({ path }) => path).sort());
  });
});

describe('how it ends', () => {
  const line = /^fundctl: [^\n]+\n$/;
  const wrong = { keyId: 'unknown', secret: 'a secret that must not be shown' };

  test('a wrong key, a dead server and a wrong flag are one line each, and 3, 4, 2', async () => {
    const dead = `http://127.0.0.1:${String(await freePort())}`;
    const [key, server, option] = await Promise.all([
      spawnFundctl(clientEnv(shared.apiUrl, wrong), ['movements', 'list']),
      spawnFundctl(clientEnv(dead, shared.keys.admin), ['movements', 'list']),
      spawnFundctl(env, ['movements', 'list', '--stat', 'FAILED']),
    ]);
    expect([key.status, server.status, option.status]).toEqual([3, 4, 2]);
    for (const { out, err } of [key, server, option])
      expect([out, err]).toEqual(['', expect.stringMatching(line)]);
    expect(option.err).toContain('Did you mean --state?');
    expect(key.err + key.out).not.toContain(wrong.secret);
  });

  test('what is refused is 3, what is not there too, and a wait that is over 5', async () => {
    const { movement_id: id } = await created();
    const unknown = randomUUID();
    expect((await run('movements', 'show', unknown)).status).toBe(3);
    expect((await run('movements', 'show', 'no-id')).err).toContain('movement_id');
    const waited = await run('movements', 'watch', id, '--timeout', '1');
    expect([waited.status, waited.err]).toEqual([
      5,
      expect.stringMatching(/still PENDING_APPROVAL/),
    ]);
    await run('movements', 'reject', id, '--yes');
    expect(await run('movements', 'approve', id, '--yes')).toMatchObject({ status: 3 });
  });

  test('an id may be shortened where it is unique, to look and not to move', async () => {
    // The first eight characters stand for about a minute.
    const beginning = (of: Created): string => of.movement_id.slice(0, 8);
    let [first, second] = [await created(), await created()];
    while (beginning(first) !== beginning(second)) [first, second] = [second, await created()];
    const { movement_id: id } = second;
    // As long as it is still that of both: other files make movements meanwhile.
    let both = beginning(second);
    while (first.movement_id.startsWith(id.slice(0, both.length + 1)))
      both = id.slice(0, both.length + 1);
    const found = await run('movements', 'show', id.slice(0, -8).toUpperCase());
    expect([found.status, found.out, found.err]).toEqual([
      0,
      expect.stringContaining(id),
      expect.stringContaining(`Movement ${id}`),
    ]);
    const either = await run('movements', 'timeline', both);
    expect([either.status, either.out]).toEqual([2, '']);
    expect(either.err).toContain(`movements begin with ${both}: `);
    for (const { movement_id } of [first, second])
      expect(either.err).toContain(`${movement_id} (PENDING_APPROVAL)`);
    const nothing = await run('movements', 'show', 'ffffffff-0000');
    expect([nothing.status, nothing.err]).toEqual([
      3,
      expect.stringContaining('no movement whose'),
    ]);
    for (const command of ['approve', 'reject', 'cancel'])
      expect(await run('movements', command, id.slice(0, -8), '--yes')).toMatchObject({
        status: 3,
        err: expect.stringContaining('movement_id') as string,
      });
    expect(await json.run('movements show', [id])).toMatchObject({
      request_state: 'PENDING_APPROVAL',
    });
  });

  test('without a terminal and without --yes nothing that asks is done', async () => {
    const { movement_id: id } = await created();
    const refused = await spawnFundctl(env, ['movements', 'approve', id], 'y\n');
    expect([refused.status, refused.out]).toEqual([2, '']);
    expect(refused.err).toMatch(line);
    expect(await json.run('movements show', [id])).toMatchObject({
      request_state: 'PENDING_APPROVAL',
    });
  });

  test('another hash than the one that was read is not approved', async () => {
    const { movement_id: id } = await created();
    const other = await run('movements', 'approve', id, '--hash', '0'.repeat(64), '--yes');
    expect([other.status, other.err]).toEqual([1, expect.stringContaining('hash')]);
    expect((await json.run('movements show', [id]))['request_state']).toBe('PENDING_APPROVAL');
  });
});

test('a plan beyond its own limit ends a preview with 1 and is approved only with --over-limit', async () => {
  const { template_key } = await register(
    template([noop('step', { risk_patch: { max_amount: '2' } })]),
  );
  const request = ['--template', template_key, '--asset', 'USDC', '--amount', '3'];
  expect(await run('movements', 'preview', ...request)).toMatchObject({
    status: 1,
    err: expect.stringContaining('MAX_AMOUNT_EXCEEDED') as unknown,
  });
  const { movement_id: id } = await json.run<Created>('movements create', request);
  const plan = await run('movements', 'plan', id);
  expect(plan.out).toMatch(/nodes\.step\.max_amount +2 +- +3 +NO/);
  expect(plan.out).toMatch(/What would fail now\nstep +MAX_AMOUNT_EXCEEDED/);
  expect(plan.out).toContain(`key ${shared.keys.admin.keyId}, admin`);
  const refused = await run('movements', 'approve', id, '--yes');
  expect([refused.status, refused.err]).toEqual([1, expect.stringContaining('--over-limit')]);
  const state = async () => (await json.run('movements show', [id]))['request_state'];
  expect(await state()).toBe('PENDING_APPROVAL');
  await json.run('movements approve', [id, '--over-limit', '--yes']);
  await reaches(id, 'FAILED');
});

test("a team's payee is shown with its standing, and no address stands in a table", async () => {
  const { template_key } = await register(
    template([
      {
        node_key: 'pay',
        node_kind: 'action',
        action_type: 'test_team_payment',
        executor_selector: { action_type: 'test_team_payment' },
        has_side_effect: true,
        config: { payee: 'iban-unlisted', venue: 'their-bank', tag: '17' },
      },
    ]),
  );
  const request = ['--template', template_key, '--asset', 'USDC', '--amount', '3'];
  const preview = await run('movements', 'preview', ...request);
  expect([preview.status, preview.err]).toEqual([
    1,
    expect.stringContaining('ADDRESS_NOT_ALLOWLISTED'),
  ]);
  const { movement_id: id } = await json.run<Created>('movements create', request);
  const { out } = await run('movements', 'plan', id);
  expect(out).not.toContain('between own accounts');
  for (const shown of [preview.out, out]) {
    expect(shown).toMatch(/pays +iban-unlisted\n/);
    expect(shown).toMatch(/allowlist +ADDRESS_NOT_ALLOWLISTED/);
    expect(shown).toMatch(/tag +17\n/);
  }
  await run('movements', 'reject', id, '--yes');
});

test('a gate says what a person is to look at, in plan, detail and attention; its template alone', async () => {
  const look = 'Is the payee the one of the contract?';
  const of = await register(
    template([noop('step'), gate('look', { config: { description: look } }), gate('other')]),
  );
  const { movement_id: id } = await json.run<Created>('movements create', [
    '--template',
    of.template_key,
    '--asset',
    'USDC',
    '--amount',
    '1',
    '--param',
    'node_config={"description":"nothing to look at"}',
  ]);
  const plan = await run('movements', 'plan', id);
  expect(plan.out).toMatch(`Where it waits for a person\nlook  ${look}\n`);
  expect(plan.out.replace(look, '')).not.toContain('nothing to look at');
  await run('movements', 'approve', id, '--yes');
  await reaches(id, 'WAITING_MANUAL_ACTION');
  const seen = await json.run<{ nodes: unknown; attention: unknown }>('movements show', [id]);
  expect(seen).toMatchObject({
    attention: { reason: 'manual_gate', description: look, idempotency_key: null },
    nodes: [
      { description: null, idempotency_key: `${id}:step:1` },
      { description: look },
      { description: null },
    ],
  });
  const shown = await run('movements', 'show', id);
  expect(shown.out).toMatch(new RegExp(`what to look at +${look.replace('?', '\\?')}\n`));
  expect(shown.out).toContain(`fundctl movements resume ${id} --node look\n`);
  const long = template([gate('look', { config: { description: 'x'.repeat(1_001) } })]);
  expectInvalid(await post('/plan-templates', long), 'nodes[0].config.description');
});

describe('what people see', () => {
  test('an approval repeats amounts, destinations with their labels, signer and executors', async () => {
    const { id } = await json.run<{ id: string }>(
      'allowlist add',
      [freshAddress(), '--family', 'evm', '--reason', 'a test', '--yes', '--label', 'desk wallet'],
      { env: dashboard },
    );
    // As a row of before may have it; no label like this is taken now.
    await sql('UPDATE allowed_addresses SET label = $2 WHERE id = $1', [
      id,
      'desk\u001b[2Jwallet\u202e',
    ]);
    const rows = await json.run<{ allowed_addresses: { id: string; address: string }[] }>(
      'allowlist list',
      ['--all'],
    );
    const address = rows.allowed_addresses.find((row) => row.id === id)?.address ?? '';
    const pays = await register(
      template([
        {
          node_key: 'pay',
          node_kind: 'action',
          action_type: 'evm_erc20_transfer',
          executor_selector: { action_type: 'evm_erc20_transfer', chain_family: 'evm' },
          signer_selector: { chain_family: 'evm', profile: 'test-wallet' },
          has_side_effect: true,
          config: {
            asset: 'USDC',
            chain_id: shared.chain.chainId,
            token_address: shared.chain.tokens.USDC.address,
            destination_address: address,
          },
        },
      ]),
    );
    const made = await json.run<Created>('movements create', [
      '--template',
      pays.template_key,
      '--asset',
      'USDC',
      '--amount',
      '7.25',
    ]);
    const { out } = await run('movements', 'plan', made.movement_id);
    for (const part of [
      '7.25 USDC',
      address,
      'test-wallet',
      'evm.transfer',
      made.compiled_plan_hash,
    ])
      expect(out).toContain(part);
    // A hostile label does not drive the terminal.
    expect(out).toContain('desk\\u001b[2Jwallet\\u202e');
    expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    await run('movements', 'reject', made.movement_id, '--yes');
  });

  test('piped, nothing has colour and nothing moves the cursor', async () => {
    const { movement_id: id } = await created();
    for (const args of [
      ['movements', 'list'],
      ['movements', 'show', id],
      ['movements', 'graph', id],
      ['executors', 'list'],
      ['--help'],
    ]) {
      const { status, out, err } = await spawnFundctl({ ...env, FORCE_COLOR: '1' }, args);
      expect([args, status]).toEqual([args, 0]);
      expect(out + err).not.toContain('\u001b');
    }
  });

  test('a label of a movement is shown without its control characters, in JSON too', async () => {
    const label = `desk=${'\u001b'}]0;owned${'\u0007'}${'\u009b'}31m`;
    const { movement_id: id } = await created('--label', label);
    for (const more of [[], ['--output', 'json']]) {
      const { out } = await run('movements', 'show', id, ...more);
      expect(out).toContain('owned');
      expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    }
  });
});

test('a create whose answer is lost tells the key with which a repeat is safe', async () => {
  const proxy = await startBadProxy(shared.apiUrl, ({ method, path }, text) =>
    method === 'POST' && path === '/v3/movements' && !text.includes('would_create') ? null : text,
  );
  const request = [
    'movements',
    'create',
    '--template',
    gated,
    '--asset',
    'USDC',
    '--amount',
    '1',
    '--label',
    `run=${unique('lost')}`,
  ];
  try {
    const lost = await runFundctl(clientEnv(proxy.url, shared.keys.admin), request);
    expect([lost.status, lost.out]).toEqual([4, '']);
    const key = /--idempotency-key (\S+?):/.exec(lost.err)?.[1] ?? '';
    const again = await run(...request, '--idempotency-key', key);
    expect([again.status, again.err]).toEqual([0, expect.stringContaining('first request')]);
  } finally {
    await proxy.close();
  }
});

test('a plan that is not what its hash says is never approved', async () => {
  const proxy = await startBadProxy(shared.apiUrl, ({ path }, text) =>
    path.endsWith('/plan') ? text.replace('"amount":"1"', '"amount":"9"') : text,
  );
  try {
    const { movement_id: id } = await created();
    const env = clientEnv(proxy.url, shared.keys.admin);
    for (const verb of ['plan', 'approve']) {
      const yes = verb === 'approve' ? ['--yes'] : [];
      const { status, out, err } = await runFundctl(env, ['movements', verb, id, ...yes]);
      expect([status, out, err]).toEqual([1, '', expect.stringContaining('do not trust the plan')]);
    }
    expect((await json.run('movements show', [id]))['request_state']).toBe('PENDING_APPROVAL');
  } finally {
    await proxy.close();
  }
});

test('profiles: a file that holds a secret is read with mode 600 alone, and never shown', async () => {
  const { keyId, secret: hmac } = shared.keys.operator;
  const config = join(folder, 'config.json');
  const profiles = { desk: { api_url: shared.apiUrl, key_id: keyId, secret: hmac } };
  writeFileSync(config, JSON.stringify({ default_profile: 'desk', profiles }), { mode: 0o644 });
  const own = { SVC_CLIENT_CONFIG: config };
  const open = await runFundctl(own, ['keys', 'whoami']);
  expect([open.status, open.err]).toEqual([2, expect.stringContaining('chmod 600')]);
  rmSync(config);
  writeFileSync(config, JSON.stringify({ default_profile: 'desk', profiles }), { mode: 0o600 });
  expect(await runFundctl(own, ['keys', 'whoami', '--output', 'json'])).toMatchObject({
    status: 0,
    out: expect.stringContaining('"role": "operator"'),
  });
  // The environment stands before the file's choice, a profile that is named before both.
  const both = { ...env, ...own };
  expect((await runFundctl(both, ['keys', 'whoami'])).out).toContain('admin');
  expect((await runFundctl(both, ['keys', 'whoami', '--profile', 'desk'])).out).toContain(
    'operator',
  );
  const shown = await runFundctl(both, ['config', 'check', '--profile', 'desk']);
  expect(shown.out).toContain('of profile "desk"');
  for (const { out, err } of [open, shown])
    for (const each of [hmac, shared.keys.admin.secret]) expect(out + err).not.toContain(each);
});

test('a template is checked offline by the rules of the service', async () => {
  const nodes = [noop('a'), noop('b')];
  const cases = [
    template(nodes, { edges: [] }),
    template(nodes, { edges: [edge('a', 'b'), edge('b', 'a')] }),
    template([noop('a')], { edges: [edge('a', 'nowhere')] }),
    template([noop('a')], { completion_policy: null }),
    template([noop('a')], { version: 0 }),
    template([noop('a')], { surprise: true }),
    template(nodes, {
      edges: [edge('a', 'b', 'on_success', { condition_expr: 'intent.amount > "9"' })],
    }),
    template(nodes),
  ];
  for (const body of cases) {
    const { status, out } = await runFundctl(
      { SVC_CLIENT_CONFIG: '/nonexistent' },
      ['templates', 'validate', '-', '--output', 'json'],
      JSON.stringify(body),
    );
    const here = JSON.parse(out) as { valid: boolean; non_executable_reasons: string[] };
    const { status: there, body: answer } = await post<Record<string, unknown>>(
      '/plan-templates',
      body,
    );
    expect([body, here.valid]).toEqual([body, there === 201]);
    const reasons = there === 201 ? answer['non_executable_reasons'] : [];
    expect(here.non_executable_reasons).toEqual(reasons);
    expect(status).toBe(here.valid && here.non_executable_reasons.length === 0 ? 0 : 1);
  }
});
