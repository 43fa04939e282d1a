/** `npm run bench:scale`: what one deployment carries, measured on this machine. */
import { randomInt } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { pino } from 'pino';
import { installSdk } from '../../activities/sdk.ts';
import { takeSignals } from '../../dev/stack/foreground.ts';
import { cpuOf } from '../cpu.ts';
import { handWrittenSide } from '../load/hand-written.ts';
import { measureBatch } from '../load/measure.ts';
import { processPart } from '../parts.ts';
import { startBenchStack, type BenchStack } from '../stack.ts';
import { renderNeeds } from './arithmetic.ts';
import { firstPointOf, type Measured, type ScaleResult } from './figures.ts';
import { FULL, nameOf, orderOf, pointsOf, rowsOf, SHORT } from './matrix.ts';
import { readScaleOptions, type ScaleOptions } from './options.ts';
import { measurePoint, type PointContext } from './point.ts';
import { renderScale } from './report.ts';

const options = readScaleOptions(process.argv.slice(2));
let stack: BenchStack | null = null;
if (options.arithmetic === null) {
  const foreground = takeSignals(() => process.exit(1));
  process.exitCode = await main(foreground);
  process.exit();
} else {
  process.stdout.write(`${renderNeeds(firstPointOf(readFileSync(options.arithmetic, 'utf8')))}\n`);
}

async function main(foreground: ReturnType<typeof takeSignals>): Promise<number> {
  try {
    const work = bench(options);
    work.catch(() => undefined); // it also ends when the race below was lost
    return await Promise.race([work, foreground.stopped.then(() => foreground.status ?? 1)]);
  } catch (error) {
    process.stderr.write(
      `\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    return 1;
  } finally {
    await stack?.stop();
  }
}

async function bench({ rounds, movements, only, short, json }: ScaleOptions): Promise<number> {
  process.stderr.write('Starting Postgres and Temporal …\n');
  const started = await startBenchStack((line) => process.stderr.write(`${line}\n`));
  stack = started;
  installSdk(pino({ level: 'silent' }));
  await prepare(started);
  const connection = await Connection.connect({ address: started.settings.temporalAddress });
  const client = new Client({ connection });
  const context: PointContext = {
    stack: started,
    client,
    movements,
    short,
    open: [],
    registered: new Set(),
  };
  const rows = rowsOf(short ? SHORT : FULL);
  const points = pointsOf(rows, only);
  const measured = new Map<string, Measured[]>(points.map((point) => [nameOf(point), []]));
  const handWritten: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    process.stderr.write(`round ${String(round + 1)} of ${String(rounds)}\n`);
    handWritten.push(await measureHandWritten(context));
    for (const point of orderOf(points, round, share))
      measured.get(nameOf(point))?.push(await measurePoint(context, point));
  }
  await connection.close();
  const result: ScaleResult = {
    movements,
    short,
    rows: only.map((row) => ({ row, points: rows[row].map(nameOf) })),
    points: [...measured].map(([name, each]) => ({ name, rounds: each })),
    handWritten,
  };
  if (json !== null) writeFileSync(json, `${JSON.stringify(result, null, 2)}\n`);
  process.stdout.write(`${renderScale(result)}\n`);
  return 0;
}

/** Starts what all points share. */
async function prepare({ pool, supervisor, folder }: BenchStack): Promise<void> {
  // Whole pages come into the log after each checkpoint, whatever was changed of them, and there is
  // a checkpoint before each measurement.
  await pool.query('ALTER SYSTEM SET full_page_writes = off');
  await pool.query('SELECT pg_reload_conf()');
  const logDir = join(folder, 'logs');
  const settingsFile = join(folder, 'bench.json');
  for (const name of ['remote', 'baseline'] as const)
    await supervisor.add(processPart(name, { settingsFile, logDir, profileDir: null }));
}

/** Jobs a second of the hand-written workflow: how fast this machine is in this round. */
async function measureHandWritten({ stack: on, client, movements }: PointContext): Promise<number> {
  const { pool, supervisor } = on;
  const pids = (): Record<string, number> =>
    Object.fromEntries(
      ['postgres', 'temporal', 'baseline'].map((name) => [name, supervisor.pid(name) ?? 0]),
    );
  const lens = { pool, cpu: (): Record<string, number> => cpuOf(pids()) };
  const side = handWrittenSide({ pool, client, shape: 'careful' });
  await measureBatch(lens, side, Math.min(20, movements));
  return (await measureBatch(lens, side, movements)).perSecond;
}

/** A number from 0 up to, and without, 1. */
function share(): number {
  return randomInt(2 ** 32) / 2 ** 32;
}
