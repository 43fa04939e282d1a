/**
 * Operators of the console, as their browsers enrol, and what a session may do: read, and no more.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectDatabase } from '../../prisma/client.ts';
import { changeApprovers } from '../../store/approvals.ts';
import { routes } from '../../venues/routes.ts';
import { startApprovalDesk } from '../support/approval-desk.ts';
import { eventually } from '../support/eventually.ts';
import { dashboardHeaders } from '../support/dashboard.ts';
import { openStream } from '../support/event-stream.ts';
import {
  approval,
  create,
  detail,
  gate,
  reaches,
  registered,
  shared,
  sql,
  type CreatedView,
} from '../support/http.ts';
import { tool } from '../support/tool.ts';

const port = new URL(shared.apiUrl).port;
const HERE = `http://localhost:${port}`;
const COOKIE = `svc-session-${port}`;
const SAME = { 'sec-fetch-site': 'same-origin' };

interface Got {
  readonly status: number;
  readonly cookie: string | null;
  readonly body: Record<string, unknown> & { readonly detail?: Record<string, unknown> };
}
async function ask(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body?: string,
): Promise<Got> {
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const response = await fetch(HERE + path, {
    method,
    headers: { ...type, ...headers },
    ...(body === undefined ? {} : { body }),
  });
  return {
    status: response.status,
    cookie: response.headers.get('set-cookie'),
    body: (await response.json()) as Got['body'],
  };
}

interface Signer {
  readonly operator: string;
  readonly secret: string;
}
/** A signed request, with a nonce that the service issues for it. */
async function signed(
  signer: Signer,
  method: string,
  path: string,
  body?: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Got> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const { nonce } = (await ask('GET', '/dashboard/nonce')).body as unknown as { nonce: string };
  const own = dashboardHeaders(method, path, text ?? '', { ...signer, nonce });
  return ask(method, path, { ...own, ...headers }, text);
}

let made = 0;
const newName = () => `console-${String(process.pid)}-${String((made += 1))}`;
const newSecret = () => randomBytes(32).toString('base64url');

async function run(...args: readonly string[]): Promise<Record<string, unknown>> {
  const { status, out, err } = await tool(['dashboard', ...args]);
  if (status !== 0) throw new Error(err);
  return JSON.parse(out) as Record<string, unknown>;
}
async function link(operator: string, ...more: readonly string[]): Promise<string> {
  const { link } = await run('enrol', '--operator', operator, '--role', 'operator', ...more);
  return /#enrol=(.*)$/.exec(link as string)?.[1] ?? '';
}
const handOver = (code: string, secret: string, operator = 'enrol') =>
  signed({ operator, secret }, 'POST', '/dashboard/enrol', { code, secret });
/** What the page shows, computed as a page does that holds the key. */
function fingerprintOf({ operator, secret }: Signer): string {
  const mac = createHmac('sha256', secret)
    .update(`SVC-DASHBOARD-FINGERPRINT\n${operator}`)
    .digest();
  const bits = BigInt(`0x${mac.subarray(0, 10).toString('hex')}`);
  const digits = Array.from({ length: 16 }, (_, at) =>
    '0123456789ABCDEFGHJKMNPQRSTVWXYZ'.charAt(Number((bits >> BigInt(75 - 5 * at)) & 31n)),
  );
  return (digits.join('').match(/.{4}/g) ?? []).join('-');
}
async function enrolled(...more: readonly string[]): Promise<Signer> {
  const signer = { operator: newName(), secret: newSecret() };
  expect(await handOver(await link(signer.operator, ...more), signer.secret)).toMatchObject({
    status: 200,
    body: { operator: signer.operator, state: 'pending', fingerprint: fingerprintOf(signer) },
  });
  await run('confirm', '--operator', signer.operator, '--fingerprint', fingerprintOf(signer));
  return signer;
}
async function session(signer: Signer): Promise<string> {
  const { status, cookie } = await signed(signer, 'POST', '/dashboard/session');
  expect(status).toBe(201);
  return cookie ?? '';
}
/** So much later for the sessions of an operator: they are made that much older. */
async function later({ operator }: Signer, interval: string): Promise<void> {
  await sql('ALTER TABLE dashboard_sessions DISABLE TRIGGER dashboard_sessions_guard', []);
  await sql(
    `UPDATE dashboard_sessions SET created_at = created_at - $2::interval,
       last_used_at = last_used_at - $2::interval WHERE operator = $1`,
    [operator, interval],
  );
  await sql('ALTER TABLE dashboard_sessions ENABLE TRIGGER dashboard_sessions_guard', []);
}
const cookieOf = (set: string) => ({ cookie: set.split(';')[0] ?? '' });
const WHO = '/dashboard/api/whoami';
const read = async (set: string, headers: Readonly<Record<string, string>> = SAME) =>
  (await ask('GET', WHO, { ...cookieOf(set), ...headers })).status;

describe('an enrolment', () => {
  test('counts once it is confirmed; the same secret again is answered again', async () => {
    const signer = { operator: newName(), secret: newSecret() };
    const code = await link(signer.operator, '--allowlist');
    const first = await handOver(code, signer.secret);
    const answer = { operator: signer.operator, role: 'operator', allowlist: true };
    expect(first.body).toEqual({
      ...answer,
      state: 'pending',
      fingerprint: fingerprintOf(signer),
    });
    expect((await signed(signer, 'POST', '/dashboard/session')).body.detail).toMatchObject({
      error: 'dashboard_key_pending',
    });
    expect((await signed(signer, 'GET', WHO)).status).toBe(403);
    expect((await handOver(code, signer.secret, signer.operator)).body).toEqual(first.body);
    const another = fingerprintOf({ ...signer, secret: newSecret() });
    await expect(
      run('confirm', '--operator', signer.operator, '--fingerprint', another),
    ).rejects.toThrow('another fingerprint');
    await run('confirm', '--operator', signer.operator, '--fingerprint', fingerprintOf(signer));
    expect((await handOver(code, signer.secret)).body).toMatchObject({ state: 'confirmed' });
    expect((await signed(signer, 'GET', WHO)).body).toMatchObject({
      client_id: `dashboard:${signer.operator}`,
      role: 'operator',
      dashboard: { operator: signer.operator, allowlist: true },
    });
  });

  test('of another secret, of no link, too late or of another operator is refused and recorded', async () => {
    const operator = newName();
    const code = await link(operator);
    const row = async () =>
      (await sql('SELECT key_id FROM dashboard_keys WHERE operator = $1', [operator]))[0]?.key_id;
    const id = String(await row());
    const refused = async (got: Promise<Got>, reason: string, key: string): Promise<void> => {
      expect(await got).toMatchObject({
        status: 403,
        body: { detail: { error: 'enrolment_refused', reason } },
      });
      const denied = () =>
        sql(
          `SELECT 1 FROM audit_events WHERE action = 'dashboard_key.fill' AND outcome = 'denied'
             AND reason = $1 AND entity_key = $2`,
          [reason, key],
        );
      await eventually(async () => ((await denied()).length > 0 ? true : null), {
        what: () => `the audit row of ${reason}`,
      });
    };
    await refused(handOver(newSecret(), newSecret()), 'unknown', 'unknown');
    await refused(handOver(code, newSecret(), 'somebody-else'), 'other_operator', id);
    expect((await handOver(code, newSecret())).status).toBe(200);
    await refused(handOver(code, newSecret()), 'used', id);
    await run('end', '--operator', operator);
    await refused(handOver(code, newSecret()), 'ended', id);
    // Fifteen minutes later, for a link that was never opened.
    const late = newName();
    const old = await link(late);
    await sql('ALTER TABLE dashboard_keys DISABLE TRIGGER dashboard_keys_guard', []);
    await sql("UPDATE dashboard_keys SET code_until = now() - interval '1 s' WHERE operator = $1", [
      late,
    ]);
    await sql('ALTER TABLE dashboard_keys ENABLE TRIGGER dashboard_keys_guard', []);
    expect((await handOver(old, newSecret())).body.detail).toMatchObject({ reason: 'expired' });
  });

  test('is signed with the secret that it hands over', async () => {
    const code = await link(newName());
    const secret = newSecret();
    const body = JSON.stringify({ code, secret });
    expect((await ask('POST', '/dashboard/enrol', {}, body)).status).toBe(401);
    const other = { operator: 'enrol', secret: newSecret() };
    expect((await signed(other, 'POST', '/dashboard/enrol', { code, secret })).status).toBe(401);
    const ahead = dashboardHeaders('POST', '/dashboard/enrol', body, { ...other, secret });
    expect((await ask('POST', '/dashboard/enrol', ahead, body)).status).toBe(401);
    expect((await handOver(code, 'short')).status).toBe(422);
    expect((await handOver(code, secret)).status).toBe(200);
  });

  test('by two pages at once is won by one', async () => {
    const code = await link(newName());
    const both = await Promise.all([handOver(code, newSecret()), handOver(code, newSecret())]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 403]);
  });

  test('of one of the file needs a link that says so, which ends the key of the file', async () => {
    const operator =
      'ops-2' in shared.dashboardKeys ? 'ops-2' : Object.keys(shared.dashboardKeys)[1];
    if (operator === undefined) return;
    const code = await link(operator);
    expect((await handOver(code, newSecret())).body.detail).toMatchObject({ reason: 'in_file' });
    await run('end', '--operator', operator);
  });
});

describe('a session', () => {
  test('reads as its operator, under a cookie that no script sees', async () => {
    const signer = await enrolled();
    const set = await session(signer);
    expect(set).toMatch(
      new RegExp(`^${COOKIE}=[A-Za-z0-9_-]{43}; Max-Age=43200; Path=/; HttpOnly; SameSite=Strict$`),
    );
    expect((await ask('GET', WHO, { ...cookieOf(set), ...SAME })).body).toMatchObject({
      client_id: `dashboard:${signer.operator}`,
      role: 'operator',
    });
    const [token] = /[A-Za-z0-9_-]{43}/.exec(set) ?? [''];
    const kept = await sql('SELECT s::text AS row FROM dashboard_sessions s', []);
    expect(JSON.stringify(kept)).not.toContain(token);
  });

  test('reads and no more, whatever the route', async () => {
    const cookie = cookieOf(await session(await enrolled('--allowlist')));
    const id = '00000000-0000-7000-8000-000000000000';
    const filled = (path: string) => path.replace(/\{[^}]+\}/g, id);
    const tried = [
      ...routes.map(({ method, path, acts }) => ({
        method,
        path: `/dashboard/api${filled(path)}`,
        acts: method !== 'GET' || acts === 'always',
      })),
      ...['', `/${id}/revoke`, `/${id}/reactivate`].map((end) => ({
        method: 'POST',
        path: `/dashboard/allowed-addresses${end}`,
        acts: true,
      })),
      { method: 'GET', path: '/dashboard/api/balances?fresh=true', acts: true },
      { method: 'POST', path: '/dashboard/session', acts: true },
      { method: 'POST', path: '/v3/movements', acts: true },
      { method: 'GET', path: '/v3/movements', acts: true },
    ].filter(({ acts }) => acts);
    expect(tried.length).toBeGreaterThan(30);
    for (const { method, path } of tried) {
      const refused = method === 'GET' && !path.startsWith('/v3/') ? 403 : 401;
      for (const body of method === 'GET' ? [undefined] : [undefined, '{}']) {
        const { status } = await ask(method, path, { ...cookie, ...SAME }, body);
        expect([method, path, body, status]).toEqual([method, path, body, refused]);
      }
    }
  }, 120_000);

  test('is taken from its own origin alone', async () => {
    const set = await session(await enrolled());
    for (const site of ['cross-site', 'same-site', 'none', ''])
      expect([site, await read(set, { 'sec-fetch-site': site })]).toEqual([site, 401]);
    expect(await read(set, {})).toBe(401);
    expect(await read(set, { 'x-svc-console': '1' })).toBe(200);
    expect(await read(set, { 'x-svc-console': '1', 'sec-fetch-site': 'cross-site' })).toBe(401);
    expect(await read(set)).toBe(200);
  });

  test('sent twice, another one, or under another host name is refused', async () => {
    const set = await session(await enrolled());
    const { cookie } = cookieOf(set);
    const twice = { cookie: `${cookie}; other=1; ${cookie}` };
    expect((await ask('GET', WHO, { ...twice, ...SAME })).status).toBe(401);
    const wrong = { cookie: `${COOKIE}=${newSecret()}` };
    expect((await ask('GET', WHO, { ...wrong, ...SAME })).status).toBe(401);
    const elsewhere = await fetch(shared.apiUrl.replace('localhost', '127.0.0.1') + WHO, {
      headers: { cookie, ...SAME },
    });
    expect(elsewhere.status).toBe(403);
    expect(await read(set)).toBe(200);
  });

  test('ends with its key, by its own wish, and by fundadmin', async () => {
    const signer = await enrolled();
    const [first, second, third] = [
      await session(signer),
      await session(signer),
      await session(signer),
    ];
    const gone = await ask('DELETE', '/dashboard/session', { ...cookieOf(first), ...SAME });
    expect(gone).toMatchObject({ status: 200, body: { ended: true } });
    expect(gone.cookie).toMatch(new RegExp(`^${COOKIE}=; Max-Age=0;`));
    expect([await read(first), await read(second)]).toEqual([401, 200]);
    const foreign = { ...cookieOf(second), 'sec-fetch-site': 'cross-site' };
    expect((await ask('DELETE', '/dashboard/session', foreign)).status).toBe(401);
    expect(await read(second)).toBe(200);
    await run('sessions', 'end', '--operator', signer.operator);
    expect([await read(second), await read(third)]).toEqual([401, 401]);
    const fourth = await session(signer);
    await run('end', '--operator', signer.operator);
    expect(await read(fourth)).toBe(401);
    expect((await signed(signer, 'GET', WHO)).status).toBe(401);
  });

  test('grows idle under an open stream, which then ends', async () => {
    const signer = await enrolled();
    const set = await session(signer);
    const stream = await openStream(`${HERE}/dashboard/stream`, { ...cookieOf(set), ...SAME });
    expect(stream.status).toBe(200);
    await later(signer, '29 min 50 s');
    await stream.ended;
    expect(await read(set)).toBe(401);
  }, 30_000);

  test('grows idle under what no person reads: marked reads, and streams that open again', async () => {
    const opens = async (set: string) => {
      const stream = await openStream(`${HERE}/dashboard/stream`, { ...cookieOf(set), ...SAME });
      stream.close();
      return stream.status;
    };
    const marked = (set: string) => read(set, { ...SAME, 'x-svc-background': '1' });
    for (const [how, after] of [
      [read, 200],
      [marked, 401],
      [opens, 401],
    ] as const) {
      const signer = await enrolled();
      const set = await session(signer);
      await later(signer, '29 min');
      expect([how.name, await how(set)]).toEqual([how.name, 200]);
      await later(signer, '90 s');
      expect([how.name, await read(set)]).toEqual([how.name, after]);
    }
  });

  test('leaves nothing in a cache', async () => {
    const set = await session(await enrolled());
    for (const path of [WHO, '/dashboard/nonce', '/dashboard/allowed-addresses']) {
      const answer = await fetch(HERE + path, { headers: { ...cookieOf(set), ...SAME } });
      expect([path, answer.status, answer.headers.get('cache-control')]).toEqual([
        ...[path, 200, 'no-store'],
      ]);
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    }
  });

  test('reads the list, for which an enrolled key needs an issued nonce', async () => {
    const signer = await enrolled();
    const path = '/dashboard/allowed-addresses';
    expect((await ask('GET', path, dashboardHeaders('GET', path, '', signer))).status).toBe(401);
    expect((await signed(signer, 'GET', path)).status).toBe(200);
    const cookie = cookieOf(await session(signer));
    expect((await ask('GET', path, { ...cookie, ...SAME })).status).toBe(200);
  });

  test('of a key of the file is one of that key', async () => {
    const [operator = '', secret = ''] = Object.entries(shared.dashboardKeys)[0] ?? [];
    const set = await session({ operator, secret });
    expect(await read(set)).toBe(200);
    const [row] = await sql('SELECT key_mark FROM dashboard_sessions WHERE operator = $1', [
      operator,
    ]);
    expect(row?.key_mark).toMatch(/^file:/);
  });
});

describe('an operator whose key is compromised', () => {
  const approveAs = (signer: Signer, movement: CreatedView) =>
    signed(
      signer,
      'POST',
      `/dashboard/api/movements/${movement.movement_id}/approve`,
      approval(movement),
    );
  const end = (operator: string, ...more: readonly string[]) =>
    run('end', '--operator', operator, ...more);

  test('has approved nothing that waits, also once the key has ended; what runs needs a person', async () => {
    const [ruled, free] = [await registered([gate('check')]), await registered([gate('check')])];
    const desk = await startApprovalDesk('operator-desk', ['uma', 'vera'], ruled.template_key);
    const db = connectDatabase({ url: shared.databaseUrl, poolSize: 1 });
    try {
      const signer = await enrolled();
      const { operator } = signer;
      const uma = { person: 'uma', name: 'Uma', identities: [`dashboard:${operator}`] };
      await changeApprovers(db, { people: [uma] }, []);
      const [waits, runs] = [await create(ruled), await create(free)];
      const watcher = await enrolled();
      const missing = async () => {
        const path = `/dashboard/api/movements/${waits.movement_id}/approvers`;
        return (await signed(watcher, 'GET', path)).body['approvals'];
      };
      for (const movement of [waits, runs])
        expect((await approveAs(signer, movement)).status).toBe(200);
      await reaches(runs.movement_id, 'WAITING_MANUAL_ACTION');
      await end(operator);
      // That a key has ended says nothing of what it decided.
      expect(await missing()).toMatchObject({ required: [{ missing: 1 }] });
      await sleep(10);
      // What it decided before it was lost stands.
      const since = new Date().toISOString();
      expect(await end(operator, '--compromised', '--since', since)).toMatchObject({
        compromised: {
          since,
          approvals_that_count_no_longer: 0,
          movements_in_attention: { count: 0, ids: [] },
        },
      });
      expect(await missing()).toMatchObject({ required: [{ missing: 1 }] });
      expect(await end(operator, '--compromised', '--reason', 'a stolen laptop')).toMatchObject({
        operator,
        ended_at: expect.any(String),
        compromised: {
          approvals_that_count_no_longer: 1,
          movements_in_attention: { count: 1, ids: [runs.movement_id] },
          ended_sessions: 0,
        },
      });
      expect(await missing()).toMatchObject({ required: [{ missing: 2 }] });
      expect(await detail(runs.movement_id)).toMatchObject({
        attention: { reason: 'approval_compromised' },
      });
      // The next key of the operator decides as before, from its confirmation on.
      const next = { operator, secret: newSecret() };
      await handOver(await link(operator), next.secret);
      await run('confirm', '--operator', operator, '--fingerprint', fingerprintOf(next));
      expect((await approveAs(next, waits)).status).toBe(200);
      expect(await missing()).toMatchObject({ required: [{ missing: 1 }] });
      await expect(end(operator, '--compromised')).rejects.toThrow('--key-id');
      await expect(end(operator, '--key-id', 'file')).rejects.toThrow('--compromised');
    } finally {
      await db.$disconnect();
      await desk.close();
    }
  });

  test('loses key and sessions in the same step', async () => {
    const signer = await enrolled();
    const set = await session(signer);
    expect(await end(signer.operator, '--compromised')).toMatchObject({
      compromised: { ended_sessions: 1, movements_in_attention: { count: 0, ids: [] } },
    });
    expect(await read(set)).toBe(401);
    expect((await signed(signer, 'GET', WHO)).status).toBe(401);
  });
});
