/**
 * The audit trail against somebody who has the database: every change, removal and invention is
 * found and named.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import pg from 'pg';
import { admin, tamper, type Verified } from '../support/audit-tools.ts';
import { eventually, WITHDRAW_TO_TREASURY, ownStack } from '../support/own-stack.ts';

jest.setTimeout(60_000);
const KEY = randomBytes(32).toString('base64');
const folder = mkdtempSync(join(tmpdir(), 'audit-chain-'));
let owner: string;
let movementId: string;
const own = ownStack({ split: true, env: { SVC_SECRETS_KEY: KEY } });
beforeAll(async () => {
  owner = own.stack.databaseUrl;
  const movement = await own.api.create(WITHDRAW_TO_TREASURY, { amount: '3' });
  await own.api.approve(movement);
  movementId = movement.movement_id;
  await own.api.reaches(movementId, 'COMPLETED');
  await allSealed();
}, 180_000);
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
});

const verify = (...args: string[]) =>
  admin<Verified>(['audit', 'verify', '--database-url', owner, ...args], { SVC_SECRETS_KEY: KEY });
async function allSealed(): Promise<void> {
  await eventually(async () => {
    const rows = await own.query(
      'SELECT 1 FROM audit_events e WHERE NOT EXISTS (SELECT 1 FROM audit_seals s WHERE s.event_id = e.event_id)',
    );
    return rows.length === 0 ? true : null;
  });
}
/** The seal of what the movement's `action` left. */
async function sealOf(
  action: string,
): Promise<{ readonly position: string; readonly event_id: string }> {
  const [row] = await own.query<{ position: string; event_id: string }>(
    'SELECT s.position, s.event_id FROM audit_seals s JOIN audit_events e USING (event_id) WHERE e.action = $1 AND e.entity_key = $2',
    [action, movementId],
  );
  if (row === undefined) throw new Error(`no seal of ${action}`);
  return row;
}
async function expectFault(
  fault: string,
  place: { readonly position?: string; readonly event_id?: string },
  ...args: string[]
): Promise<void> {
  const { exit, result } = await verify(...args);
  expect(result.first_fault).toMatchObject({
    fault,
    ...(place.position === undefined ? {} : { position: Number(place.position) }),
    ...(place.event_id === undefined ? {} : { event_id: place.event_id }),
  });
  expect([exit, result.ok]).toEqual([1, false]);
}

test('what the service wrote is whole', async () => {
  const { exit, result } = await verify();
  expect(result).toMatchObject({
    ok: true,
    authenticated: true,
    unauthenticated: 0,
    first_fault: null,
  });
  expect([exit, result.checked, result.sealed]).toEqual([0, result.events, result.events]);
  expect(result.head).toEqual({
    position: result.events,
    chain_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  expect(
    (
      await verify(
        '--expect-head',
        `${result.head?.position ?? 0}:${result.head?.chain_hash ?? ''}`,
      )
    ).exit,
  ).toBe(0);
});

describe('somebody with all rights', () => {
  const CHANGES = [
    ['reason', "'another'"],
    ['actor_client_id', "'somebody'"],
    ['outcome', "'denied'"],
    ['request_id', 'NULL'],
    ['occurred_at', "occurred_at + interval '1 millisecond'"],
    ['details', `details || '{"approver_id": "other"}'`],
  ] as const;
  test.each(CHANGES)('who changes the %s of a row is found', async (column, value) => {
    const seal = await sealOf('movement.approve');
    const [before] = await own.query<Record<string, unknown>>(
      `SELECT ${column}::text AS old FROM audit_events WHERE event_id = $1`,
      [seal.event_id],
    );
    await tamper(owner, [
      `UPDATE audit_events SET ${column} = ${value} WHERE event_id = $1`,
      seal.event_id,
    ]);
    await expectFault('row_changed', seal);
    const [{ data_type: type } = { data_type: 'text' }] = await own.query<{ data_type: string }>(
      "SELECT data_type FROM information_schema.columns WHERE table_name = 'audit_events' AND column_name = $1",
      [column],
    );
    await tamper(owner, [
      `UPDATE audit_events SET ${column} = $2::${type} WHERE event_id = $1`,
      seal.event_id,
      before?.['old'],
    ]);
    expect((await verify()).exit).toBe(0);
  });

  test('who changes a digit that no double holds, so that the API would show none of it, is found', async () => {
    const [seal] = await own.query<{ position: string; event_id: string }>(
      "SELECT s.position, s.event_id FROM audit_seals s JOIN audit_events e USING (event_id) WHERE e.details -> 'version' = '1' LIMIT 1",
    );
    const version = (value: string) =>
      `UPDATE audit_events SET details = jsonb_set(details, '{version}', '${value}')
        WHERE event_id = $1`;
    await tamper(owner, [version('1.00000000000000000000001'), seal?.event_id]);
    await expectFault('row_not_of_service', seal ?? { position: '0' });
    await tamper(owner, [version('1'), seal?.event_id]);
    expect((await verify()).exit).toBe(0);
  });

  test('who removes a row is found', async () => {
    const seal = await sealOf('movement.create');
    await tamper(
      owner,
      [
        'CREATE TABLE kept AS SELECT * FROM audit_events WHERE event_id = $1'.replace(
          '$1',
          `'${seal.event_id}'`,
        ),
      ],
      // The last column follows from the others, and cannot be written.
      ['ALTER TABLE kept DROP COLUMN registry'],
      ['DELETE FROM audit_events WHERE event_id = $1', seal.event_id],
    );
    await expectFault('row_missing', seal);
    await tamper(owner, ['INSERT INTO audit_events SELECT * FROM kept']);
    expect((await verify()).exit).toBe(0);
  });

  test.each(['event_hash', 'chain_hash'])(
    'who alters the %s of a seal is found',
    async (column) => {
      const seal = await sealOf('movement.approve');
      const flip = `UPDATE audit_seals SET ${column}
        = set_byte(${column}, 0, get_byte(${column}, 0) # 1) WHERE position = $1`;
      await tamper(owner, [flip, seal.position]);
      await expectFault('seal_changed', seal);
      await tamper(owner, [flip, seal.position]);
    },
  );

  test('who removes a seal, or its MAC, is found', async () => {
    const seal = await sealOf('movement.approve');
    await own.stack.stopChild('worker');
    await tamper(owner, [
      `CREATE TABLE seal_kept AS SELECT * FROM audit_seals WHERE position = ${seal.position}`,
    ]);
    await tamper(owner, ['DELETE FROM audit_seals WHERE position = $1', seal.position]);
    await expectFault('seal_missing', { position: seal.position });
    await tamper(owner, [
      'INSERT INTO audit_seals SELECT position, event_id, event_hash, chain_hash, NULL, sealed_at FROM seal_kept',
    ]);
    await expectFault('seal_not_of_service', seal);
    await tamper(owner, [
      'UPDATE audit_seals s SET mac = k.mac FROM seal_kept k WHERE k.position = s.position',
    ]);
    expect((await verify()).exit).toBe(0);
    await own.stack.startChild('worker');
  });

  test('who cuts off the end of both tables is found by whoever knows an earlier head', async () => {
    await own.stack.stopChild('worker');
    const { head } = (await verify()).result;
    const expected = ['--expect-head', `${head?.position ?? 0}:${head?.chain_hash ?? ''}`];
    await tamper(
      owner,
      [
        `CREATE TABLE tail_seals AS SELECT * FROM audit_seals
          WHERE position = ${head?.position ?? 0}`,
      ],
      ['CREATE TABLE tail_rows AS SELECT e.* FROM audit_events e JOIN tail_seals USING (event_id)'],
      ['ALTER TABLE tail_rows DROP COLUMN registry'],
      ['DELETE FROM audit_events WHERE event_id IN (SELECT event_id FROM tail_seals)'],
      ['DELETE FROM audit_seals WHERE position IN (SELECT position FROM tail_seals)'],
    );
    expect((await verify()).exit).toBe(0);
    await expectFault('head_missing', { position: String(head?.position) }, ...expected);
    await tamper(
      owner,
      ['INSERT INTO audit_events SELECT * FROM tail_rows'],
      ['INSERT INTO audit_seals SELECT * FROM tail_seals'],
    );
    expect((await verify(...expected)).exit).toBe(0);
    await expectFault(
      'head_differs',
      {},
      '--expect-head',
      `${head?.position ?? 0}:${'ab'.repeat(32)}`,
    );
    await own.stack.startChild('worker');
  });
});

describe('the role of the service', () => {
  const asService = async (text: string): Promise<string> => {
    const client = new pg.Client({ connectionString: own.stack.env['SVC_DATABASE_URL'] ?? '' });
    await client.connect();
    try {
      await client.query(text);
      return 'done';
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    } finally {
      await client.end();
    }
  };
  /** By the rights of the role, before any trigger runs. */
  const DENIED = /^(permission denied|must be owner)/;

  test.each([
    'audit_events',
    'audit_seals',
    'timeline_events',
    'movement_plans',
    'plan_nodes',
    'plan_edges',
    'plan_template_versions',
  ])('can change, remove or empty nothing of %s, nor switch off what refuses it', async (table) => {
    const [column] = await own.query<{ name: string }>(
      'SELECT attname AS name FROM pg_attribute WHERE attrelid = $1::regclass AND attnum = 1',
      [table],
    );
    for (const text of [
      `UPDATE ${table} SET ${column?.name ?? ''} = ${column?.name ?? ''}`,
      `DELETE FROM ${table}`,
      `TRUNCATE ${table}`,
      `ALTER TABLE ${table} DISABLE TRIGGER ALL`,
      `DROP TABLE ${table}`,
      `CREATE TRIGGER t BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION refuse_change()`,
      'SET session_replication_role = replica',
    ])
      expect([text, await asService(text)]).toEqual([text, expect.stringMatching(DENIED)]);
  });

  test('owns nothing, is in no other role, and may not say what it may do', async () => {
    const owned =
      'SELECT 1 FROM pg_class WHERE relowner = $1::regrole UNION ALL SELECT 1 FROM pg_proc WHERE proowner = $1::regrole';
    expect(await own.query(owned, ['fmo_service'])).toEqual([]);
    expect(
      await own.query('SELECT 1 FROM pg_auth_members WHERE member = $1::regrole', ['fmo_service']),
    ).toEqual([]);
    expect(await asService("SELECT grant_service('fmo_service')")).toMatch(DENIED);
    expect(await asService('SELECT * FROM service_privileges')).toMatch(DENIED);
    expect(await asService('CREATE TABLE mine (a int)')).toMatch(DENIED);
  });

  test('the superuser meets the refusal of the triggers too', async () => {
    for (const text of [
      'UPDATE audit_seals SET mac = NULL',
      'DELETE FROM audit_seals',
      'TRUNCATE audit_seals',
      'TRUNCATE audit_events',
    ])
      await expect(own.query(text)).rejects.toThrow('is append-only');
  });

  test('is made by a command, which revokes all other rights and refuses an owner', async () => {
    await own.query('CREATE ROLE another LOGIN');
    await own.query('GRANT ALL ON audit_events TO another');
    const url = ['--database-url', owner];
    expect(await admin(['database', 'grant', '--role', 'another', ...url])).toMatchObject({
      exit: 0,
      result: { ok: true, role: 'another' },
    });
    const [may] = await own.query(
      "SELECT has_table_privilege('another', 'audit_events', 'INSERT') AS add, has_table_privilege('another', 'audit_events', 'UPDATE') AS change",
    );
    expect(may).toEqual({ add: true, change: false });
    expect(await admin(['database', 'grant', '--role', 'postgres', ...url])).toMatchObject({
      exit: 1,
      err: expect.stringContaining('owns'),
    });
    expect(await admin(['database', 'grant', '--role', 'unknown_role', ...url])).toMatchObject({
      exit: 1,
      err: expect.stringContaining('unknown_role'),
    });
  });

  test('a service that could rewrite the trail says so at its start', async () => {
    const log = (): string => readFileSync(join(own.stack.dataDir, 'logs', 'worker.log'), 'utf8');
    expect(log()).not.toContain('could rewrite the audit trail');
    await own.query('ALTER ROLE fmo_service SUPERUSER');
    await own.stack.stopChild('worker');
    await own.stack.startChild('worker');
    await eventually(() =>
      Promise.resolve(log().includes('the database role could rewrite the audit trail') || null),
    );
    await own.query('ALTER ROLE fmo_service NOSUPERUSER');
    await own.stack.stopChild('worker');
    await own.stack.startChild('worker');
  });
});

describe('an exported bundle', () => {
  const file = (name: string): string => join(folder, name);
  const check = (name: string, ...args: string[]) =>
    admin(['audit', 'check-bundle', file(name), ...args]);
  const day = ['--from', '2000-01-01', '--to', new Date(Date.now() + 86_400_000).toISOString()];
  const exported = (name: string, key: string, range: readonly string[] = day) =>
    admin<{ head: Verified['head']; records: number; seals: number }>([
      'audit',
      'export',
      '--database-url',
      owner,
      '--out',
      file(name),
      '--key-file',
      file(key),
      ...range,
    ]);

  beforeAll(async () => {
    for (const key of ['a.pem', 'b.pem'])
      expect((await admin(['audit', 'make-key', '--out', file(key)])).exit).toBe(0);
    await allSealed();
    expect((await exported('whole', 'a.pem')).exit).toBe(0);
  });

  test('is checked without any database, by the key it was signed with', async () => {
    const { result } = await verify();
    expect(await check('whole', '--public-key', file('a.pem.pub'))).toMatchObject({
      exit: 0,
      result: {
        ok: true,
        trusted: true,
        records: result.events,
        seals: result.events,
        head: result.head,
      },
    });
    expect(await check('whole')).toMatchObject({ exit: 0, result: { ok: true, trusted: false } });
    expect(await check('whole', '--public-key', file('b.pem.pub'))).toMatchObject({
      exit: 1,
      result: { ok: false },
    });
    for (const name of ['a.pem', 'a.pem.pub', 'whole'])
      expect(statSync(file(name)).mode & 0o777).toBe(0o600);
  });

  test('holds the records of its time alone, and the chain through the others', async () => {
    const [times] = await own.query<{ from: Date; to: Date }>(
      `SELECT min(occurred_at) FILTER (WHERE action = 'movement.create') AS from, max(occurred_at)
        FILTER (WHERE action = 'movement.complete') AS to
       FROM audit_events WHERE entity_key = $1`,
      [movementId],
    );
    const range = [
      '--from',
      times?.from.toISOString() ?? '',
      '--to',
      times?.to.toISOString() ?? '',
    ];
    const { result } = await exported('part', 'a.pem', range);
    expect(result).toMatchObject({ records: 2, seals: 2 });
    expect(await check('part', '--public-key', file('a.pem.pub'))).toMatchObject({
      exit: 0,
      result: { ok: true, records: 2 },
    });
  });

  test.each([
    [
      'a changed record',
      (lines: string[]) =>
        lines.map((line, index) => (index === 2 ? line.replace('"success"', '"denied"') : line)),
    ],
    [
      'a record left out',
      (lines: string[]) =>
        lines.map((line, index) =>
          index === 2 ? line.replace(/"record":\{.*\},"seal"/, '"record":null,"seal"') : line,
        ),
    ],
    ['a line left out', (lines: string[]) => lines.filter((_, index) => index !== 2)],
    ['no end', (lines: string[]) => lines.slice(0, -2)],
    [
      'another head',
      (lines: string[]) =>
        lines.map((line, index) =>
          index === 0 ? line.replace(/"position":(\d+)/, '"position":1$1') : line,
        ),
    ],
    ['more behind its end', (lines: string[]) => [...lines.slice(0, -1), lines[1] ?? '', '']],
  ])('with %s is refused', async (_what, alter) => {
    const lines = readFileSync(file('whole'), 'utf8').split('\n');
    const altered = alter(lines).join('\n');
    expect(altered).not.toBe(lines.join('\n'));
    writeFileSync(file('altered'), altered);
    expect(await check('altered')).toMatchObject({
      exit: 1,
      result: { ok: false, fault: expect.stringMatching(/^line \d+: /) },
    });
  });

  test('is never written over a file that is there', async () => {
    expect(await exported('whole', 'b.pem')).toMatchObject({
      exit: 1,
      err: expect.stringContaining('cannot be written'),
    });
    expect((await admin(['audit', 'make-key', '--out', file('a.pem')])).exit).toBe(1);
    expect((await check('whole', '--public-key', file('a.pem.pub'))).exit).toBe(0);
  });
});

describe('a row that the service did not write', () => {
  const insert = async (occurred: string, mac: string | null): Promise<string> => {
    const event = {
      event_id: randomUUID(),
      action: 'movement.approve',
      entity_type: 'movement',
      entity_key: movementId,
      outcome: 'success',
      mac,
    };
    await own.query('SELECT write_audit($1::jsonb, $2::timestamptz)', [
      JSON.stringify([event]),
      occurred,
    ]);
    return event.event_id;
  };

  test('is found while it has no seal, once the sealers have had their time', async () => {
    await own.stack.stopChild('worker');
    const event_id = await insert(new Date(Date.now() - 61_000).toISOString(), null);
    await expectFault('not_sealed', { event_id });
    await tamper(owner, ['DELETE FROM audit_events WHERE event_id = $1', event_id]);
    expect((await verify()).exit).toBe(0);
    await own.stack.startChild('worker');
  });

  test('is sealed, logged and found, whether it has no MAC or an invented one, also when it is dated back', async () => {
    const keySince = new Date().toISOString();
    const first = await insert(new Date(Date.now() - 5_000).toISOString(), null);
    await allSealed();
    await expectFault('row_not_of_service', { event_id: first });
    expect((await verify('--unauthenticated-before', keySince)).result).toMatchObject({
      ok: true,
      unauthenticated: 1,
    });

    await own.api.create(WITHDRAW_TO_TREASURY, { amount: '1' });
    await allSealed();
    const dated = await insert(new Date(Date.parse(keySince) - 10_000).toISOString(), null);
    await allSealed();
    await expectFault(
      'row_not_of_service',
      { event_id: dated },
      '--unauthenticated-before',
      keySince,
    );

    const invented = await insert(new Date().toISOString(), 'ab'.repeat(32));
    await allSealed();
    await expectFault(
      'row_not_of_service',
      { event_id: invented },
      '--unauthenticated-before',
      new Date().toISOString(),
    );
    const log = readFileSync(join(own.stack.dataDir, 'logs', 'worker.log'), 'utf8');
    for (const event_id of [first, dated, invented]) expect(log).toContain(event_id);
  });

  test('cannot be checked without the key, so the command requires it', async () => {
    expect(await admin(['audit', 'verify', '--database-url', owner])).toMatchObject({
      exit: 1,
      result: null,
      err: expect.stringContaining('set SVC_SECRETS_KEY'),
    });
  });
});
