/** The scale bench: its points and their order, the sum of lock waits, and what a rate takes. */
import { describe, expect, test } from '@jest/globals';
import { needsOf, type Assumptions, type Costs } from '../../bench/scale/arithmetic.ts';
import { FIGURE_NAMES, firstPointOf } from '../../bench/scale/figures.ts';
import {
  FULL,
  nameOf,
  orderOf,
  pointsOf,
  ROW_NAMES,
  rowsOf,
  SHORT,
} from '../../bench/scale/matrix.ts';
import { readScaleOptions } from '../../bench/scale/options.ts';
import { lockWaits } from '../../bench/scale/sampler.ts';

const COSTS: Costs = {
  aloneMs: 40,
  cpuWorkersMs: 30,
  cpuApisMs: 6,
  cpuPostgresMs: 20,
  cpuTemporalMs: 40,
  walBytes: 28_000,
  transactions: 15,
  workflowTasks: 3,
  dispatches: 1,
};
const ASSUMED: Assumptions = {
  perSecond: 1_000,
  busy: 0.5,
  workerCores: 2,
  apiCores: 1,
  primaryCores: 32,
  primaryWalMb: 50,
  poolSize: 20,
  transactionMs: 2,
  poolLockMs: 4,
  laneMs: 50,
  shardWriteMs: 5,
  pollMs: 5,
};

describe('what 1,000 movements a second take', () => {
  test('is each cost times the rate, over the share that may be busy', () => {
    expect(needsOf(COSTS, ASSUMED)).toEqual({
      workerCores: 60, // 1,000 × 30 ms = 30 busy cores, of which half may be busy
      apiCores: 12,
      postgresCores: 40,
      temporalCores: 80,
      workers: 30, // of two cores each
      apis: 12,
      walMb: 28,
      walGbADay: 2_419.2, // 28 MB × 86,400 s
      cells: 2, // 40 cores in primaries of 32; 28 MB/s in 25 MB/s
      historyShards: 128, // 10 writes × 5 ms × 1,000 = 50 busy, 100 at half, the next power of two
      workflowPollers: 30, // 3,000 tasks × 5 ms = 15 busy
      activityPollers: 10,
      connections: 840, // 42 processes × 20
      pooledConnections: 60, // 15,000 transactions × 2 ms = 30 busy
      pools: 8, // 1,000 × 4 ms = 4 busy
      lanes: 100,
      inFlight: 40,
    });
  });

  test.each([
    ['WAL', { ...COSTS, cpuPostgresMs: 1 }, { ...ASSUMED, primaryWalMb: 14 }, 4],
    ['CPU', { ...COSTS, walBytes: 1 }, { ...ASSUMED, primaryCores: 8 }, 5],
    ['neither', { ...COSTS, walBytes: 1, cpuPostgresMs: 1 }, ASSUMED, 1],
  ])('has as many cells as %s needs', (_, costs, assumed, cells) => {
    expect(needsOf(costs, assumed).cells).toBe(cells);
  });

  test('is read from the medians of the first point of a file', () => {
    const round = (value: number): object =>
      Object.fromEntries(FIGURE_NAMES.map((name) => [name, value]));
    const rounds = [round(9), round(1), round(3)];
    const points = [
      { name: 'one', rounds },
      { name: 'other', rounds: [round(100)] },
    ];
    const { name, costs } = firstPointOf(JSON.stringify({ points }));
    expect([name, costs.cpuApisMs, costs.walBytes]).toEqual(['one', 3, 3]);
    expect(() => firstPointOf('{"points": []}')).toThrow();
  });
});

describe('the points', () => {
  test('are the whole matrix, each once', () => {
    const rows = rowsOf(FULL);
    const names = (row: (typeof ROW_NAMES)[number]): readonly string[] => rows[row].map(nameOf);
    const base = '1 worker, 1 API, 1000 open, 16 pools';
    expect(names('workers')).toEqual([
      base,
      '2 workers, 1 API, 1000 open, 16 pools',
      '4 workers, 1 API, 1000 open, 16 pools',
    ]);
    expect(names('apis')).toEqual([
      ...names('workers'),
      '1 worker, 2 APIs, 1000 open, 16 pools',
      '2 workers, 2 APIs, 1000 open, 16 pools',
      '4 workers, 2 APIs, 1000 open, 16 pools',
    ]);
    expect(rows.open.map(({ open }) => open)).toEqual([1_000, 5_000, 20_000, 50_000]);
    expect(names('pools')).toEqual([base, '1 worker, 1 API, 1000 open, 1 pool']);
    expect(names('network')).toEqual([0, 1, 5, 20].map((ms) => `${base}, ${String(ms)} ms`));
    expect(names('slots')).toEqual([
      `${base}, 20 slots`,
      '2 workers, 1 API, 1000 open, 16 pools, 20 slots',
    ]);
    const all = pointsOf(rows, ROW_NAMES);
    expect(all).toHaveLength(16); // 6 of workers and APIs, and 3, 1, 4 and 2 more
    expect(new Set(all.map(nameOf)).size).toBe(16);
  });

  test('come by what is open, rising and falling in turns, and else at random', () => {
    const points = pointsOf(rowsOf(SHORT), ['workers', 'open', 'pools']);
    const order = (round: number, random: () => number): readonly string[] =>
      orderOf(points, round, random).map(nameOf);
    const [one, two] = ['1 worker, 1 API', '2 workers, 1 API'];
    const [base, second, full, hot] = [
      `${one}, 20 open, 4 pools`,
      `${two}, 20 open, 4 pools`,
      `${one}, 60 open, 4 pools`,
      `${one}, 20 open, 1 pool`,
    ];
    let next = 0;
    const rising = (): number => (next += 0.1);
    expect(order(0, rising)).toEqual([base, second, hot, full]);
    const falling = (): number => (next -= 0.1);
    expect(order(0, falling)).toEqual([hot, second, base, full]);
    expect(order(1, rising)).toEqual([full, base, second, hot]);
  });

  test('are one small round in a short run, and all rows of five rounds otherwise', () => {
    expect(readScaleOptions(['--short', '--only', 'pools', 'open'])).toEqual({
      rounds: 1,
      movements: 20,
      only: ['pools', 'open'],
      short: true,
      slots: null,
      json: null,
      arithmetic: null,
    });
    expect(readScaleOptions([])).toMatchObject({ rounds: 5, only: [...ROW_NAMES], short: false });
  });
});

test('a sample of lock waits counts for the time since the one before it', () => {
  const samples = [
    { atMs: 1_000, waiting: 7, ungranted: 9 },
    { atMs: 1_050, waiting: 2, ungranted: 2 },
    { atMs: 1_150, waiting: 0, ungranted: 1 },
    { atMs: 1_200, waiting: 3, ungranted: 3 },
  ];
  expect(lockWaits(samples)).toEqual({ waitMs: 2 * 50 + 3 * 50, mostUngranted: 9 });
  expect(lockWaits([])).toEqual({ waitMs: 0, mostUngranted: 0 });
});
