/** The command line of `npm run bench:scale`. */
import { Command, Option } from 'commander';
import { FULL, ROW_NAMES, type RowName } from './matrix.ts';
import { whole } from '../whole.ts';

export interface ScaleOptions {
  readonly rounds: number;
  /** Movements of a batch. */
  readonly movements: number;
  readonly only: readonly RowName[];
  readonly short: boolean;
  /** Activity slots of a worker in the row of slow executors; null: the usual number. */
  readonly slots: number | null;
  readonly json: string | null;
  /** A file of `--json` whose first point is multiplied; nothing is then measured. */
  readonly arithmetic: string | null;
}

interface Parsed {
  readonly rounds?: number;
  readonly movements?: number;
  readonly only?: readonly RowName[];
  readonly short?: boolean;
  readonly slots?: number;
  readonly json?: string;
  readonly arithmetic?: string;
}

const STANDARD = { rounds: 5, movements: 300 };
const SHORT = { rounds: 1, movements: 20 };

export function readScaleOptions(args: readonly string[]): ScaleOptions {
  const command = new Command('npm run bench:scale --')
    .description('Measures what one deployment carries, by workers, APIs, pools and network.')
    .option('--rounds <n>', `rounds (${String(STANDARD.rounds)})`, whole)
    .option('--movements <n>', `movements of a batch (${String(STANDARD.movements)})`, whole)
    .option('--short', 'one small round, to check that it works')
    .addOption(new Option('--only <row...>', 'only these rows').choices(ROW_NAMES))
    .option(
      '--slots <n>',
      `activity slots of a worker in the row "slots" (${String(FULL.slots)})`,
      whole,
    )
    .option('--json <file>', 'also write everything measured to this file')
    .option('--arithmetic <file>', 'measure nothing: what 1,000 a second takes, from such a file');
  const chosen = command.parse([...args], { from: 'user' }).opts<Parsed>();
  const short = chosen.short ?? false;
  const otherwise = short ? SHORT : STANDARD;
  return {
    rounds: chosen.rounds ?? otherwise.rounds,
    movements: chosen.movements ?? otherwise.movements,
    only: chosen.only ?? ROW_NAMES,
    short,
    slots: chosen.slots ?? null,
    json: chosen.json ?? null,
    arithmetic: chosen.arithmetic ?? null,
  };
}
