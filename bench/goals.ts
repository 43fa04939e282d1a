/**
 * What the service promises about its speed, as data: each goal judges the median of one figure.
 */
import type { Figure } from './figure.ts';

/** Fewer say nothing on a machine that does other things too. */
const LEAST_ROUNDS = 3;

interface Goal {
  readonly figure: string;
  readonly goal: string;
  readonly least?: number;
  readonly most?: number;
  /** Measured once in a run, because of what it takes to come there. */
  readonly once?: true;
}

/** Names of the figures that goals are about. */
export const RATIO = {
  throughput: 'throughput, in process / hand-written',
  cpu: 'CPU a movement, in process / hand-written',
  remote: 'throughput, remote / hand-written',
  remoteCpu: 'CPU a movement, remote / hand-written',
  lanes: 'latency, three lanes / chain',
  careful: 'throughput, in process / hand-written with care',
  carefulCpu: 'CPU a movement, in process / hand-written with care',
  waiting: 'throughput, 5,000 waiting / none waiting',
  mostWaiting: 'throughput, 20,000 waiting / none waiting',
  alone: 'latency alone, in process / hand-written',
  signedRead: 'signed reads of a movement / bare route',
  signedCreate: 'signed creates of a movement / bare route',
  createTemporal: 'CPU a create, temporal',
  mostSignals: 'most signals of a run before its first task',
  idle: 'idle CPU a minute, 10,000 waiting',
  slowest: 'p99 of a signed read at 100/s / bare route',
  help: 'fundctl --help / node -e 0',
  list: 'fundctl movements list / node -e 0',
  longestTask: 'longest task of a page of the console, 10,000 rows',
  firstPaint: 'first paint of Needs you',
  openConsoles: 'CPU of the API, 20 consoles open and idle',
} as const;

const GOALS: readonly Goal[] = [
  {
    figure: RATIO.throughput,
    goal: 'throughput with an instant executor in process, against the hand-written workflow',
    least: 2.0,
  },
  { figure: RATIO.cpu, goal: 'CPU a movement, against the hand-written workflow', most: 0.55 },
  {
    figure: RATIO.careful,
    goal: 'throughput, against the hand-written workflow with care',
    least: 1.5,
  },
  {
    figure: RATIO.carefulCpu,
    goal: 'CPU a movement, against the hand-written workflow with care',
    most: 0.75,
  },
  {
    figure: RATIO.remote,
    goal: 'throughput with a remote executor, against the hand-written workflow',
    least: 1.3,
  },
  {
    figure: RATIO.remoteCpu,
    goal: 'CPU a movement with a remote executor, against the hand-written workflow',
    most: 0.8,
  },
  {
    figure: RATIO.lanes,
    goal: 'latency of three parallel branches, against the same nodes as a chain',
    most: 0.65,
  },
  {
    figure: RATIO.waiting,
    goal: 'throughput with 5,000 movements waiting, against none',
    least: 0.9,
  },
  {
    figure: RATIO.mostWaiting,
    goal: 'throughput with 20,000 movements waiting, against none',
    least: 0.9,
  },
  {
    figure: RATIO.alone,
    goal: 'latency of one movement alone, against the hand-written workflow',
    most: 0.6,
  },
  {
    figure: RATIO.signedRead,
    goal: 'signed reads of a movement a second, against a bare Express route',
    least: 0.45,
  },
  {
    figure: RATIO.signedCreate,
    goal: 'signed creates of a movement a second, against a bare Express route',
    least: 0.25,
  },
  {
    figure: RATIO.slowest,
    goal: '99th percentile of a signed read at 100 a second, against a bare Express route',
    most: 3,
  },
  {
    figure: RATIO.createTemporal,
    goal: "Temporal's CPU a create, in ms, of 2,500 at once",
    most: 25,
  },
  {
    figure: RATIO.mostSignals,
    goal: 'signals of a run before its first workflow task, of 2,500 creates at once',
    most: 2,
  },
  {
    figure: RATIO.help,
    goal: 'the help of fundctl, against a Node that does nothing',
    most: 4,
  },
  {
    figure: RATIO.list,
    goal: 'a list of fundctl, with its request, against a Node that does nothing',
    most: 6,
  },
  {
    figure: RATIO.longestTask,
    goal: 'longest task of the main thread on any page of the console with 10,000 rows, in ms',
    most: 200,
    once: true,
  },
  { figure: RATIO.firstPaint, goal: 'first paint of *Needs you*, in ms', most: 1_000 },
  {
    figure: RATIO.openConsoles,
    goal: 'CPU of the API with 20 consoles open and idle, in % of a core',
    most: 5,
    once: true,
  },
  {
    figure: RATIO.idle,
    goal: 'CPU-s a minute of everything, with 10,000 waiting',
    most: 2,
    once: true,
  },
];

export interface GoalRow {
  readonly goal: string;
  readonly wanted: string;
  readonly min: number | null;
  readonly median: number | null;
  readonly max: number | null;
  /** Null when this run did not measure it, or in too few rounds. */
  readonly reached: boolean | null;
}

export function goalRows(figures: readonly Figure[]): GoalRow[] {
  return GOALS.map(({ figure: name, goal, least, most, once = false }) => {
    const wanted = least === undefined ? `at most ${most ?? ''}` : `at least ${least}`;
    const figure = figures.find((each) => each.name === name);
    if (figure === undefined)
      return { goal, wanted, min: null, median: null, max: null, reached: null };
    const { min, median, max } = figure;
    const reached = median >= (least ?? -Infinity) && median <= (most ?? Infinity);
    return {
      goal,
      wanted,
      min,
      median,
      max,
      reached: !once && figure.rounds.length < LEAST_ROUNDS ? null : reached,
    };
  });
}
