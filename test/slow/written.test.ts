/**
 * What Postgres writes to its log for a movement, and how long the functions take that write it.
 * Before a commit is answered nothing else is written to the disk, so these bytes are what a disk,
 * a replica and a backup have to carry.
 */
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import type pg from 'pg';
import { installSdk } from '../../activities/sdk.ts';
import { startCostService, type CostService } from '../../bench/costs/service.ts';
import { forEach } from '../../bench/load/each.ts';
import type { CreatedMovement } from '../../bench/load/api.ts';
import { startBenchStack, type BenchStack } from '../../bench/stack.ts';
import { chain } from '../../bench/templates.ts';
import { until } from '../../bench/until.ts';
import { connectDatabase, type Database } from '../../prisma/client.ts';

const MOVEMENTS = 200;
const NODES = 3;
/** Bytes a movement of these nodes; measured 6,970 and 28,360. */
const LIMITS = { create: 8_000, run: 32_000 };
const template = { ...chain('instant', NODES), template_key: 'bench/written' };

let stack: BenchStack | undefined;
let service: CostService | undefined;
let db: Database | undefined;

beforeAll(async () => {
  installSdk(pino({ level: 'silent' }));
  stack = await startBenchStack(() => undefined);
  // Whole pages come into the log after each checkpoint, whatever was changed of them: their number
  // is the clock's.
  await stack.pool.query('CREATE EXTENSION pg_walinspect');
  await stack.pool.query('ALTER SYSTEM SET full_page_writes = off');
  await stack.pool.query('ALTER SYSTEM SET autovacuum = off');
  await stack.pool.query("ALTER SYSTEM SET track_functions = 'pl'");
  await stack.pool.query('SELECT pg_reload_conf()');
  db = connectDatabase({ url: stack.settings.databaseUrl });
  service = await startCostService({ settings: stack.settings, db, wrap: (all) => all });
  await service.api.register(template);
}, 120_000);
afterAll(async () => {
  await service?.stop();
  await db?.$disconnect();
  await stack?.stop();
});

test('a movement of three nodes writes no more than it has to', async () => {
  const { pool } = stack!;
  await finish(pool, await begin(pool, 40));
  await pool.query('CHECKPOINT');
  const from = await position(pool);
  const made = await begin(pool, MOVEMENTS);
  const between = await position(pool);
  await finish(pool, made);
  const to = await position(pool);

  const [create, run] = [await bytes(pool, from, between), await bytes(pool, between, to)];
  await report(pool, { create, run, from, between, to });
  expect(create).toBeLessThan(LIMITS.create);
  expect(run).toBeLessThan(LIMITS.run);
}, 300_000);

/** Creates movements whose runs wait for their approval. */
async function begin(pool: pg.Pool, count: number): Promise<readonly CreatedMovement[]> {
  const made = await forEach([...Array(count).keys()], () =>
    patiently(() => service!.api.create(template)),
  );
  await untilNone(pool, 'SELECT count(*)::int AS left FROM commands WHERE applied_at IS NULL');
  return made;
}

/** Approves them, and waits until all are complete. */
async function finish(pool: pg.Pool, movements: readonly CreatedMovement[]): Promise<void> {
  const byId = new Map(movements.map((each) => [each.movement_id, each]));
  await forEach([...byId.keys()], (id) => patiently(() => service!.api.approve(byId.get(id)!)));
  await untilNone(pool, 'SELECT count(*)::int AS left FROM movements WHERE ended_at IS NULL');
  await untilNone(pool, 'SELECT count(*)::int AS left FROM commands WHERE applied_at IS NULL');
}

/** Asks again where a busy machine answers that nothing was accepted. */
async function patiently<T>(ask: () => Promise<T>, again = 50): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (again === 0 || !String(error).includes('"overloaded"')) throw error;
    await sleep(200);
    return patiently(ask, again - 1);
  }
}

async function untilNone(pool: pg.Pool, query: string): Promise<void> {
  await until(async () => (await pool.query<{ left: number }>(query)).rows[0]?.left === 0, {
    everyMs: 100,
    limitMs: 120_000,
    what: query,
  });
}

async function position(pool: pg.Pool): Promise<string> {
  const { rows } = await pool.query<{ lsn: string }>('SELECT pg_current_wal_insert_lsn() AS lsn');
  return rows[0]!.lsn;
}

/** Bytes of the log a movement. */
async function bytes(pool: pg.Pool, from: string, to: string): Promise<number> {
  const { rows } = await pool.query<{ bytes: number }>(
    'SELECT (($2::pg_lsn - $1::pg_lsn) / $3)::float8 AS bytes',
    [from, to, MOVEMENTS],
  );
  return rows[0]!.bytes;
}

/** All of it as a table, into the file that `WRITTEN_TABLE` names. */
async function report(
  pool: pg.Pool,
  figures: Readonly<Record<'from' | 'between' | 'to', string> & Record<'create' | 'run', number>>,
): Promise<void> {
  const file = process.env['WRITTEN_TABLE'];
  if (file === undefined) return;
  const tell = (line: string): void => appendFileSync(file, `${line}\n`);
  tell(`bytes a movement: create ${figures.create.toFixed(0)}, run ${figures.run.toFixed(0)}`);
  const relations = await pool.query<{ name: string; records: number; bytes: number }>(
    `SELECT coalesce(c.relname, b.relfilenode::text) AS name, count(*)::float8 / $3 AS records,
       sum(b.record_length)::float8 / $3 AS bytes
     FROM pg_get_wal_block_info($1, $2) b
     LEFT JOIN pg_class c ON pg_relation_filenode(c.oid) = b.relfilenode
     WHERE b.block_id = 0 GROUP BY 1 ORDER BY 3 DESC`,
    [figures.from, figures.to, MOVEMENTS],
  );
  for (const { name, records, bytes: length } of relations.rows)
    tell(`  ${name.padEnd(40)} ${records.toFixed(2).padStart(8)} ${length.toFixed(0).padStart(8)}`);
  const tables = await pool.query<{ name: string; updates: number; hot: number }>(
    `SELECT relname AS name, n_tup_upd::float8 / $1 AS updates, n_tup_hot_upd::float8 / $1 AS hot
     FROM pg_stat_user_tables WHERE n_tup_upd > 0 ORDER BY 2 DESC`,
    [MOVEMENTS + 40],
  );
  for (const { name, updates, hot } of tables.rows)
    tell(`  ${name.padEnd(40)} updates ${updates.toFixed(2)} hot ${hot.toFixed(2)}`);
  await service?.stop();
  service = undefined;
  await db?.$disconnect();
  const functions = await pool.query<{ name: string; calls: number; ms: number }>(
    `SELECT funcname AS name, calls::float8 / $1 AS calls, total_time / calls AS ms
     FROM pg_stat_user_functions ORDER BY total_time DESC LIMIT 20`,
    [MOVEMENTS + 40],
  );
  for (const { name, calls, ms } of functions.rows)
    tell(`  ${name.padEnd(40)} calls ${calls.toFixed(2)} ms ${ms.toFixed(3)}`);
}
