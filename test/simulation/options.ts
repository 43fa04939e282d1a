/** The command line of the simulation. */
import { Command, Option } from 'commander';
import { whole } from '../chaos/options.ts';
import { ANY, EXCHANGES } from './worlds/at-exchange.ts';

export interface SimulationOptions {
  /** The seed of the first world; each further one has the next. */
  readonly seed: number;
  readonly worlds: number;
  /** Movements of each world. */
  readonly movements: number;
  /** Runs every world twice, whose logs must be the same. */
  readonly again: boolean;
  /** No fault strikes. */
  readonly calm: boolean;
  /** Stops after the first world with a contradiction. */
  readonly first: boolean;
  /** Looks for the fewest faults with which a contradiction is still there. */
  readonly shrink: boolean;
  /** Of how many counted faults of each world it is shown that they change the run. */
  readonly effects: number;
  /** Every movement withdraws from this exchange; `any`: from one that the seed draws. */
  readonly exchange?: string;
  /** The log of every world goes to `<folder>/<seed>.log`. */
  readonly log?: string;
}

/** Reads the arguments after `--`; ends the process with a usage message when they are wrong. */
export function readOptions(args: readonly string[]): SimulationOptions {
  const [seed, worlds, movements, effects] = [1, 1, 100, 0];
  const chosen = new Command('npm run simulate --')
    .description('Runs worlds under faults that a seed draws. See docs/testing.md, "Simulation".')
    .option('--seed <n>', `seed of the first world (${String(seed)})`, whole)
    .option('--worlds <n>', `how many worlds (${String(worlds)})`, whole)
    .option('--movements <n>', `movements of each world (${String(movements)})`, whole)
    .option('--again', 'run every world twice, and compare the logs')
    .option('--calm', 'without faults')
    .option('--first', 'stop after the first world with a contradiction')
    .option('--shrink', 'look for the fewest faults that a contradiction needs')
    .option('--effects <n>', 'run each world again without one counted fault, n times', whole)
    .addOption(
      new Option('--exchange <name>', 'every movement withdraws from this exchange').choices([
        ...EXCHANGES,
        ANY,
      ]),
    )
    .option('--log <folder>', 'write the log of each world to <folder>/<seed>.log')
    .parse([...args], { from: 'user' })
    .opts<Partial<SimulationOptions>>();
  const flags = { again: false, calm: false, first: false, shrink: false };
  return { seed, worlds, movements, effects, ...flags, ...chosen };
}
