/**
 * `npm run simulate -- --seed N`: worlds of movements under a scheduler that a seed drives. Each
 * world has a process and a database of its own, two at a time. Ends with exit status 0 only if
 * nothing contradicts anything. docs/testing.md, "Simulation".
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { built } from '../../dev/bootstrap/programs.mjs';
import { takeSignals } from '../../dev/stack/foreground.ts';
import { freePort } from '../../dev/stack/ports.ts';
import { postgresPart } from '../../dev/stack/postgres.ts';
import { Supervisor } from '../../dev/stack/supervise/supervisor.ts';
import { applyMigrations } from '../../prisma/migrate.ts';
import { Coverage } from './coverage.ts';
import { DATABASE_SEAMS } from './machine/database.ts';
import { readOptions } from './options.ts';
import type { WorldReport } from './report.ts';
import { shrink } from './shrink.ts';
import { storyOf } from './story.ts';

const options = readOptions(process.argv.slice(2));

/** Worlds that run at a time. */
const LANES = 2;
/** A world that takes longer is ended, and counts as a contradiction. */
const LONGEST_MS = 300_000;

interface Wanted {
  readonly seed: number;
  readonly movements: number;
  /** Faults that may strike; null: all. */
  readonly only: readonly number[] | null;
}

const foreground = takeSignals(() => undefined);
const status = await main().catch((error: unknown) => {
  if (foreground.status === null)
    process.stderr.write(`${error instanceof Error ? (error.stack ?? '') : String(error)}\n`);
  return 1;
});
process.exit(foreground.status ?? status);

type Run = (wanted: Wanted) => Promise<WorldReport>;

async function main(): Promise<number> {
  const dataDir = mkdtempSync(join(tmpdir(), 'simulation-'));
  const supervisor = new Supervisor({ dataDir, restart: false, log: () => undefined });
  try {
    const lanes: Run[] = [];
    for (let lane = 1; lane <= Math.min(LANES, options.worlds); lane += 1)
      lanes.push(await openLane(supervisor, join(dataDir, String(lane))));
    return (await runAll(lanes)) === 0 ? 0 : 1;
  } finally {
    await supervisor.stopAll();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/**
 * A Postgres of its own for the worlds of a lane, one after the other: with transactions of another
 * world, pages are cleaned at other times, and rows without an order come in another one.
 */
async function openLane(supervisor: Supervisor, dataDir: string): Promise<Run> {
  mkdirSync(dataDir, { mode: 0o700 });
  const { spec, databaseUrl } = await postgresPart({
    dataDir,
    port: await freePort(),
    logDir: join(dataDir, 'logs'),
    durable: false,
  });
  await supervisor.add({ ...spec, name: `postgres ${dataDir}` });
  await applyMigrations(databaseUrl);
  const base = new pg.Client({ connectionString: databaseUrl });
  await base.connect();
  await base.query(DATABASE_SEAMS);
  // It goes by the real time, and what it learns of a table changes plans.
  await base.query('ALTER SYSTEM SET autovacuum = off');
  await base.query('SELECT pg_reload_conf()');
  await base.end();
  const keeper = new pg.Client({ connectionString: named(databaseUrl, 'postgres') });
  keeper.on('error', () => undefined); // the server ends before this connection does
  await keeper.connect();
  let made = 0;
  return async (wanted) => {
    made += 1;
    const name = `world_${String(made)}`;
    await keeper.query(`CREATE DATABASE ${name} TEMPLATE ${nameOf(databaseUrl)}`);
    try {
      return await runWorld(wanted, named(databaseUrl, name));
    } finally {
      await keeper.query(`DROP DATABASE ${name} WITH (FORCE)`);
    }
  };
}

async function runAll(lanes: readonly Run[]): Promise<number> {
  const { seed: first, worlds, movements } = options;
  const began = performance.now();
  const sums = { movements: 0, faults: 0, steps: 0, contradictions: 0 };
  const coverage = new Coverage();
  let next = first;
  const work = async (run: Run): Promise<void> => {
    while (next < first + worlds && foreground.status === null) {
      if (options.first && sums.contradictions > 0) return;
      const seed = next;
      next += 1;
      const report = await run({ seed, movements, only: null });
      if (options.again)
        report.verdicts.push(...differences(report, await run({ seed, movements, only: null })));
      sums.movements += movements;
      sums.steps += report.steps;
      sums.faults += report.faults.length;
      sums.contradictions += report.verdicts.length;
      coverage.add(report);
      tell(report);
      if (options.shrink && report.verdicts.length > 0) {
        const least = await shrink(report, (only) => run({ seed, movements, only }));
        process.stdout.write(`${storyOf(least)}\n`);
      }
    }
  };
  await Promise.all(lanes.map(work));
  const seconds = (performance.now() - began) / 1_000;
  const rate = (count: number): string => (count / seconds).toFixed(1);
  process.stdout.write(
    `${String(sums.movements)} movements, ${String(sums.faults)} faults, ${String(sums.steps)} steps in ${seconds.toFixed(0)} s (${rate(sums.movements)} movements and ${rate(sums.steps)} steps a second)\n`,
  );
  process.stdout.write(`${coverage.report()}\n`);
  process.stdout.write(`${String(sums.contradictions)} contradictions\n`);
  return sums.contradictions;
}

/** What two runs of a seed contradict each other in. */
function differences(one: WorldReport, other: WorldReport): WorldReport['verdicts'] {
  if (one.digest === other.digest) return [];
  const found = `${one.digest.slice(0, 16)} and ${other.digest.slice(0, 16)}`;
  return [{ rule: 'two runs of a seed have the same log', movement_id: null, found }];
}

/** Runs one world in a process of its own, and reads the report that it ends with. */
async function runWorld({ seed, movements, only }: Wanted, url: string): Promise<WorldReport> {
  const args = [String(seed), String(movements), options.calm ? 'calm' : 'storm', url];
  if (only !== null) args.push(only.join(','));
  const child = spawn(process.execPath, [built('simulated-world'), ...args], {
    stdio: ['ignore', options.log === undefined ? 'ignore' : 'pipe', 'inherit', 'pipe'],
    signal: AbortSignal.any([foreground.signal, AbortSignal.timeout(LONGEST_MS)]),
    killSignal: 'SIGKILL',
  });
  if (options.log !== undefined)
    child.stdout?.pipe(createWriteStream(join(options.log, `${String(seed)}.log`)));
  child.on('error', () => undefined); // it was ended by the signal
  const ended = once(child, 'exit').catch(() => undefined);
  const report = await text(child.stdio[3] as NodeJS.ReadableStream);
  await ended;
  if (foreground.status !== null) throw new Error('the run was broken off');
  if (report !== '') return JSON.parse(report) as WorldReport;
  const found = 'the world did not come to its end';
  return {
    ...{ seed, digest: '', steps: 0, faults: [], counts: {}, states: {}, seen: {}, story: {} },
    verdicts: [{ rule: 'a world ends', movement_id: null, found }],
  };
}

function tell({ seed, digest, states, verdicts, counts }: WorldReport): void {
  process.stdout.write(
    `seed ${String(seed)}: ${digest.slice(0, 16)} ${JSON.stringify(states)} ${JSON.stringify(counts)}\n`,
  );
  for (const { rule, movement_id, found } of verdicts)
    process.stdout.write(`  ${rule}: ${String(movement_id)} ${found}\n`);
}

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1);
}

function named(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}
