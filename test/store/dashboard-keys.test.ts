/**
 * Enrolled keys and sessions at the database: what `fundadmin` does as the owner, and that the
 * service's role fills a row once and can do nothing else with it.
 */
import pg from 'pg';
import { newId } from '../../platform/ids.ts';
import { newToken, tokenHash } from '../../platform/one-time.ts';
import { connectDatabase, type Database } from '../../prisma/client.ts';
import { grantService } from '../../prisma/grant.ts';
import {
  confirmKey,
  endKey,
  enrolOperator,
  fillKey,
  readEnrolment,
  readOperatorKey,
} from '../../store/dashboard-keys.ts';
import {
  closeSession,
  dropOldSessions,
  endSessions,
  openSession,
  useSession,
} from '../../store/dashboard-sessions.ts';
import { startStoreBench, type StoreBench } from './support.ts';

const ROLE = 'service_of_keys';
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
let bench: StoreBench;
let service: Database;
let plain: pg.Client;
beforeAll(async () => {
  bench = await startStoreBench();
  await bench.sql(`CREATE ROLE ${ROLE}`);
  await grantService(bench.url, ROLE);
  service = asService();
  plain = new pg.Client({ connectionString: bench.url });
  await plain.connect();
  await plain.query(`SET ROLE ${ROLE}`);
});
afterAll(async () => {
  await service?.$disconnect();
  await plain?.end();
  await bench?.close();
});

/** The database as the service has it, so many milliseconds from now. */
function asService(laterMs = 0): Database {
  return connectDatabase({
    url: bench.url,
    poolSize: 4,
    sessionSettings: { role: ROLE, 'svc.clock_offset_ms': String(laterMs) },
  });
}

async function later<T>(ms: number, work: (db: Database) => Promise<T>): Promise<T> {
  const db = asService(ms);
  try {
    return await work(db);
  } finally {
    await db.$disconnect();
  }
}

async function enrolled(operator: string, replace = false) {
  const key_id = newId();
  const code = tokenHash(newToken());
  const outcome = await enrolOperator(bench.db, {
    key_id,
    operator,
    role: 'operator',
    allowlist: false,
    replace,
    code_hash: code,
    code_seconds: 900,
    audit: [],
  });
  return { key_id, code, outcome };
}
const SEALED = Buffer.from('sealed');
const sessionFor = (operator: string, key_mark: string) => ({
  session_id: newId(),
  token_hash: tokenHash(newToken()),
  operator,
  key_mark,
});

test('a link is filled once, in time and by one of two browsers; a confirmed key counts', async () => {
  const { key_id, code, outcome } = await enrolled('ada');
  expect(outcome).toMatchObject({ ok: true, row: { state: 'pending', filled_at: null } });
  expect(await readOperatorKey(service, 'ada')).toBeNull();
  expect(await readEnrolment(service, tokenHash('another'))).toBeNull();
  expect(await later(15 * MINUTE, (db) => fillKey(db, key_id, SEALED, []))).toBeNull();
  const filled = await Promise.all(
    ['one', 'two'].map((secret) => fillKey(service, key_id, Buffer.from(secret), [])),
  );
  expect(filled.filter((row) => row !== null)).toHaveLength(1);
  const secret = filled[0] === null ? 'two' : 'one';
  expect(await readEnrolment(service, code)).toMatchObject({
    state: 'pending',
    secret: new Uint8Array(Buffer.from(secret)),
  });
  // What is confirmed is what was read, not what stands there now.
  expect(await confirmKey(bench.db, key_id, Buffer.from('three'), [])).toBeNull();
  expect(await confirmKey(bench.db, key_id, Buffer.from(secret), [])).toMatchObject({
    state: 'confirmed',
  });
  expect(await readOperatorKey(service, 'ada')).toMatchObject({ key_id, state: 'confirmed' });
});

test('an operator has one key: another link needs --replace, which ends key and sessions', async () => {
  const first = await enrolled('bob');
  expect((await enrolled('bob')).outcome).toEqual({ ok: false, state: 'pending' });
  await fillKey(service, first.key_id, SEALED, []);
  await confirmKey(bench.db, first.key_id, SEALED, []);
  const session = sessionFor('bob', first.key_id);
  await openSession(service, session, []);
  expect((await enrolled('bob')).outcome).toEqual({ ok: false, state: 'confirmed' });
  expect(await useSession(service, session.token_hash)).toMatchObject({ operator: 'bob' });
  const second = await enrolled('bob', true);
  expect(second.outcome.ok).toBe(true);
  expect(await useSession(service, session.token_hash)).toBeNull();
  // From here on the link counts, and it is not opened.
  expect(await readOperatorKey(service, 'bob')).toMatchObject({
    key_id: second.key_id,
    state: 'pending',
    secret: null,
  });
  const both = await Promise.allSettled([enrolled('bob', true), enrolled('bob', true)]);
  expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
  const open = await bench.sql(
    `SELECT 1 FROM dashboard_keys WHERE operator = 'bob' AND state <> 'ended'`,
  );
  expect(open).toHaveLength(1);
});

test('an expired, unopened link blocks no other', async () => {
  await enrolled('cleo');
  const owner = connectDatabase({
    url: bench.url,
    poolSize: 1,
    sessionSettings: { 'svc.clock_offset_ms': String(15 * MINUTE) },
  });
  const again = await enrolOperator(owner, {
    key_id: newId(),
    operator: 'cleo',
    role: 'admin',
    allowlist: true,
    replace: false,
    code_hash: tokenHash(newToken()),
    code_seconds: 900,
    audit: [],
  }).finally(() => owner.$disconnect());
  expect(again).toMatchObject({ ok: true, row: { role: 'admin', allowlist: true } });
});

test('an ended key returns by nothing, and takes its sessions with it', async () => {
  const { key_id } = await enrolled('dan');
  await fillKey(service, key_id, SEALED, []);
  await confirmKey(bench.db, key_id, SEALED, []);
  const session = sessionFor('dan', key_id);
  await openSession(service, session, []);
  expect(await endKey(bench.db, key_id, [])).toMatchObject({ state: 'ended', ended_sessions: 1 });
  expect(await endKey(bench.db, key_id, [])).toBeNull();
  expect(await useSession(service, session.token_hash)).toBeNull();
  expect(await readOperatorKey(service, 'dan')).toMatchObject({ state: 'ended' });
  for (const change of ["state = 'confirmed', ended_at = NULL", "role = 'admin'", 'secret = NULL'])
    await expect(
      bench.sql(`UPDATE dashboard_keys SET ${change} WHERE key_id = '${key_id}'`),
    ).rejects.toThrow(/append-only/);
  await expect(bench.sql(`DELETE FROM dashboard_keys`)).rejects.toThrow(/append-only/);
});

test('the service’s role fills an open row, and makes, confirms, changes and ends none', async () => {
  const { key_id } = await enrolled('eve');
  const open = (what: string) =>
    write(`UPDATE dashboard_keys SET ${what} WHERE key_id = $1`, key_id);
  const columns = await bench.sql<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute WHERE attrelid = 'dashboard_keys'::regclass
       AND attnum > 0`,
  );
  const denied = 'permission denied for table dashboard_keys';
  for (const { name } of columns.filter((each) => !/^(secret|filled_at)$/.test(each.name)))
    expect([name, await open(`${name} = ${name}`)]).toEqual([name, denied]);
  expect(await write(`DELETE FROM dashboard_keys WHERE key_id = $1`, key_id)).toBe(denied);
  const names = columns.map(({ name }) => name).join(', ');
  expect(
    await write(
      `INSERT INTO dashboard_keys (${names}) SELECT ${names} FROM dashboard_keys
      WHERE key_id = $1`,
      key_id,
    ),
  ).toBe(denied);
  for (const call of [
    `enrol_dashboard_operator('{"replace": true, "operator": "eve"}')`,
    `confirm_dashboard_key('{"key_id": "${key_id}", "secret": ""}')`,
    `end_dashboard_key('{"key_id": "${key_id}"}')`,
  ])
    expect([call, await write(`SELECT ${call}`)]).toEqual([call, denied]);
  expect(await open(`secret = 'a', filled_at = now()`)).toBe(1);
  expect(await open(`secret = 'b'`)).toMatch(/append-only/);
  expect(await open(`secret = NULL, filled_at = NULL`)).toMatch(/append-only/);
  const late = await enrolled('fay');
  await plain.query(`SET svc.clock_offset_ms = ${String(15 * MINUTE)}`);
  expect(
    await write(
      `UPDATE dashboard_keys SET secret = 'a', filled_at = now() WHERE key_id = $1`,
      late.key_id,
    ),
  ).toMatch(/append-only/);
  await plain.query('RESET svc.clock_offset_ms');
});

/** What the statement does as the service's role: the message of its refusal, or how many rows. */
async function write(text: string, ...values: unknown[]): Promise<string | number | null> {
  try {
    return (await plain.query(text, values)).rowCount;
  } catch (error) {
    return (error as pg.DatabaseError).message;
  }
}

test('a session ends half an hour after its last use, and twelve hours after its start', async () => {
  const idle = sessionFor('gus', 'k');
  await openSession(service, idle, []);
  const used = (session: typeof idle, ms: number) =>
    later(ms, async (db) => (await useSession(db, session.token_hash)) !== null);
  expect(await used(idle, 29 * MINUTE)).toBe(true);
  expect(await used(idle, 58 * MINUTE)).toBe(true);
  expect(await used(idle, 89 * MINUTE)).toBe(false);
  const watched = sessionFor('gus', 'k');
  await openSession(service, watched, []);
  const keyAfter = (ms: number) =>
    later(ms, (db) => useSession(db, watched.token_hash, { isUse: false }));
  expect(await keyAfter(29 * MINUTE)).not.toBeNull();
  expect(await keyAfter(31 * MINUTE)).toBeNull();
  const old = sessionFor('gus', 'k');
  await openSession(service, old, []);
  for (let at = 20 * MINUTE; at < 12 * HOUR; at += 20 * MINUTE)
    expect([at, await used(old, at)]).toEqual([at, true]);
  expect(await used(old, 12 * HOUR)).toBe(false);
});

test('its last use is written at most once a minute, whoever uses it at once', async () => {
  const session = sessionFor('hal', 'k');
  await openSession(service, session, []);
  const written = async () =>
    (
      await bench.sql<{ version: string; at: Date }>(
        `SELECT xmin::text AS version, last_used_at AS at FROM dashboard_sessions
         WHERE session_id = '${session.session_id}'`,
      )
    )[0];
  const first = await written();
  await later(59_000, (db) => useSession(db, session.token_hash));
  expect(await written()).toEqual(first);
  await later(61_000, (db) =>
    Promise.all(Array.from({ length: 8 }, () => useSession(db, session.token_hash))),
  );
  const second = await written();
  expect(second?.at.getTime()).toBeGreaterThan((first?.at.getTime() ?? 0) + 60_000);
  await later(90_000, (db) => useSession(db, session.token_hash));
  expect(await written()).toEqual(second);
});

test('sessions end one, an operator’s or all, once; old ones go', async () => {
  const made = [sessionFor('ida', 'k'), sessionFor('ida', 'k'), sessionFor('jon', 'k')];
  for (const session of made) await openSession(service, session, []);
  const open = async () =>
    Promise.all(made.map(async (each) => (await useSession(service, each.token_hash)) !== null));
  expect(await closeSession(service, made[0]?.session_id ?? '', [])).toBe(true);
  expect(await closeSession(service, made[0]?.session_id ?? '', [])).toBe(false);
  expect(await open()).toEqual([false, true, true]);
  expect(await endSessions(bench.db, 'ida', [])).toBe(1);
  expect(await open()).toEqual([false, false, true]);
  expect(await endSessions(bench.db, null, [])).toBeGreaterThan(0);
  expect(await open()).toEqual([false, false, false]);
  expect(
    await write(
      `UPDATE dashboard_sessions SET ended_at = NULL WHERE session_id = $1`,
      made[0]?.session_id,
    ),
  ).toMatch(/append-only/);
  expect(await dropOldSessions(service, { keepDays: 30, atMost: 100 })).toBe(0);
  const drop = { keepDays: 30, atMost: 100 };
  expect(await later(31 * 24 * HOUR, (db) => dropOldSessions(db, drop))).toBeGreaterThan(2);
});
