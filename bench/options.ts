/** The command line of the bench. */
import { Command, Option } from 'commander';
import { SECTIONS, type SectionName } from './sections/index.ts';
import { whole } from './whole.ts';

export interface BenchOptions {
  readonly rounds: number;
  /** Movements of a batch. */
  readonly movements: number;
  readonly quick: boolean;
  /** Sections to run; all when empty. */
  readonly only: readonly SectionName[];
  /** The highest level of the section `waiting`. */
  readonly mostWaiting: number;
  readonly json: string | null;
  readonly profile: string | null;
}

interface Parsed {
  readonly rounds?: number;
  readonly movements?: number;
  readonly quick?: boolean;
  readonly only?: SectionName[];
  readonly mostWaiting?: number;
  readonly json?: string;
  readonly profile?: string;
}

const STANDARD = { rounds: 3, movements: 200 };
const MOST_WAITING = 5_000;
/** Enough to see that everything works, too little to judge a goal by. */
const QUICK = { rounds: 1, movements: 40 };

export function readOptions(args: readonly string[]): BenchOptions {
  const command = new Command('npm run bench --')
    .description(
      'Compares movements with a hand-written Temporal workflow, in one run on one stack.',
    )
    .option('--rounds <n>', `rounds of each comparison (${STANDARD.rounds})`, whole)
    .option('--movements <n>', `movements of a batch (${STANDARD.movements})`, whole)
    .option('--quick', 'one small round of everything, to check that it works')
    .addOption(
      new Option('--only <section...>', 'only these sections').choices(Object.keys(SECTIONS)),
    )
    .option(
      '--most-waiting <n>',
      `movements that wait at the highest level of "waiting" (${MOST_WAITING})`,
      whole,
    )
    .option('--json <file>', 'also write all figures to this file')
    .option('--profile <folder>', 'write a CPU profile of each process to this folder');
  const chosen = command.parse([...args], { from: 'user' }).opts<Parsed>();
  const quick = chosen.quick ?? false;
  const otherwise = quick ? QUICK : STANDARD;
  return {
    rounds: chosen.rounds ?? otherwise.rounds,
    movements: chosen.movements ?? otherwise.movements,
    quick,
    only: chosen.only ?? [],
    mostWaiting: chosen.mostWaiting ?? MOST_WAITING,
    json: chosen.json ?? null,
    profile: chosen.profile ?? null,
  };
}
