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
  /** The storm over a whole deployment (`npm run topology`), with fail-overs and a bad network. */
  readonly topology: boolean;
  /** The primary of the database is killed, and its synchronous standby takes over. */
  readonly failover: boolean;
  /**
   * With `topology`: round after round, with the service's clock moved ahead in between. Movements
   * and kills are those of a round.
   */
  readonly fastMotion: boolean;
  /** With `fastMotion`: how far the service's clock moves in all. */
  readonly hours: number;
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

/** With `--topology`: at least one kill of each part. */
const TOPOLOGY = {
  full: { movements: 300, kills: 100, minutes: 150 },
  short: { movements: 30, kills: 20, minutes: 45 },
};

/** With `--fast-motion`: movements and kills of each round. */
const FAST = { movements: 12, kills: 3, minutes: 20 };
/** Three days, so that what is kept for one day is removed. */
const HOURS = 72;
/** The longest window of a budget is longer. */
const MOST_HOURS = 600;

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
    .option('--topology', 'over a whole deployment: kills, fail-overs, a slow network, losses')
    .option('--fast-motion', "with --topology: rounds, and the service's clock moves between them")
    .option('--hours <n>', `how far that clock moves in all (${HOURS})`, hoursOf)
    .option('--failover', 'kill the primary of the database, and promote its standby')
    .option('--keep', 'keep logs and data, also when no contradiction was found')
    .parse([...args], { from: 'user' });
  const chosen = command.opts<Partial<RunOptions> & { short?: boolean }>();
  const { bridges = false, perps = false, rolling = false } = chosen;
  const { failover = false, topology = false, fastMotion = false } = chosen;
  if ((fastMotion && !topology) || (chosen.hours !== undefined && !fastMotion))
    command.error('--fast-motion goes with --topology, and --hours with --fast-motion.');
  if ([bridges, perps, rolling, failover, topology].filter(Boolean).length > 1)
    command.error(
      '--bridges, --perps, --rolling, --failover and --topology are runs of their own.',
    );
  const atDesk = failover ? FAILOVER : ROLLING;
  const overAll = fastMotion ? { full: FAST, short: FAST } : TOPOLOGY;
  const mixed = topology ? overAll : { full: FULL, short: SHORT };
  const storms = bridges || perps ? ONE_LANE : mixed;
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
    topology,
    fastMotion,
    hours: chosen.hours ?? HOURS,
    submitSeconds: (chosen.short === true ? atDesk.short : atDesk.full).submitSeconds,
    seed: chosen.seed ?? randomInt(1, 1_000_000),
  };
}

function hoursOf(text: string): number {
  const hours = whole(text);
  if (hours >= 1 && hours <= MOST_HOURS) return hours;
  throw new InvalidArgumentError(`It must be 1 to ${MOST_HOURS} hours.`);
}

export function whole(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}
