/** What a run in fast motion finds in memory and tables. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../dev/stack/ports.ts';
import {
  fastMotionFaults,
  fastMotionFigures,
  GROW_WITH_MOVEMENTS,
  KEPT_HOURS,
  LEAST_SAMPLES,
  type Sample,
} from './fast-sums.ts';
import { readOptions } from './options.ts';

const HOURS = 72;

/** Nine rounds of ten movements, with memory and rows by the round. */
function run(options: {
  readonly mib?: (round: number) => number;
  readonly rows?: Readonly<Record<string, (round: number) => number>>;
  readonly pid?: (round: number) => number | null;
}): readonly Sample[] {
  const { mib = () => 200, rows = {}, pid = () => 7 } = options;
  return Array.from({ length: 9 }, (_, round) => ({
    hours: round * 8,
    movements: 10 * (round + 1),
    processes: { 'worker-1': { pid: pid(round), mib: mib(round) } },
    tables: Object.fromEntries(
      Object.entries(rows).map(([name, of]) => [name, { rows: of(round), bytes: 8_192 }]),
    ),
  }));
}

test('flat memory and tables that are cleared are no fault, nor is a start that takes more', () => {
  const samples = run({
    mib: (round) => (round < 3 ? 100 + 30 * round : 200 + (round % 2) * 10),
    rows: {
      commands: (round) => Math.min(round, 3) * 300,
      timeline_events: (round) => 150 * (round + 1),
      leases: () => 12,
    },
  });
  expect(fastMotionFaults(samples, HOURS)).toEqual([]);
});

test('memory of the last third may be 1.15 of the third before', () => {
  const last = (more: number) => run({ mib: (round) => (round < 6 ? 200 : more) });
  expect(fastMotionFaults(last(230), HOURS)).toEqual([]);
  expect(fastMotionFaults(last(231), HOURS)).toEqual([
    'worker-1 takes 231 MiB, in the third before 200',
  ]);
});

test('a process that was down, started again or cannot be measured is a fault', () => {
  const said = 'worker-1 did not run all the time: its memory says nothing';
  expect(fastMotionFaults(run({ pid: (round) => (round < 4 ? 7 : 8) }), HOURS)).toEqual([said]);
  expect(fastMotionFaults(run({ pid: (round) => (round === 4 ? null : 7) }), HOURS)).toEqual([
    said,
  ]);
  expect(fastMotionFaults(run({ mib: () => Number.NaN }), HOURS)).toHaveLength(1);
});

test.each(['commands', 'callbacks', 'nonce_registry', 'console_events', 'made_up'])(
  'rows of %s must not grow from third to third',
  (table) => {
    const growing = run({ rows: { [table]: (round) => 100 * (round + 1) } });
    // Medians of 400, 500, 600 and of 700, 800, 900.
    expect(fastMotionFaults(growing, HOURS)).toEqual([
      `${table} has 800 rows, in the third before 500`,
    ]);
  },
);

test('a few rows more are chance', () => {
  const few = (more: number) => run({ rows: { stuck_runs: (round) => (round < 6 ? 0 : more) } });
  expect(fastMotionFaults(few(20), HOURS)).toEqual([]);
  expect(fastMotionFaults(few(21), HOURS)).toHaveLength(1);
});

test('what is kept longer than half of the run is not judged, and the figures say so', () => {
  const growing = run({ rows: { commands: (round) => 100 * (round + 1) } });
  expect(fastMotionFaults(growing, 47)).toEqual([]);
  expect(fastMotionFigures(growing, 47)).toContainEqual(
    expect.stringMatching(/^commands: 100 → 500 → 800 rows.* too long for this run to judge$/),
  );
  expect(fastMotionFigures(growing, 48).join('\n')).not.toContain('to judge');
});

test('tables with rows of every movement grow with the movements, and no faster', () => {
  const rows = (extra: number) => (round: number) =>
    150 * (round + 1) + (round < 6 ? 0 : (round - 5) * extra);
  expect(fastMotionFaults(run({ rows: { audit_events: rows(75) } }), HOURS)).toEqual([]);
  expect(fastMotionFaults(run({ rows: { audit_events: rows(76) } }), HOURS)).toEqual([
    'audit_events grew by 678 rows with 30 movements, in the third before by 450 with 30',
  ]);
  expect(fastMotionFigures(run({ rows: { audit_events: rows(0) } }), HOURS)).toContainEqual(
    expect.stringMatching(/^audit_events: .*; grows with movements$/),
  );
});

test('too few rounds prove nothing', () => {
  const samples = run({}).slice(0, LEAST_SAMPLES - 1);
  expect(fastMotionFaults(samples, HOURS)).toEqual([
    expect.stringContaining('give it more --minutes'),
  ]);
  expect(fastMotionFaults(run({}).slice(0, LEAST_SAMPLES), HOURS)).toEqual([]);
});

test('the tables that are named exist', () => {
  const folder = join(ROOT, 'prisma', 'migrations');
  const sql = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => readFileSync(join(folder, name, 'migration.sql'), 'utf8'))
    .join('\n');
  for (const table of [...GROW_WITH_MOVEMENTS, ...Object.keys(KEPT_HOURS)])
    expect(sql).toMatch(new RegExp(`CREATE TABLE (IF NOT EXISTS )?"?${table}"?[ (\n]`, 'i'));
});

test('movements, kills and minutes are those of fast motion, and other forms have no hours', () => {
  const fast = readOptions(['--topology', '--fast-motion', '--hours', '2']);
  expect(fast).toMatchObject({ fastMotion: true, hours: 2, movements: 12, kills: 3, minutes: 20 });
  expect(readOptions(['--topology'])).toMatchObject({ fastMotion: false, movements: 300 });
});
