/**
 * Released migrations never change, new ones block no other session and keep what the release
 * before them uses, and functions that changed since a release stand in a new migration.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { lintFaults, squawk } from '../../dev/migrations/lint.ts';
import { RULES } from '../../dev/migrations/rules.ts';
import { functionsMigration, needlessMigration } from '../../prisma/functions-migration.ts';
import { MIGRATIONS_DIR, readBuild } from '../../prisma/migration-state.ts';
import { RELEASES_FILE, releaseBefore, releaseFaults, withRelease } from '../../prisma/releases.ts';
import { putMigrations } from '../upgrade/builds.ts';
import { readStates, stateFaults, type StateFacts } from '../upgrade/state.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'migrations-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

function write(name: string, sql: string): void {
  mkdirSync(join(dir, name), { recursive: true });
  writeFileSync(join(dir, name, 'migration.sql'), sql);
}
async function release(version: string): Promise<void> {
  const { releases, migrations } = await readBuild(dir);
  const all = withRelease(releases, version, migrations);
  writeFileSync(join(dir, RELEASES_FILE), JSON.stringify(all));
}
const faults = async (): Promise<readonly string[]> => {
  const { releases, migrations } = await readBuild(dir);
  return releaseFaults(releases, migrations);
};

test('of the project itself nothing that is released was changed, and nothing new is refused', async () => {
  expect(await lintFaults(MIGRATIONS_DIR)).toEqual([]);
});

test('of each release a database with data in it is recorded, for the upgrades from it', async () => {
  const { releases } = await readBuild();
  expect(stateFaults(releases, readStates())).toEqual([]);
  const made = { migrations: { '1_things': 'a' }, version: '1.0.0' };
  const then = [{ version: '1.1.0', migrations: { '2_more': 'b' } }];
  const state = (version: string, migrations: Record<string, string>): StateFacts =>
    ({ version, migrations }) as StateFacts;
  expect(stateFaults([made], [])).toEqual([
    expect.stringMatching(
      /^1\.0\.0 is released and its data is not recorded: npm run release:state/,
    ),
  ]);
  const first = state('1.0.0', { '1_things': 'a' });
  const second = { '2_more': 'b', '1_things': 'a' };
  expect(stateFaults([made, ...then], [first, state('1.1.0', second)])).toEqual([]);
  expect(
    stateFaults([made, ...then], [first, state('1.1.0', { ...second, '1_things': 'c' })]),
  ).toEqual([expect.stringMatching(/states\/1\.1\.0 was recorded from other migrations/)]);
});

test('the made-up next release, over which upgrades are tested, is one that would be taken', async () => {
  putMigrations('next', dir);
  expect(await lintFaults(dir)).toEqual([]);
});

test('a released migration is not changed, removed or gone before', async () => {
  write('1_things', 'CREATE TABLE things ();');
  write('3_more', 'CREATE TABLE more ();');
  await release('1.0.0');
  expect(await faults()).toEqual([]);
  expect((await readBuild(dir)).releases).toEqual([
    {
      version: '1.0.0',
      migrations: {
        '1_things': createHash('sha256').update('CREATE TABLE things ();').digest('hex'),
        '3_more': expect.any(String),
      },
    },
  ]);
  await expect(release('1.0.0')).rejects.toThrow(/1\.0\.0 is released already/);
  write('1_things', 'CREATE TABLE things (id integer);');
  rmSync(join(dir, '3_more'), { recursive: true });
  write('2_between', 'SELECT 1;');
  expect(await faults()).toEqual([
    expect.stringMatching(/^1_things was released with 1\.0\.0 and was changed since/),
    expect.stringMatching(/^3_more was released with 1\.0\.0 and is gone/),
    expect.stringMatching(/^2_between is new and stands before 3_more/),
  ]);
  await expect(release('1.1.0')).rejects.toThrow(/1_things was released/);
});

test('the release before is the one whose processes run on the schema too', async () => {
  const before = async (): Promise<string | null> => {
    const { releases, migrations } = await readBuild(dir);
    return releaseBefore(releases, migrations);
  };
  write('1_things', 'CREATE TABLE things ();');
  expect(await before()).toBeNull();
  await release('1.0.0');
  expect(await before()).toBeNull();
  write('2_more', 'CREATE TABLE more ();');
  expect(await before()).toBe('1.0.0');
  await release('1.1.0');
  expect(await before()).toBe('1.0.0');
  await release('1.2.0');
  expect(await before()).toBe('1.1.0');
});

test.each([
  ['CREATE INDEX a ON things (kind);', 'require-concurrent-index-creation'],
  ['CREATE INDEX CONCURRENTLY IF NOT EXISTS a ON things (kind);', 'online'],
  ['-- online\nCREATE INDEX CONCURRENTLY a ON things (kind);', 'online'],
  ['-- online\nUPDATE things SET kind = 1;', 'online'],
  ['ALTER TABLE things ALTER COLUMN kind SET NOT NULL;', 'adding-not-nullable-field'],
  ['ALTER TABLE things ADD COLUMN other text NOT NULL;', 'adding-required-field'],
  [
    'ALTER TABLE things ADD COLUMN other uuid DEFAULT gen_random_uuid();',
    'adding-field-with-default',
  ],
  ['ALTER TABLE things ALTER COLUMN kind TYPE varchar(9);', 'changing-column-type'],
  ["ALTER TABLE things ADD CONSTRAINT c CHECK (kind <> 'x');", 'constraint-missing-not-valid'],
  ['ALTER TABLE things ADD UNIQUE (kind);', 'disallowed-unique-constraint'],
  ['ALTER TABLE things DROP COLUMN kind;', 'ban-drop-column'],
  ['ALTER TABLE things RENAME COLUMN kind TO other;', 'renaming-column'],
  ['DROP TABLE things;', 'ban-drop-table'],
  ['DROP INDEX things_kind;', 'require-concurrent-index-deletion'],
  ['DROP FUNCTION f;', 'drop-in-use'],
  ["ALTER TYPE kind RENAME VALUE 'a' TO 'b';", 'rename-in-use'],
  ['TRUNCATE things;', 'long-lock'],
  ['SELECT 1;\nSET search_path = other;', 'session-setting'],
  ['COMMIT;', 'transaction-nesting'],
])('%s is refused: %s', async (sql, rule) => {
  write('1_new', sql);
  // Where squawk is not installed only our own rules are shown.
  const isOurs = rule === 'online' || RULES.some((each) => each.rule === rule);
  if (squawk() === null && !isOurs) return;
  expect((await lintFaults(dir)).join('\n')).toContain(`${rule}: `);
});

test('a migration that blocks no session passes, and so does one that a line of the file allows', async () => {
  for (const [index, sql] of [
    '-- online\n-- Why.\nCREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS a ON things (kind);',
    '-- online\nALTER TABLE things VALIDATE CONSTRAINT c;',
    "ALTER TABLE things ADD CONSTRAINT c CHECK (kind <> 'x') NOT VALID;",
    "ALTER TABLE things ADD COLUMN other text NOT NULL DEFAULT 'TRUNCATE';",
    'CREATE TABLE more (id integer PRIMARY KEY);\nCREATE INDEX more_id ON more (id);',
    'CREATE OR REPLACE FUNCTION f() RETURNS void LANGUAGE sql AS $$ TRUNCATE things $$;',
    '-- allowed: drop-in-use, because 1.0.0 was the last to call it\nDROP FUNCTION f;',
    '-- squawk-ignore ban-drop-column\nALTER TABLE things DROP COLUMN kind;',
  ].entries())
    write(`${String(index)}_fine`, sql);
  expect(await lintFaults(dir)).toEqual([]);
  // What is released is not looked at again.
  write('9_released', 'TRUNCATE things;');
  expect(await lintFaults(dir)).not.toEqual([]);
  await release('1.0.0');
  expect(await lintFaults(dir)).toEqual([]);
});

test('functions are written into one migration until it is released or another follows, then what changed into a new one', async () => {
  const now = new Date('2030-01-02T03:04:05Z');
  const text = (b: string): { file: string; text: string }[] => [
    {
      file: 'prisma/functions/x.sql',
      text: `-- A file; of functions.\n\n-- One.\n${made('a', '1')}\n\n-- Two.\n${made('b', b)}\n`,
    },
    { file: 'prisma/functions/y.sql', text: `-- Another; file.\n\n${made('c', '3')}\n` },
  ];
  const written = (texts: ReturnType<typeof text>): ReturnType<typeof functionsMigration> => {
    const migration = functionsMigration({ texts, migrationsDir: dir, now });
    if (migration !== null) write(basename(dirname(migration.file)), migration.text);
    return migration;
  };
  write('20260101000000_tables', 'SELECT 1;');
  const first = written(text('2'));
  expect(first?.file).toBe(join(dir, '20300102030405_functions', 'migration.sql'));
  expect(written(text('22'))?.file).toBe(first?.file);
  await release('1.0.0');
  expect(written(text('22'))).toBeNull();
  const second = written(text('222'));
  expect(second?.file).toBe(join(dir, '20300102030406_functions', 'migration.sql'));
  expect(second?.text.split('\n\n').slice(1).join('\n\n')).toBe(
    `-- prisma/functions/x.sql\n\n-- Two.\n${made('b', '222')}\n`,
  );
  expect(written(text('2222'))?.file).toBe(second?.file);
  // A database may have it and what follows it.
  write('20300102030407_more', 'SELECT 2;');
  expect(written(text('22222'))?.file).toBe(join(dir, '20300102030408_functions', 'migration.sql'));
  await release('1.1.0');
  expect(written(text('22222'))).toBeNull();
  expect(needlessMigration(dir)).toBeNull();
  expect(existsSync(join(dir, '20300102030407_functions'))).toBe(false);
  expect(await faults()).toEqual([]);
});

function made(name: string, value: string): string {
  return `CREATE OR REPLACE FUNCTION ${name}() RETURNS integer LANGUAGE sql AS $$\n  SELECT ${value};\n$$;\nREVOKE ALL ON FUNCTION ${name}() FROM PUBLIC;`;
}
