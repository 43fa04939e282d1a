/** `npm run bench:scale`: what one deployment carries, measured on this machine. */
import { randomInt } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { pino } from 'pino';
import { installSdk } from '../../activities/sdk.ts';
import { runOnStack } from '../foreground.ts';
import { handWrittenSide } from '../load/hand-written.ts';
import { measureBatch } from '../load/measure.ts';
import { processPart } from '../parts.ts';
import type { BenchStack } from '../stack.ts';
import { renderNeeds } from './arithmetic.ts';
import { firstPointOf, type Measured, type ScaleResult } from './figures.ts';
import { FULL, nameOf, orderOf, pointsOf, rowsOf, SHORT } from './matrix.ts';
import { readScaleOptions, type ScaleOptions } from './options.ts';
import { measurePoint, type PointContext } from './point.ts';
import { renderScale } from './report.ts';

const options = readScaleOptions(process.argv.slice(2));
if (options.arithmetic === null) await runOnStack((stack) => bench(stack, options));
else
  process.stdout.write(`${renderNeeds(firstPointOf(readFileSync(options.arithmetic, 'utf8')))}\n`);

async function bench(
  stack: BenchStack,
  { rounds, movements, only, short, slots, json }: ScaleOptions,
): Promise<number> {
  installSdk(pino({ level: 'silent' }));
  await prepare(stack);
  const connection = await Connection.connect({ address: stack.settings.temporalAddress });
  const client = new Client({ connection });
  const context: PointContext = {
    stack,
    client,
    movements,
    short,
    open: [],
    registered: new Set(),
  };
  const size = short ? SHORT : FULL;
  const rows = rowsOf({ ...size, slots: slots ?? size.slots });
  const points = pointsOf(rows, only);
  const measured = new Map<string, Measured[]>(points.map((point) => [nameOf(point), []]));
  const handWritten: number[] = [];
  const result = (): ScaleResult => ({
    movements,
    short,
    rows: only.map((row) => ({ row, points: rows[row].map(nameOf) })),
    points: [...measured].map(([name, each]) => ({ name, rounds: each })),
    handWritten,
  });
  for (let round = 0; round < rounds; round += 1) {
    process.stderr.write(`round ${String(round + 1)} of ${String(rounds)}\n`);
    handWritten.push(await measureHandWritten(context));
    for (const point of orderOf(points, round, share))
      measured.get(nameOf(point))?.push(await measurePoint(context, point));
    // After each round: a run of many hours that is stopped keeps what it has measured.
    if (json !== null) writeFileSync(json, `${JSON.stringify(result(), null, 2)}\n`);
  }
  await connection.close();
  process.stdout.write(`${renderScale(result())}\n`);
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
  const { pool } = on;
  const side = handWrittenSide({ pool, client, shape: 'careful' });
  // Not the stack itself: it has no processes of these names whose figures could be read.
  const lens = { pool, cpu: (): Record<string, number> => on.cpu(side.parts) };
  await measureBatch(lens, side, Math.min(20, movements));
  return (await measureBatch(lens, side, movements)).perSecond;
}

/** A number from 0 up to, and without, 1. */
function share(): number {
  return randomInt(2 ** 32) / 2 ** 32;
}
