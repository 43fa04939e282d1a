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
import { findIdle, type Logged } from './effects.ts';
import { DATABASE_SEAMS, FENCE_SEAMS } from './machine/database.ts';
import { readOptions } from './options.ts';
import { NO_EXCHANGE, type WorldReport } from './report.ts';
import { shrink } from './shrink.ts';
import { storyOf } from './story.ts';

const options = readOptions(process.argv.slice(2));

/** Worlds that run at a time. */
const LANES = 2;
/**
 * A world that takes longer is ended, and counts as a contradiction. One at an exchange has hours
 * of its own time.
 */
const LONGEST_MS = options.exchange === undefined ? 300_000 : 1_800_000;

/**
 * Of the servers: nothing is kept, one connection works at a time, and nothing depends on the real
 * time, as autovacuum does, and what it learns of a table changes plans.
 */
const SETTINGS = [
  ...['autovacuum=off', 'track_counts=off', 'jit=off', 'max_parallel_workers_per_gather=0'],
  ...['synchronous_commit=off', 'full_page_writes=off', 'wal_level=minimal', 'max_wal_senders=0'],
  ...['max_connections=40', 'update_process_title=off', 'bgwriter_lru_maxpages=0'],
];

/** Of the processes of worlds: what is young is collected a tenth as often. */
const FLAGS = ['--max-semi-space-size=128'];

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

type Run = (wanted: Wanted) => Promise<Logged>;

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
  const cluster = join(dataDir, 'postgres');
  const settings = [...SETTINGS, `unix_socket_directories=${cluster}`];
  await supervisor.add({
    ...spec,
    name: `postgres ${dataDir}`,
    args: [...spec.args, ...settings.flatMap((each) => ['-c', each])],
  });
  await applyMigrations(databaseUrl);
  const base = new pg.Client({ connectionString: databaseUrl });
  await base.connect();
  await base.query(DATABASE_SEAMS + FENCE_SEAMS);
  await base.end();
  const keeper = new pg.Client({ connectionString: named(databaseUrl, 'postgres') });
  keeper.on('error', () => undefined); // the server ends before this connection does
  await keeper.connect();
  let made = 0;
  return async (wanted) => {
    made += 1;
    const name = `world_${String(made)}`;
    await keeper.query(
      `CREATE DATABASE ${name} TEMPLATE ${nameOf(databaseUrl)} STRATEGY file_copy`,
    );
    try {
      return await runWorld(wanted, onSocket(named(databaseUrl, name), cluster));
    } finally {
      await keeper.query(`DROP DATABASE ${name} WITH (FORCE)`);
    }
  };
}

async function runAll(lanes: readonly Run[]): Promise<number> {
  const { seed: first, worlds, movements } = options;
  const began = performance.now();
  const sums = { movements: 0, steps: 0, contradictions: 0 };
  const idle = { tried: 0, found: 0 };
  const coverage = new Coverage();
  let next = first;
  const work = async (run: Run): Promise<void> => {
    while (next < first + worlds && foreground.status === null) {
      if (options.first && sums.contradictions > 0) return;
      const seed = next;
      next += 1;
      const logged = await run({ seed, movements, only: null });
      const { report } = logged;
      if (options.again) addAgain(report, (await run({ seed, movements, only: null })).report);
      if (options.effects > 0) {
        const found = await findIdle(logged, options.effects, (only) =>
          run({ seed, movements, only }),
        );
        idle.tried += found.tried;
        idle.found += found.idle.length;
        for (const { number, kind, fault } of found.idle)
          process.stdout.write(`  fault ${String(number)} changes nothing: ${kind} ${fault}\n`);
      }
      sums.movements += movements;
      sums.steps += report.steps;
      sums.contradictions += report.verdicts.length;
      coverage.add(report);
      tell(report);
      if (options.shrink && report.verdicts.length > 0) {
        const least = await shrink(
          report,
          async (only) => (await run({ seed, movements, only })).report,
        );
        process.stdout.write(`${storyOf(least)}\n`);
      }
    }
  };
  await Promise.all(lanes.map(work));
  const seconds = (performance.now() - began) / 1_000;
  const rate = (count: number): string => (count / seconds).toFixed(1);
  process.stdout.write(
    `${String(sums.movements)} movements, ${String(coverage.counted)} counted faults, ${String(sums.steps)} steps in ${seconds.toFixed(0)} s (${rate(sums.movements)} movements and ${rate(sums.steps)} steps a second)\n`,
  );
  process.stdout.write(`${coverage.report(sums.movements)}\n`);
  if (idle.tried > 0)
    process.stdout.write(
      `Left out one by one, ${String(idle.tried - idle.found)} of ${String(idle.tried)} counted faults changed the run.\n`,
    );
  process.stdout.write(`${String(sums.contradictions)} contradictions\n`);
  return sums.contradictions;
}

/** What another run of the seed found too, and that the two differ. */
function addAgain({ digest, verdicts }: WorldReport, other: WorldReport): void {
  const known = new Set(verdicts.map((each) => JSON.stringify(each)));
  verdicts.push(...other.verdicts.filter((each) => !known.has(JSON.stringify(each))));
  if (digest === other.digest) return;
  const found = `${digest.slice(0, 16)} and ${other.digest.slice(0, 16)}`;
  verdicts.push({ rule: 'two runs of a seed have the same log', movement_id: null, found });
}

/** Runs one world in a process of its own, and reads the report that it ends with. */
async function runWorld({ seed, movements, only }: Wanted, url: string): Promise<Logged> {
  const weather = options.calm ? 'calm' : 'storm';
  const args = [String(seed), String(movements), weather, url, options.exchange ?? NO_EXCHANGE];
  if (only !== null) args.push(only.join(','));
  const isRead = options.effects > 0;
  const child = spawn(process.execPath, [...FLAGS, built('simulated-world'), ...args], {
    stdio: [
      'ignore',
      options.log === undefined && !isRead ? 'ignore' : 'pipe',
      ...(['inherit', 'pipe'] as const),
    ],
    signal: AbortSignal.any([foreground.signal, AbortSignal.timeout(LONGEST_MS)]),
    killSignal: 'SIGKILL',
  });
  if (options.log !== undefined)
    child.stdout?.pipe(createWriteStream(join(options.log, `${String(seed)}.log`)));
  const log = isRead && child.stdout !== null ? text(child.stdout) : '';
  child.on('error', () => undefined); // it was ended by the signal
  const ended = once(child, 'exit').catch(() => undefined);
  const answer = await text(child.stdio[3] as NodeJS.ReadableStream);
  await ended;
  if (foreground.status !== null) throw new Error('the run was broken off');
  const lines = (await log).split('\n').slice(0, -1);
  if (answer !== '') return { report: JSON.parse(answer) as WorldReport, lines };
  const found = 'the world did not come to its end';
  const report = {
    ...{ seed, digest: '', steps: 0, faults: [], counts: {}, states: {}, seen: {}, story: {} },
    endedBeforeFence: 0,
    verdicts: [{ rule: 'a world ends', movement_id: null, found }],
  };
  return { report, lines };
}

function tell({ seed, digest, states, verdicts, counts }: WorldReport): void {
  process.stdout.write(
    `seed ${String(seed)}: ${digest.slice(0, 16)} ${JSON.stringify(states)} ${JSON.stringify(counts)}\n`,
  );
  for (const { rule, movement_id, found } of verdicts)
    process.stdout.write(`  ${rule}: ${String(movement_id)} ${found}\n`);
}

/** The same database over the socket in this folder. */
function onSocket(url: string, folder: string): string {
  const changed = new URL(url);
  changed.searchParams.set('host', folder);
  return changed.href;
}

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1);
}

function named(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}
