/**
 * The texts of prisma/functions are what a migrated database runs: each function once, and no
 * other.
 */
import { readFileSync } from 'node:fs';
import {
  functionBodies,
  functionsMigration,
  needlessMigration,
  functionTexts,
} from '../../prisma/functions-migration.ts';
import { applyMigrations } from '../../prisma/migrate.ts';
import { storeBench } from './support.ts';

const bodies = functionBodies().map(({ name, body }) => ({ name, body }));
const bench = storeBench();

test('the migration is made of the texts; `npm run sql:migration` writes it', () => {
  const { file, text } = functionsMigration() ?? { file: needlessMigration(), text: null };
  // Null where the released ones have every function as it is, and no other is there.
  expect(file === null ? null : readFileSync(file, 'utf8')).toBe(text);
});

test('a migrated database has exactly these functions', async () => {
  const rows = await bench.sql<{ name: string; body: string }>(
    `SELECT p.proname AS name, p.prosrc AS body FROM pg_proc p JOIN pg_namespace n
      ON n.oid = p.pronamespace
     WHERE n.nspname = 'public'`,
  );
  expect(bodies.length).toBeGreaterThan(50);
  // A function that workers of the release before call as well is there twice.
  const inOrder = (all: readonly { readonly name: string; readonly body: string }[]) =>
    all.map(({ name, body }) => `${name} ${body}`).sort();
  expect(inOrder(rows)).toEqual(inOrder(bodies));
});

test('only these functions have a setting besides search_path', async () => {
  const rows = await bench.sql<{ name: string; setting: string }>(
    `SELECT p.proname AS name, s.setting FROM pg_proc p JOIN pg_namespace n
       ON n.oid = p.pronamespace CROSS JOIN LATERAL unnest(p.proconfig) AS s (setting)
     WHERE n.nspname = 'public' AND s.setting NOT LIKE 'search_path=%' ORDER BY 1, 2`,
  );
  expect(rows).toEqual([
    { name: 'apply_transition', setting: 'plan_cache_mode=force_generic_plan' },
    { name: 'check_covered', setting: 'plan_cache_mode=auto' },
    { name: 'take_budget', setting: 'plan_cache_mode=auto' },
  ]);
});

test('every body can be read by the database', async () => {
  // Checked here and not in the migration, whose texts may name each other in any order.
  for (const { text } of functionTexts())
    await bench.db.$executeRawUnsafe(`DO $outer$ BEGIN EXECUTE $text$${text}$text$; END $outer$`);
});

test('a database of an earlier build is recognized', async () => {
  await bench.sql(`INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at,
    applied_steps_count)
                   VALUES ('earlier', 'x', '20261121000000_init', now(), 1)`);
  await expect(applyMigrations(bench.url)).rejects.toThrow(/20261121000000_init.*earlier build/s);
});
