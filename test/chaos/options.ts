/** The command line of the fault run. */
import { randomInt } from 'node:crypto';
import { Command, InvalidArgumentError } from 'commander';

export interface RunOptions {
  readonly movements: number;
  readonly kills: number;
  readonly seed: number;
  /** The run is broken off after this long. */
  readonly minutes: number;
  /** Logs and data stay even when nothing was found. */
  readonly keep: boolean;
  /** Movements between two chains over both lanes of the bridges, instead of the mix. */
  readonly bridges: boolean;
  /** Movements into the perps venue and out of it, instead of the mix. */
  readonly perps: boolean;
  /** Everything is restarted politely, one after the other, instead of killed. */
  readonly rolling: boolean;
  /** The primary of the database is killed, and its synchronous standby takes over. */
  readonly failover: boolean;
  /** With `rolling` or `failover`: how long a send takes. */
  readonly submitSeconds: number;
}

const FULL = { movements: 300, kills: 100, minutes: 60 };
/** For CI: a minute or so. */
const SHORT = { movements: 30, kills: 15, minutes: 15 };
/** With `--bridges` or `--perps`. */
const ONE_LANE = {
  full: { movements: 100, kills: 50, minutes: 20 },
  short: { movements: 6, kills: 3, minutes: 5 },
};

/** With `--rolling`: enough sends that they outlast the restarts. */
const ROLLING = {
  full: { movements: 300, kills: 0, minutes: 20, submitSeconds: 20 },
  short: { movements: 20, kills: 0, minutes: 8, submitSeconds: 8 },
};

/** With `--failover`: enough sends that they outlast it. */
const FAILOVER = {
  full: { movements: 200, kills: 0, minutes: 20, submitSeconds: 20 },
  short: { movements: 12, kills: 0, minutes: 8, submitSeconds: 6 },
};

/** Reads the arguments after `--`; ends the process with a usage message when they are wrong. */
export function readOptions(args: readonly string[]): RunOptions {
  const command = new Command('npm run chaos --')
    .description(
      'Runs movements while processes are killed, then checks every book. See docs/testing.md.',
    )
    .option('--movements <n>', `how many movements (${FULL.movements})`, whole)
    .option('--kills <n>', `at least how many SIGKILLs (${FULL.kills})`, whole)
    .option('--seed <n>', 'seed of an earlier run, to repeat its schedule', whole)
    .option('--minutes <n>', `end the run after this long (${FULL.minutes})`, whole)
    .option('--short', `the short form: ${SHORT.movements} movements, ${SHORT.kills} kills`)
    .option('--bridges', 'movements over both bridges between two chains; kills those too')
    .option('--perps', 'movements into the perps venue and out of it; kills it too')
    .option('--rolling', 'restart every process, one after the other, instead of kills')
    .option('--failover', 'kill the primary of the database, and promote its standby')
    .option('--keep', 'keep logs and data, also when no contradiction was found')
    .parse([...args], { from: 'user' });
  const chosen = command.opts<Partial<RunOptions> & { short?: boolean }>();
  const { bridges = false, perps = false, rolling = false, failover = false } = chosen;
  if ([bridges, perps, rolling, failover].filter(Boolean).length > 1)
    command.error('--bridges, --perps, --rolling and --failover are runs of their own.');
  const atDesk = failover ? FAILOVER : ROLLING;
  const storms = bridges || perps ? ONE_LANE : { full: FULL, short: SHORT };
  const forms = rolling || failover ? atDesk : storms;
  const base = chosen.short === true ? forms.short : forms.full;
  return {
    movements: chosen.movements ?? base.movements,
    kills: chosen.kills ?? base.kills,
    minutes: chosen.minutes ?? base.minutes,
    keep: chosen.keep ?? false,
    bridges,
    perps,
    rolling,
    failover,
    submitSeconds: (chosen.short === true ? atDesk.short : atDesk.full).submitSeconds,
    seed: chosen.seed ?? randomInt(1, 1_000_000),
  };
}

export function whole(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}
