/** The command line of the schema fuzz. */
import { randomInt } from 'node:crypto';
import { Command, InvalidArgumentError } from 'commander';

export interface FuzzOptions {
  /** At least so many signed requests are sent. */
  readonly cases: number;
  /**
   * Generated inputs for each operation in one round; rounds follow each other until there are
   * enough cases.
   */
  readonly examples: number;
  readonly seed: number;
  /** Logs and data stay even when nothing was found. */
  readonly keep: boolean;
}

const FULL = { cases: 20_000, examples: 200 };
/** For CI: a minute or so. */
const SHORT = { cases: 1_500, examples: 8 };

/** Reads the arguments after `--`; ends the process with a usage message when they are wrong. */
export function readOptions(args: readonly string[]): FuzzOptions {
  const command = new Command('npm run fuzz --')
    .description(
      'Sends signed requests made from the OpenAPI document and checks every answer against it. See docs/testing.md.',
    )
    .option('--cases <n>', `at least how many signed requests (${FULL.cases})`, whole)
    .option('--seed <n>', 'seed of an earlier run, to generate its inputs again', whole)
    .option('--short', `the short form: ${SHORT.cases} requests`)
    .option('--keep', 'keep logs and data, also when no fault was found')
    .parse([...args], { from: 'user' });
  const chosen = command.opts<{ cases?: number; seed?: number; short?: boolean; keep?: boolean }>();
  const base = chosen.short === true ? SHORT : FULL;
  return {
    cases: chosen.cases ?? base.cases,
    examples: base.examples,
    seed: chosen.seed ?? randomInt(1, 1_000_000),
    keep: chosen.keep ?? false,
  };
}

function whole(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}
