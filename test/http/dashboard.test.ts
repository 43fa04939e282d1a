/**
 * The allowlist over the dashboard: what a row may be, who may change one, and what is remembered
 * of it.
 */
import { createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { getAddress } from 'viem';
import { createApi } from '../../api/app.ts';
import type { DashboardParts } from '../../api/dashboard/routes.ts';
import { createOperatorAuthentication } from '../../api/dashboard/authenticate.ts';
import { createNonces, type Nonces } from '../../api/dashboard/nonces.ts';
import { fileKeys } from '../../api/dashboard/operators.ts';
import type { ApiDependencies } from '../../api/dependencies.ts';
import { listen, type Listening } from '../../api/http/server.ts';
import { connectDatabase, type Database } from '../../prisma/client.ts';
import {
  expectInvalid,
  expectRefusal,
  must,
  send,
  shared,
  sql,
  type Answer,
} from '../support/http.ts';
import {
  allowed,
  dashboardHeaders,
  freshAddress,
  revoked,
  ROWS,
  toDashboard,
  type RowView,
  type Signing,
} from '../support/dashboard.ts';
import { tool } from '../support/tool.ts';

type Listed = {
  readonly allowed_addresses: readonly RowView[];
  readonly next_cursor: string | null;
};
const listed = (query = ''): Promise<Listed> => must(200, toDashboard<Listed>('GET', ROWS + query));
const body = (more: object = {}) => ({
  chain_family: 'evm',
  address: freshAddress(),
  reason: 'set-up',
  ...more,
});
const auditOf = (id: string) =>
  sql(
    'SELECT action, outcome, reason, actor_key_id, actor_role, actor_client_id, details FROM audit_events WHERE entity_key = $1 ORDER BY occurred_at, event_id',
    [id],
  );
const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

describe('a row', () => {
  test('is made, revoked and put back in force, each time with its audit row', async () => {
    const address = freshAddress();
    const made = await allowed(getAddress(address as `0x${string}`), {
      chain_id: 5,
      label: 'desk',
    });
    const row = {
      id: made.id,
      chain_family: 'evm',
      address,
      chain_id: 5,
      label: 'desk',
      created_by: 'ops-1',
      created_at: at,
      updated_at: at,
    };
    const force = { active: true, usable_after: null, revoked_at: null, revoked_by: null };
    expect(made).toEqual({ ...row, ...force, reason: 'a test', outcome: 'created', warnings: [] });
    expect((await listed('?chain_id=5')).allowed_addresses[0]).toEqual({
      ...row,
      ...force,
      reason: 'a test',
    });

    const gone = await must(
      200,
      toDashboard('POST', `${ROWS}/${made.id}/revoke`, { reason: 'rotated' }),
    );
    expect(gone).toMatchObject({
      active: false,
      revoked_at: at,
      revoked_by: 'ops-1',
      reason: 'rotated',
      outcome: 'revoked',
    });
    expect((await listed()).allowed_addresses.map(({ id }) => id)).not.toContain(made.id);
    expect(
      (await listed('?include_inactive=true')).allowed_addresses.map(({ id }) => id),
    ).toContain(made.id);
    const back = await must(
      200,
      toDashboard('POST', `${ROWS}/${made.id}/reactivate`, { reason: 'back' }),
    );
    expect(back).toMatchObject({ ...force, reason: 'back', outcome: 'reactivated' });

    const actor = {
      actor_key_id: 'dashboard:ops-1',
      actor_role: 'dashboard',
      actor_client_id: 'dashboard:ops-1',
      outcome: 'success',
    };
    const details = expect.objectContaining({
      address,
      chain_id: 5,
      chain_family: 'evm',
      usable_after: null,
    });
    expect(await auditOf(made.id)).toEqual([
      { ...actor, action: 'allowed_address.create', reason: 'a test', details },
      { ...actor, action: 'allowed_address.revoke', reason: 'rotated', details },
      { ...actor, action: 'allowed_address.reactivate', reason: 'back', details },
    ]);
  });

  test('that is as it is wanted already stays so, and nothing is recorded', async () => {
    const made = await allowed(freshAddress());
    const again = await allowed(made.address.toUpperCase().replace('0X', '0x'), { label: 'other' });
    expect(again).toEqual({ ...made, outcome: 'unchanged' });
    expect(
      await must(200, toDashboard('POST', `${ROWS}/${made.id}/reactivate`, { reason: 'x' })),
    ).toMatchObject({ outcome: 'unchanged' });
    const gone = await revoked(made);
    expect(await revoked(made)).toEqual({ ...gone, outcome: 'unchanged' });
    expect(await auditOf(made.id)).toHaveLength(2);
    expect(await allowed(made.address, { reason: 'again' })).toMatchObject({
      id: made.id,
      outcome: 'reactivated',
      active: true,
    });
    expect((await auditOf(made.id)).map(({ action }) => action).at(-1)).toBe(
      'allowed_address.reactivate',
    );
  });

  test('is one for each chain, and one for all of them', async () => {
    const address = freshAddress();
    const ids = await Promise.all(
      [undefined, null, 1, 2, 1].map((chain_id) =>
        allowed(address, { chain_id }).then(({ id }) => id),
      ),
    );
    expect(new Set(ids).size).toBe(3);
    expect([ids[0], ids[2]]).toEqual([ids[1], ids[4]]);
  });

  test('is made once, however many ask at the same time', async () => {
    const address = freshAddress();
    const made = await Promise.all(Array.from({ length: 8 }, () => allowed(address)));
    expect(made.map(({ outcome }) => outcome).sort()).toEqual([
      'created',
      ...Array<string>(7).fill('unchanged'),
    ]);
    expect(await auditOf(made[0]?.id ?? '')).toHaveLength(1);
  });

  test('warns of an address that looks the same', async () => {
    const first = freshAddress();
    await allowed(first);
    const alike =
      first.slice(0, 6) +
      first.slice(6, 38).replace(/./g, (digit) => (digit === '0' ? '1' : '0')) +
      first.slice(38);
    expect((await allowed(alike)).warnings).toEqual([
      { code: 'look_alike', message: expect.any(String), addresses: [first] },
    ]);
  });

  test.each<[string, string, object]>([
    ['short', 'address', { address: '0x1234' }],
    ['zero', 'address', { address: `0x${'0'.repeat(40)}` }],
    ['a precompile', 'address', { address: `0x${'0'.repeat(39)}4` }],
    ['of a wrong checksum', 'address', { address: '0x90f79bf6EB2c4f870365E785982E1f101E93b906' }],
    ['of an unknown family', 'chain_family', { chain_family: 'solana' }],
    ['of an exchange with a chain', 'chain_id', { chain_family: 'cex', chain_id: 1 }],
    ['of chain 0', 'chain_id', { chain_id: 0 }],
    ['of a chain in words', 'chain_id', { chain_id: '1' }],
    ['with a label that is not seen whole', 'label', { label: 'desk\u200b' }],
    ['with a label that ends with a blank', 'label', { label: 'desk ' }],
    ['without a reason', 'reason', { reason: '  ' }],
    ['with more than a row has', 'active', { active: true }],
  ])('%s is refused', async (_name, path, more) => {
    expectInvalid(await toDashboard('POST', ROWS, body(more)), path);
  });

  test('of an unknown id is 404, of none 422', async () => {
    const id = randomUUID();
    expectRefusal(
      await toDashboard('POST', `${ROWS}/${id}/revoke`, { reason: 'x' }),
      404,
      'allowed_address_not_found',
      { id },
    );
    expectInvalid(await toDashboard('POST', `${ROWS}/nothing/revoke`, { reason: 'x' }), 'id');
    expectInvalid(await toDashboard('POST', `${ROWS}/${id}/reactivate`, {}), 'reason');
  });
});

describe('with a cooling period', () => {
  const COOLING = 7_200;
  let db: Database;
  let server: Listening;
  let nonces: Nonces;
  /** By how much the clock of the nonces is ahead. */
  let laterMs = 0;
  beforeAll(async () => {
    db = connectDatabase({ url: shared.databaseUrl });
    const log = pino({ level: 'silent' });
    const keys = new Map(
      Object.entries(shared.dashboardKeys).map(([operator, secret]) => [
        operator,
        { secret: createSecretKey(secret, 'utf8'), role: 'allowlist', allowlist: true } as const,
      ]),
    );
    // The API with a setting that the stack's own process does not have; the dashboard needs no
    // more than the database.
    const deps = {
      db,
      log,
      settings: { apiPrefix: '/v3', authEnabled: true },
    } as unknown as ApiDependencies;
    nonces = createNonces([createSecretKey(randomBytes(32))], () => Date.now() + laterMs);
    const authentication = createOperatorAuthentication({
      db,
      log,
      nonces,
      keys: fileKeys(keys),
      maxSkewSeconds: 300,
    });
    const app = createApi(deps, [], {
      dashboard: {
        parts: () => ({ cooling: COOLING, nonces }) as DashboardParts,
        authentication,
        origin: () => 'http://localhost',
      },
    });
    server = await listen({ app, host: '127.0.0.1', port: 0, graceMs: 500 });
  });
  afterAll(async () => {
    await server?.close();
    await db?.$disconnect();
  });

  const post = (path: string, text: string, signing: Signing = {}): Promise<Response> => {
    const headers = dashboardHeaders('POST', path, text, signing);
    return fetch(`http://127.0.0.1:${String(server.port)}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: text,
    });
  };
  const write = async (path: string, sent: object): Promise<RowView> => {
    const response = await post(path, JSON.stringify(sent));
    expect(response.status).toBe(200);
    return (await response.json()) as RowView;
  };
  /** As if it had been put on the list long ago, and then taken off. */
  const rested = async (): Promise<RowView> => {
    const made = await write(ROWS, body());
    await sql(
      "UPDATE allowed_addresses SET usable_after = svc_now() - interval '1 day' WHERE id = $1",
      [made.id],
    );
    await write(`${ROWS}/${made.id}/revoke`, { reason: 'a test' });
    return made;
  };
  const coolsFor = ({ usable_after }: RowView): number =>
    Date.parse(usable_after ?? '') - Date.now();

  test.each<[string, (row: RowView) => Promise<RowView>]>([
    ['reactivated', (row) => write(`${ROWS}/${row.id}/reactivate`, { reason: 'back' })],
    ['put on the list again', (row) => write(ROWS, body({ address: row.address }))],
  ])('a revoked row that is %s cools anew', async (_how, again) => {
    const row = await rested();
    const back = await again(row);
    expect(back).toMatchObject({ id: row.id, active: true, outcome: 'reactivated' });
    expect(coolsFor(back)).toBeGreaterThan((COOLING - 600) * 1_000);
    // A row that is in force already keeps its time.
    expect((await again(row)).usable_after).toBe(back.usable_after);
  });

  test('an issued nonce that was used counts as used also once it has expired', async () => {
    const text = JSON.stringify(body());
    const { nonce } = nonces.issue();
    expect((await post(ROWS, text, { nonce })).status).toBe(200);
    laterMs = 6 * 60_000;
    try {
      expect((await post(ROWS, text, { nonce })).status).toBe(401);
    } finally {
      laterMs = 0;
    }
  });
});

describe('a list', () => {
  test('is filtered and comes in pages', async () => {
    for (let made = 0; made < 3; made += 1)
      await allowed(`bc1${freshAddress().slice(2)}`, { chain_family: 'cex' });
    const all = await listed('?chain_family=cex&limit=200');
    expect(new Set(all.allowed_addresses.map((row) => row['chain_family']))).toEqual(
      new Set(['cex']),
    );
    const first = await listed('?chain_family=cex&limit=2');
    const second = await listed(`?chain_family=cex&limit=2&cursor=${first.next_cursor ?? ''}`);
    expect([...first.allowed_addresses, ...second.allowed_addresses]).toEqual(
      all.allowed_addresses.slice(0, 4),
    );
  });

  test('is read with a key of the file and a nonce of its own, once', async () => {
    const headers = dashboardHeaders('GET', ROWS, '');
    expect((await toDashboard('GET', ROWS, undefined, headers)).status).toBe(200);
    expectRefusal(await toDashboard('GET', ROWS, undefined, headers), 401, 'unauthenticated');
  });

  test.each([
    'chain_id=x',
    'include_inactive=yes',
    'chain_family=btc',
    'limit=0',
    'cursor=x',
    'other=1',
  ])('refuses %s', async (query) => {
    expectInvalid(await toDashboard('GET', `${ROWS}?${query}`), query.split('=')[0] ?? '');
  });
});

describe('a write', () => {
  const write = (signing: Signing = {}, more: Record<string, string> = {}): Promise<Answer> => {
    const text = JSON.stringify(body());
    return toDashboard('POST', ROWS, text, {
      ...dashboardHeaders('POST', ROWS, text, signing),
      ...more,
    });
  };
  const refused = (answer: Answer) => expectRefusal(answer, 401, 'unauthenticated');

  test.each<[string, () => Promise<Answer>]>([
    ['without a signature', () => toDashboard('POST', ROWS, body(), {})],
    ['of an unknown operator', () => write({ operator: 'ops-9', secret: 'x'.repeat(64) })],
    [
      "with another operator's key",
      () => write({ operator: 'ops-2', secret: shared.dashboardKeys['ops-1'] ?? '' }),
    ],
    ['in another operator’s name', () => write({}, { 'x-svc-dashboard-operator': 'ops-2' })],
    ['that is too old', () => write({ timestamp: String(Math.floor(Date.now() / 1000) - 301) })],
    ['that is too early', () => write({ timestamp: String(Math.floor(Date.now() / 1000) + 302) })],
    [
      'of another version',
      () => write({}, { 'x-svc-dashboard-signature': `v2=${'a'.repeat(64)}` }),
    ],
    [
      'with another body',
      () => toDashboard('POST', ROWS, body(), dashboardHeaders('POST', ROWS, '{}')),
    ],
    [
      'for another path',
      () =>
        toDashboard(
          'POST',
          `${ROWS}/${randomUUID()}/revoke`,
          { reason: 'x' },
          dashboardHeaders('POST', ROWS, '{"reason":"x"}'),
        ),
    ],
    [
      'with a nonce that is none',
      () => write({ nonce: 'ä ' }).catch(() => toDashboard('POST', ROWS, body(), {})),
    ],
  ])('%s is refused', async (_name, attempt) => {
    refused(await attempt());
  });

  test('is taken once, each operator for themselves', async () => {
    const nonce = randomUUID();
    expect((await write({ nonce })).status).toBe(200);
    refused(await write({ nonce }));
    expect((await write({ nonce, operator: 'ops-8' })).status).toBe(200);
  });

  test('uses its nonce up although its body is refused', async () => {
    const nonce = randomUUID();
    const headers = dashboardHeaders('POST', ROWS, '{}', { nonce });
    expect((await toDashboard('POST', ROWS, '{}', headers)).status).toBe(422);
    refused(await toDashboard('POST', ROWS, '{}', headers));
  });

  test('with a key of the API is refused, and the API has no such path', async () => {
    refused(await send('POST', shared.apiUrl + ROWS, body()));
    expectRefusal(await send('GET', '/dashboard/allowed-addresses'), 404, 'route_not_found');
  });
});

describe('a path', () => {
  test('that is none is 404, another method 405', async () => {
    expectRefusal(await toDashboard('GET', '/dashboard/other'), 404, 'route_not_found');
    expectRefusal(await toDashboard('GET', '/dashboard/'), 404, 'route_not_found');
    expectRefusal(await toDashboard('GET', `${ROWS}/`), 404, 'route_not_found');
    const answer = await toDashboard('DELETE', ROWS);
    expectRefusal(answer, 405, 'method_not_allowed', { allow: ['GET', 'POST'] });
    expect(answer.headers.get('allow')).toBe('GET, POST');
  });
  test('is as strict as any', async () => {
    expect(
      (await toDashboard<{ detail: { error: string } }>('GET', '/dashboard/allowed%2Faddresses'))
        .body.detail.error,
    ).toBe('invalid_path');
    expect((await toDashboard('POST', ROWS, 'not json')).status).toBe(422);
    expect((await toDashboard('GET', ROWS, undefined, { 'dry-run': 'true' })).status).toBe(422);
  });
});

describe('fundadmin allowlist', () => {
  const run = async (...args: string[]): Promise<{ outcome: string; row: RowView }> => {
    const { status, out, err } = await tool(['allowlist', ...args]);
    if (status !== 0) throw new Error(err);
    return JSON.parse(out) as { outcome: string; row: RowView };
  };
  const cooling = {
    ...shared.toolEnv,
    SVC_ALLOWLIST_COOLING_PERIOD_ENABLED: 'true',
    SVC_ALLOWLIST_COOLING_PERIOD_HOURS: '2',
  };

  test('adds, moves, revokes, and lists', async () => {
    const address = freshAddress();
    const { row } = await run('add', '--family', 'evm', '--address', address, '--reason', 'x');
    expect(row).toMatchObject({
      address,
      chain_id: null,
      created_by: 'fundadmin:tool',
      usable_after: null,
    });
    const moved = await tool(
      ['allowlist', 'set-chain', '--id', row.id, '--chain-id', '7', '--reason', 'strict'],
      cooling,
    );
    const { row: after } = JSON.parse(moved.out) as { row: RowView };
    expect(after.chain_id).toBe(7);
    expect(Date.parse(after.usable_after ?? '') - Date.now()).toBeGreaterThan(7_000_000);
    expect(
      await run('set-chain', '--id', row.id, '--chain-id', '7', '--reason', 'x'),
    ).toMatchObject({ outcome: 'unchanged' });
    await run('add', '--family', 'evm', '--address', address, '--reason', 'x');
    expect(
      await tool(['allowlist', 'set-chain', '--id', row.id, '--chain-id', 'any', '--reason', 'x']),
    ).toMatchObject({ status: 1 });
    expect((await run('revoke', '--id', row.id, '--reason', 'gone')).row.active).toBe(false);
    const { out } = await tool(['allowlist', 'list', '--family', 'evm']);
    expect((JSON.parse(out) as RowView[]).map(({ id }) => id)).not.toContain(row.id);
    expect((await auditOf(row.id)).map(({ action }) => action)).toEqual([
      'allowed_address.create',
      'allowed_address.set_chain',
      'allowed_address.revoke',
    ]);
  });

  test.each([
    [['add', '--family', 'evm', '--address', '0x12', '--reason', 'x']],
    [['add', '--family', 'cex', '--address', 'bc1q', '--chain-id', '1', '--reason', 'x']],
    [['set-chain', '--id', 'nothing', '--chain-id', '1', '--reason', 'x']],
    [['revoke', '--id', randomUUID(), '--reason', ' ']],
    ...['', 'x'.repeat(129), 'desk\u200b', 'desk\u202e', 'desk '].map((label): [string[]] => [
      ['add', '--family', 'cex', '--address', 'bc1q', '--label', label, '--reason', 'x'],
    ]),
  ])('refuses %j', async (args) => {
    expect((await tool(['allowlist', ...args])).status).toBe(2);
  });
  test('says that there is no such row', async () => {
    expect(
      await tool(['allowlist', 'revoke', '--id', randomUUID(), '--reason', 'x']),
    ).toMatchObject({ status: 1 });
  });
});
