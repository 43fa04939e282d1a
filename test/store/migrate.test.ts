/**
 * Migrations are applied once, whole or not at all, by one of several migrators, without holding up
 * who works; and no process starts on a database that is not as its build needs it.
 */
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { built } from '../../dev/bootstrap/programs.mjs';
import { applyMigrations, type MigrateOptions } from '../../prisma/migrate.ts';
import { readBuild, readMigrationState, schemaFault } from '../../prisma/migration-state.ts';
import { RELEASES_FILE, withRelease } from '../../prisma/releases.ts';
import { absentStandby } from '../support/absent-standby.ts';
import { openCutConnections } from '../support/cut-connections.ts';
import { eventually } from '../support/eventually.ts';
import { startOwnDatabase } from '../support/own-database.ts';
import { started } from '../support/started.ts';
import { readStates, restoreRows } from '../upgrade/state.ts';

let made = 0;
/** An empty database and a folder of migrations, new for each test. */
let url: string;
let migrationsDir: string;
let client: pg.Client;
const clients: pg.Client[] = [];
const builds: string[] = [];

const own = started(() => startOwnDatabase());

beforeEach(async () => {
  made += 1;
  const admin = await connect(own.url);
  await admin.query(`CREATE DATABASE scratch_${String(made)}`);
  url = addressOf(`scratch_${String(made)}`);
  client = await connect(url);
  migrationsDir = mkdtempSync(join(tmpdir(), 'migrations-'));
});
afterEach(async () => {
  for (const each of clients.splice(0)) await each.end();
  for (const each of [migrationsDir, ...builds.splice(0)]) rmSync(each, { recursive: true });
});

function addressOf(database: string, login?: string): string {
  const address = new URL(own.url);
  address.pathname = `/${database}`;
  if (login !== undefined) address.username = address.password = login;
  return address.href;
}

async function connect(to: string): Promise<pg.Client> {
  const made = new pg.Client({ connectionString: to, application_name: 'a long report' });
  made.on('error', () => undefined);
  await made.connect();
  clients.push(made);
  return made;
}

function write(name: string, sql: string): void {
  mkdirSync(join(migrationsDir, name), { recursive: true });
  writeFileSync(join(migrationsDir, name, 'migration.sql'), sql);
}

/** What the migrator reported. */
let lines: string[];
const migrate = (options: MigrateOptions = {}): Promise<string[]> => {
  lines = [];
  const report = (line: string): void => void lines.push(line);
  return applyMigrations(url, {
    migrationsDir,
    lockTimeoutMs: 400,
    pauseMs: 50,
    report,
    ...options,
  });
};
const rows = async <Row extends pg.QueryResultRow>(text: string): Promise<Row[]> =>
  (await client.query<Row>(text)).rows;
const names = async (): Promise<unknown> =>
  rows(`SELECT migration_name AS name, finished_at IS NOT NULL AS finished,
      rolled_back_at IS NOT NULL AS rolled_back, applied_steps_count AS steps, logs
    FROM _prisma_migrations ORDER BY started_at`);

const TABLE = 'CREATE TABLE things (id integer PRIMARY KEY, kind text);';
const INDEX =
  '-- online\nCREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS things_kind ON things (kind);';

test('of a commit whose answer was lost it is looked up, or said to be unknown, never that nothing was kept', async () => {
  const standby = await absentStandby(own.url);
  const between = await openCutConnections(Number(new URL(own.url).port));
  try {
    write('1_things', TABLE);
    await migrate();
    await standby.goAway();
    write('2_seen', 'ALTER TABLE things ADD COLUMN seen integer;');
    const seen = migrate();
    seen.catch(() => undefined);
    await standby.waiting();
    await standby.endWaiting();
    await expect(seen).rejects.toThrow(
      /lost while 2_seen was committed\. It is applied.*again applies what is left/,
    );

    write('3_unseen', 'ALTER TABLE things ADD COLUMN unseen integer;');
    const direct = url;
    const through = new URL(url);
    through.port = String(between.port);
    url = through.href;
    const unseen = migrate();
    unseen.catch(() => undefined);
    await standby.waiting();
    between.cut();
    await expect(unseen).rejects.toThrow(
      /lost while 3_unseen was committed\. It is not known whether it is applied: the database does not show it/,
    );
    url = direct;
    const again = migrate();
    await eventually(async () => (/waiting for another migrator/.test(lines.join()) ? true : null));
    await standby.comeBack();
    expect(await again).toEqual([]);
    expect(await names()).toMatchObject(
      ['1_things', '2_seen', '3_unseen'].map((name) => ({ name })),
    );
  } finally {
    await standby.comeBack();
    await between.close();
    await standby.close();
  }
});

test('each is applied once, in order, and noted as Prisma notes it', async () => {
  write('2_rows', 'INSERT INTO things VALUES (1);\nSET LOCAL lock_timeout = 0;');
  write('1_things', TABLE);
  write('3_index', INDEX);
  expect(await migrate()).toEqual(['1_things', '2_rows', '3_index']);
  expect(await migrate()).toEqual([]);
  const noted = await rows<{ checksum: string; started_at: Date; finished_at: Date }>(
    'SELECT * FROM _prisma_migrations ORDER BY started_at',
  );
  expect(noted).toHaveLength(3);
  expect(noted[0]).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    migration_name: '1_things',
    checksum: createHash('sha256').update(TABLE).digest('hex'),
    started_at: expect.any(Date),
    finished_at: expect.any(Date),
    rolled_back_at: null,
    logs: null,
    applied_steps_count: 1,
  });
  for (const { started_at, finished_at } of noted)
    expect(finished_at.getTime()).toBeGreaterThanOrEqual(started_at.getTime());
});

test('of a script that fails nothing is kept; it is seen, and the next run tries it again', async () => {
  write('1_things', TABLE);
  write('2_more', 'INSERT INTO things VALUES (1);\nINSERT INTO things VALUES (1);');
  await expect(migrate()).rejects.toThrow(
    /2_more failed: duplicate key.*Nothing of it was kept\. Mend what it names, then fundadmin database migrate again/s,
  );
  expect(await rows('SELECT * FROM things')).toEqual([]);
  const failure = { finished: false, rolled_back: true, steps: 0, logs: /duplicate key/ };
  expect(await names()).toMatchObject([
    { name: '1_things', finished: true, rolled_back: false, steps: 1 },
    { ...failure, name: '2_more', logs: expect.stringMatching(failure.logs) },
  ]);
  expect(await readMigrationState(url, migrationsDir)).toMatchObject({
    pending: ['2_more'],
    failed: [{ name: '2_more', logs: expect.stringMatching(failure.logs) }],
  });
  write('2_more', 'INSERT INTO things VALUES (1);');
  expect(await migrate()).toEqual(['2_more']);
  expect(lines[0]).toMatch(/2_more failed at .*duplicate key.* tried again/);
  expect(await readMigrationState(url, migrationsDir)).toMatchObject({ pending: [], failed: [] });
});

test('of several migrators one works, and the others find nothing to do, also around an online one', async () => {
  write('1_things', `${TABLE}\nSELECT pg_sleep(0.7);`);
  write('2_index', INDEX);
  const ends = await Promise.all([migrate(), migrate(), migrate()]);
  expect(ends.filter((each) => each.length > 0)).toEqual([['1_things', '2_index']]);
  expect(await names()).toHaveLength(2);
});

test('a migration does not queue behind a long transaction: it gives way, says who is in the way, and is tried again', async () => {
  write('1_things', TABLE);
  await migrate();
  write('2_column', 'ALTER TABLE things ADD COLUMN other text;');
  const holder = await connect(url);
  await holder.query('BEGIN');
  await holder.query('SELECT FROM things');
  const { rows: found } = await holder.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const pid = String(found[0]?.pid);
  const blocked = new RegExp(
    `2_column did not get its locks within 400 ms, held by pid ${pid} \\(.*a long report.*idle in transaction`,
  );
  await expect(migrate({ tries: 2 })).rejects.toThrow(
    new RegExp(`${blocked.source}.*2 times\\. Nothing of it was kept\\. End what holds them`),
  );
  expect(await names()).toHaveLength(1);
  // Others read behind it, for as long as it waits and no longer.
  const later = migrate({ tries: 50 });
  const readMs = async (): Promise<number> => {
    const since = performance.now();
    await client.query('SELECT FROM things');
    return performance.now() - since;
  };
  for (let turn = 0; turn < 5; turn += 1) expect(await readMs()).toBeLessThan(2_000);
  while (!lines.some((line) => blocked.test(line))) await readMs();
  await holder.query('COMMIT');
  expect(await later).toEqual(['2_column']);
});

test('an online migration that was cut off is repeated, and what it left behind is removed', async () => {
  write('1_things', `${TABLE}\nINSERT INTO things VALUES (1, 'a'), (2, 'a');`);
  write('2_index', INDEX);
  await expect(migrate()).rejects.toThrow(/2_index failed: could not create unique index/);
  const valid =
    'SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = $$things_kind$$::regclass';
  expect(await rows(valid)).toEqual([{ valid: false }]);
  await client.query('DELETE FROM things WHERE id = 2');
  // As a process leaves it that is killed.
  await client.query(
    "UPDATE _prisma_migrations SET logs = NULL, rolled_back_at = NULL WHERE migration_name = '2_index'",
  );
  expect(await migrate()).toEqual(['2_index']);
  expect(await rows(valid)).toEqual([{ valid: true }]);
  write('3_two', '-- online\nCREATE INDEX a ON things (kind);\nCREATE INDEX b ON things (kind);');
  await expect(migrate()).rejects.toThrow(/3_two failed: .*multiple commands/);
});

test('what another program started and did not end is not guessed about', async () => {
  write('1_things', TABLE);
  await migrate();
  write('2_more', 'CREATE TABLE more ();');
  await client.query(`INSERT INTO _prisma_migrations (id, checksum, migration_name)
    VALUES ('x', 'x', '2_more')`);
  await expect(migrate()).rejects.toThrow(
    /2_more was started at .* by another program.*SET rolled_back_at = now\(\) WHERE migration_name = '2_more'/,
  );
});

test('a database of another build, and a role that owns nothing, are refused', async () => {
  write('1_things', TABLE);
  await migrate();
  write('2_more', 'CREATE TABLE more ();');
  await client.query(`CREATE ROLE stranger LOGIN PASSWORD 'stranger' IN ROLE pg_read_all_data`);
  const stranger = addressOf(`scratch_${String(made)}`, 'stranger');
  await expect(applyMigrations(stranger, { migrationsDir })).rejects.toThrow(
    /role stranger does not own the tables; postgres does/,
  );
  write('1_things', `${TABLE} `);
  await expect(migrate()).rejects.toThrow(/another text than this build has: 1_things/);
  write('1_things', TABLE);
  rmSync(join(migrationsDir, '2_more'), { recursive: true });
  await client.query(`INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at)
    VALUES ('x', 'x', '9_newer', now())`);
  await expect(migrate()).rejects.toThrow(/does not know: 9_newer/);
});

/** As `npm run release:migrations` writes it. */
async function release(version: string): Promise<void> {
  const { releases, migrations } = await readBuild(migrationsDir);
  writeFileSync(
    join(migrationsDir, RELEASES_FILE),
    JSON.stringify(withRelease(releases, version, migrations)),
  );
}

test('the release before goes on, and comes back, on a newer database; an older one does not', async () => {
  const build = (version: string): string => `${migrationsDir}-${version}`;
  const fault = async (version: string): Promise<string | null> =>
    schemaFault(await readMigrationState(url, build(version)));
  for (const version of ['1.0.0', '1.1.0', '1.2.0']) {
    write(`${version}_things`, `CREATE TABLE "things_${version}" ();`);
    if (version === '1.2.0')
      write('1.2.0_z', INDEX.replace(' things ', ' "things_1.2.0" ').replace('kind)', '(1))'));
    await release(version);
    cpSync(migrationsDir, build(version), { recursive: true });
    builds.push(build(version));
  }
  expect(await applyMigrations(url, { migrationsDir: build('1.0.0') })).toHaveLength(1);
  expect(await fault('1.0.0')).toBeNull();
  expect(await fault('1.1.0')).toMatch(/not applied: 1\.1\.0_things/);
  await applyMigrations(url, { migrationsDir: build('1.1.0') });
  expect(await fault('1.0.0')).toBeNull();
  expect(await applyMigrations(url, { migrationsDir: build('1.0.0') })).toEqual([]);
  await applyMigrations(url, { migrationsDir: build('1.2.0') });
  expect(await fault('1.2.0')).toBeNull();
  expect(await fault('1.1.0')).toBeNull();
  expect(await fault('1.0.0')).toMatch(/does not know: 1\.1\.0_things, 1\.2\.0_things, 1\.2\.0_z/);
  await expect(applyMigrations(url, { migrationsDir: build('1.0.0') })).rejects.toThrow(
    /does not know/,
  );
});

/** A process of the service on a database; answers its end, or that it had to be stopped. */
function startService(database: string): Promise<{ status: number | null; err: string }> {
  const env = {
    PATH: process.env['PATH'],
    SVC_DATABASE_URL: database,
    SVC_AUTH_ENABLED: 'false',
    SVC_PORT: '0',
    SVC_OPS_PORT: '0',
    SVC_TEMPORAL_ADDRESS: '127.0.0.1:1',
  };
  const child = spawn(process.execPath, [built('main'), 'api'], { env });
  return new Promise((resolve) => {
    let text = '';
    const heard = (chunk: Buffer): void => {
      text += chunk.toString();
      if (/the API listens|waits for the database/.test(text)) child.kill('SIGKILL');
    };
    child.stderr.on('data', heard);
    child.stdout.on('data', heard);
    child.on('close', (status) => resolve({ status, err: text }));
  });
}

test('the service does not start on missing or unknown migrations, and says what to do', async () => {
  const empty = await startService(url);
  expect(empty).toMatchObject({ status: 1 });
  expect(empty.err).toMatch(
    /Migrations are not applied: 2026\d+_tables, .*Apply them as the owner of the database: fundadmin database migrate\./,
  );
  await applyMigrations(url);
  await client.query(`INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at)
    VALUES ('x', 'x', '99999999000000_newer', now())`);
  // A release further ahead than the next one, which says of no release here that it serves it.
  await client.query('COMMENT ON TABLE _prisma_migrations IS NULL');
  const newer = await startService(url);
  expect(newer).toMatchObject({ status: 1 });
  expect(newer.err).toMatch(/does not know: 99999999000000_newer/);
  const away = await startService(url.replace(/:\d+\//, ':1/'));
  expect(away.err).toMatch(/Postgres does not answer \(ECONNREFUSED\).*waits for the database/);
});

/** A role of the service without any right so far, named as its password. */
async function makeRole(name: string): Promise<string> {
  await client.query(`CREATE ROLE ${name} LOGIN PASSWORD '${name}'`);
  return name;
}

for (const state of readStates())
  test(`after each migration processes of ${state.version} go on with the rights of their role`, async () => {
    const { migrations } = await readBuild();
    const isOld = (name: string): boolean => Object.hasOwn(state.migrations, name);
    const grantTo = await makeRole(`service_of_${state.version.replaceAll('.', '_')}`);
    for (const { name, sql } of migrations) if (isOld(name)) write(name, sql);
    await migrate({ grantTo });
    await restoreRows(state, url);
    const service = await connect(addressOf(`scratch_${String(made)}`, grantTo));
    for (const { name, sql } of migrations) {
      if (isOld(name)) continue;
      write(name, sql);
      expect(await migrate({ grantTo })).toEqual([name]);
      // The moment of its creation, too: then rules are looked at for what waits for its approval.
      const { rowCount } = await service.query(
        `SELECT attention_of(m, looks.at)
         FROM movements m, unnest(ARRAY[m.created_at, svc_now()]) AS looks (at)
         WHERE m.ended_at IS NULL`,
      );
      expect(rowCount).toBeGreaterThan(0);
      // A fence, up to its look at the node, which comes after that for proofs.
      const { rows: fences } = await service.query(
        `SELECT DISTINCT apply_transition(jsonb_build_object('movement_id', movement_id,
           'nodes', '[{"node_key": "none", "states": [], "set": {"state": "SUBMITTING"}}]'::jsonb))
             ->> 'reason' AS reason
         FROM movements WHERE request_state = 'EXECUTING'`,
      );
      expect({ name, fences }).toEqual({ name, fences: [{ reason: 'node_state' }] });
    }
  }, 120_000);

test('a migration that fails leaves the rights that belong to those before it', async () => {
  const role = await makeRole('service_of_failed');
  await client.query('CREATE TABLE stuck_runs ()');
  const words = ['database', 'migrate', '--grant-to', role];
  const env = { ...process.env, SVC_DATABASE_OWNER_URL: url };
  const said = await new Promise<string>((resolve) => {
    execFile(process.execPath, [built('fundadmin'), ...words], { env }, (_, __, err) =>
      resolve(err),
    );
  });
  expect(said).toMatch(/_stuck_runs failed: relation "stuck_runs" already exists/);
  const service = await connect(addressOf(`scratch_${String(made)}`, role));
  for (const table of ['movements', 'approval_rules', 'venue_outlooks'])
    expect(await service.query(`SELECT FROM ${table}`)).toMatchObject({ rowCount: 0 });
}, 120_000);
