/** The key tool, as an operator uses it. */
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import {
  approval,
  create,
  detail,
  expectRefusal,
  gated,
  must,
  sendAs,
  shared,
  sql,
  waitFor,
} from '../support/http.ts';
import { issueKey, tool } from '../support/tool.ts';

const listed = async (client: string): Promise<Record<string, unknown>[]> =>
  JSON.parse((await tool(['keys', 'list', '--client-name', client])).out) as Record<
    string,
    unknown
  >[];
const whoami = (key: { keyId: string; secret: string }) =>
  sendAs<Record<string, unknown>>(key, 'GET', '/whoami');

test('a key is issued once, printed once, and signs at once', async () => {
  const { status, out, err } = await tool([
    'keys',
    'issue',
    '--client-name',
    'desk',
    '--key-id',
    'desk-test-1',
    '--role',
    'operator',
  ]);
  expect([status, err]).toEqual([0, '']);
  const issued = JSON.parse(out) as Record<string, string>;
  expect(issued).toEqual({
    client_id: expect.any(String),
    client_name: 'desk',
    key_id: 'desk-test-1',
    role: 'operator',
    hmac_secret: expect.stringMatching(/^[0-9a-f]{64}$/),
    cert_fingerprint: null,
    created_at: expect.any(String),
  });
  expect(
    await must(200, whoami({ keyId: 'desk-test-1', secret: issued['hmac_secret'] ?? '' })),
  ).toEqual({
    client_id: issued['client_id'],
    key_id: 'desk-test-1',
    role: 'operator',
  });
  // Nothing of the secret is stored readable, and the list does not show it.
  const [row] = await sql<{ secret: Buffer }>(
    'SELECT secret FROM api_client_keys WHERE key_id = $1',
    ['desk-test-1'],
  );
  expect(row?.secret.includes(Buffer.from(issued['hmac_secret'] ?? '', 'utf8'))).toBe(false);
  expect(JSON.stringify(await listed('desk'))).not.toContain(issued['hmac_secret']);
  // A second try gives no second secret.
  expect(
    await tool([
      'keys',
      'issue',
      '--client-name',
      'desk',
      '--key-id',
      'desk-test-1',
      '--role',
      'admin',
    ]),
  ).toMatchObject({
    status: 1,
    out: '',
    err: expect.stringContaining('The key id desk-test-1 is in use'),
  });
});

test('keys of one client share it; rotation is issue, use, revoke', async () => {
  const first = await issueKey(
    '--client-name',
    'rotating',
    '--key-id',
    'rotating-1',
    '--role',
    'operator',
  );
  const second = await issueKey(
    '--client-name',
    'rotating',
    '--key-id',
    'rotating-2',
    '--role',
    'operator',
  );
  expect(second.clientId).toBe(first.clientId);
  expect((await whoami(first)).status).toBe(200);
  expect((await whoami(second)).status).toBe(200);
  const revoked = await tool(['keys', 'revoke', '--key-id', 'rotating-1', '--reason', 'rotation']);
  expect(JSON.parse(revoked.out)).toMatchObject({
    key_id: 'rotating-1',
    key_status: 'revoked',
    was: 'active',
  });
  expect((await whoami(first)).status).toBe(401);
  expect((await whoami(second)).status).toBe(200);
  expect((await listed('rotating')).map(({ key_id, key_status }) => [key_id, key_status])).toEqual([
    ['rotating-1', 'revoked'],
    ['rotating-2', 'active'],
  ]);
  // A repeat is no fault and leaves no second row; an unknown key is one.
  expect((await tool(['keys', 'revoke', '--key_id', 'rotating-1'])).status).toBe(0);
  expect((await tool(['keys', 'revoke', '--key-id', 'nothing'])).status).toBe(1);
  const audit = await sql(
    'SELECT action, outcome, reason, actor_key_id FROM audit_events WHERE entity_key = $1 ORDER BY occurred_at',
    ['rotating-1'],
  );
  expect(audit.filter(({ action }) => action !== 'api_key.authenticate')).toEqual([
    { action: 'api_key.issue', outcome: 'success', reason: null, actor_key_id: null },
    { action: 'api_key.revoke', outcome: 'success', reason: 'rotation', actor_key_id: null },
  ]);
});

test('a key that is revoked while its approval waits approves nothing', async () => {
  const key = await issueKey(
    '--client-name',
    'hurried',
    '--key-id',
    'hurried-1',
    '--role',
    'operator',
  );
  const movement = await create(await gated());
  const path = `/movements/${movement.movement_id}/approve`;
  const holder = new pg.Client({ connectionString: shared.databaseUrl });
  await holder.connect();
  try {
    await holder.query('BEGIN');
    await holder.query('SELECT FROM movements WHERE movement_id = $1 FOR UPDATE', [
      movement.movement_id,
    ]);
    const answer = sendAs(key, 'POST', path, approval(movement));
    const [{ pid } = { pid: 0 }] = (
      await holder.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
    ).rows;
    await waitFor(async () => {
      const waiting = await sql(
        'SELECT FROM pg_stat_activity WHERE pg_blocking_pids(pid) @> ARRAY[$1::integer]',
        [pid],
      );
      return waiting.length > 0;
    });
    expect((await tool(['keys', 'revoke', '--key-id', 'hurried-1'])).status).toBe(0);
    await holder.query('ROLLBACK');
    expectRefusal(await answer, 401, 'unauthenticated');
  } finally {
    await holder.end();
  }
  expect(await detail(movement.movement_id)).toMatchObject({
    request_state: 'PENDING_APPROVAL',
    approved_by: null,
  });
});

test('the keys of an inactive client open nothing, and open again once it is active', async () => {
  const first = await issueKey(
    '--client-name',
    'resting',
    '--key-id',
    'resting-1',
    '--role',
    'operator',
  );
  const second = await issueKey(
    '--client-name',
    'resting',
    '--key-id',
    'resting-2',
    '--role',
    'admin',
  );
  const other = await issueKey(
    '--client-name',
    'awake',
    '--key-id',
    'awake-1',
    '--role',
    'operator',
  );
  const statuses = () =>
    Promise.all([first, second, other].map(async (key) => (await whoami(key)).status));
  const set = (status: string) =>
    sql('UPDATE api_clients SET status = $1 WHERE client_id = $2', [status, first.clientId]);
  expect(await statuses()).toEqual([200, 200, 200]);
  await set('inactive');
  expect(await statuses()).toEqual([401, 401, 200]);
  expect((await sendAs(second, 'POST', '/plan-templates', {})).status).toBe(401);
  await set('active');
  expect(await statuses()).toEqual([200, 200, 200]);
});

test('an agent has an authority, and an authority one key', async () => {
  const agent = ['--role', 'agent', '--authority-key', 'treasury-bot'];
  const limits = [
    '--max-notional',
    '1000.50',
    '--allowed-assets',
    'usdc, USDT',
    '--allowed-chains',
    'base',
    '--max-ttl-seconds',
    '600',
  ];
  const first = await issueKey('--client-name', 'bot', '--key-id', 'bot-1', ...agent, ...limits);
  expect(await must(200, sendAs(first, 'GET', '/agent-authorities/treasury-bot'))).toMatchObject({
    namespace: 'agent/treasury-bot',
    max_notional: '1000.5',
    allowed_assets: ['USDC', 'USDT'],
    allowed_chains: ['base'],
    max_ttl_seconds: 600,
    key_id: 'bot-1',
  });
  expect(
    await tool(['keys', 'issue', '--client-name', 'bot', '--key-id', 'bot-2', ...agent]),
  ).toMatchObject({
    status: 1,
    err: expect.stringContaining('--replace'),
  });
  expect((await whoami(first)).status).toBe(200);
  const second = await issueKey(
    '--client-name',
    'bot',
    '--key-id',
    'bot-2',
    ...agent,
    '--replace',
    '--max-notional',
    '5',
  );
  expect((await whoami(first)).status).toBe(401);
  // What was not said again stays.
  expect(await must(200, sendAs(second, 'GET', '/agent-authorities/treasury-bot'))).toMatchObject({
    max_notional: '5',
    allowed_assets: ['USDC', 'USDT'],
    key_id: 'bot-2',
  });
});

test('a secret of one’s own comes from a file', async () => {
  const file = join(tmpdir(), `own-secret-${process.pid}`);
  const secret = 'correct horse battery staple, and more';
  writeFileSync(file, `${secret}\n`, { mode: 0o600 });
  const args = ['--client-name', 'own', '--role', 'operator', '--hmac-secret-file', file];
  expect((await issueKey(...args, '--key-id', 'own-1')).secret).toBe(secret);
  expect((await whoami({ keyId: 'own-1', secret })).status).toBe(200);
});

test.each<[string, readonly string[], string]>([
  ['no role', ['--client-name', 'x', '--key-id', 'x'], '--role'],
  ['a role that there is not', ['--client-name', 'x', '--key-id', 'x', '--role', 'read'], 'role'],
  ['a bad name', ['--client-name', 'a b', '--key-id', 'x', '--role', 'admin'], '--client-name'],
  ['a bad id', ['--client-name', 'x', '--key-id', 'ä', '--role', 'admin'], '--key-id'],
  [
    'a client that could pass for an operator of the dashboard',
    ['--client-name', 'dashboard:ops-1', '--key-id', 'x', '--role', 'admin'],
    '--client-name',
  ],
  [
    'a key that could',
    ['--client-name', 'x', '--key-id', 'dashboard:ops-1', '--role', 'admin'],
    '--key-id',
  ],
  [
    'a guessable secret',
    ['--client-name', 'x', '--key-id', 'x', '--role', 'admin', '--hmac-secret', 'short'],
    '32',
  ],
  [
    'a bad fingerprint',
    ['--client-name', 'x', '--key-id', 'x', '--role', 'admin', '--cert-fingerprint', 'zz'],
    '--cert-fingerprint',
  ],
  [
    'an agent without authority',
    ['--client-name', 'x', '--key-id', 'x', '--role', 'agent'],
    '--authority-key',
  ],
  [
    'an admin with one',
    ['--client-name', 'x', '--key-id', 'x', '--role', 'admin', '--authority-key', 'a'],
    '--role agent',
  ],
  [
    'a limit that is no decimal',
    [
      '--client-name',
      'x',
      '--key-id',
      'x',
      '--role',
      'agent',
      '--authority-key',
      'a',
      '--max-notional',
      '1e3',
    ],
    'decimal',
  ],
])('refuses %s, and writes nothing', async (_what, args, why) => {
  // Of these names alone: other files issue keys at the same time.
  const named = args.map((each) => `'${each}'`).join(', ');
  const count = () =>
    sql(
      `SELECT (SELECT count(*) FROM api_clients WHERE client_name IN (${named})) AS clients,
        (SELECT count(*) FROM api_client_keys WHERE key_id IN (${named})) AS keys`,
    );
  const before = await count();
  expect(await tool(['keys', 'issue', ...args])).toMatchObject({
    status: 2,
    out: '',
    err: expect.stringContaining(why),
  });
  expect(await count()).toEqual(before);
});

test('the tool says what it needs', async () => {
  const issue = ['keys', 'issue', '--client-name', 'x', '--key-id', 'x', '--role', 'admin'];
  expect((await tool(issue, {})).err).toContain('SVC_DATABASE_URL');
  const { SVC_DATABASE_URL = '' } = shared.toolEnv;
  expect((await tool(issue, { SVC_DATABASE_URL })).err).toContain('SVC_SECRETS_KEY');
});

test('the database itself takes no client and no key that could pass for an operator of the dashboard', async () => {
  await expect(
    sql(
      "INSERT INTO api_clients (client_id, client_name, created_at) VALUES (gen_random_uuid(), 'dashboard:ops-1', now())",
    ),
  ).rejects.toThrow('client_name_check');
  await expect(
    sql(
      "INSERT INTO api_client_keys (key_id, client_id, role, secret, created_at) SELECT 'dashboard:ops-1', client_id, 'admin', 'x', now() FROM api_clients LIMIT 1",
    ),
  ).rejects.toThrow('key_id_check');
  const named = { keyId: 'dashboard:ops-1', secret: shared.dashboardKeys['ops-1'] ?? '' };
  expect((await whoami(named)).status).toBe(401);
});

test('the database itself knows three roles, and keeps an issued key as it is', async () => {
  const change = (set: string) =>
    sql(`UPDATE api_client_keys SET ${set} WHERE key_id = 'dev-operator'`);
  await expect(change("role = 'read'")).rejects.toThrow();
  await expect(change("role = 'admin'")).rejects.toThrow('only be revoked');
  await expect(change("secret = 'x'")).rejects.toThrow('only be revoked');
  await expect(sql("DELETE FROM api_client_keys WHERE key_id = 'dev-operator'")).rejects.toThrow(
    'only be revoked',
  );
  await expect(
    sql(
      "UPDATE api_client_keys SET status = 'active', revoked_at = NULL WHERE key_id = 'rotating-1'",
    ),
  ).rejects.toThrow();
});
