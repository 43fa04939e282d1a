/** The command line of `npm run topology`. */
import { Command, InvalidArgumentError } from 'commander';
import { BASE_PORT } from './ports.ts';

export interface TopologyOptions {
  readonly basePort: number;
  /** Delay of each connection to databases, Temporal, venue and chain; one way. */
  readonly networkMs: number;
  /** What is done once everything runs. */
  readonly task: 'stay' | 'check' | 'alerts' | 'roll-out';
  /** Stops after so many seconds; null: at Ctrl-C. */
  readonly seconds: number | null;
  /** Logs and data stay. */
  readonly keep: boolean;
}

/** Reads the arguments after `--`; ends the process with a usage message when they are wrong. */
export function readTopologyOptions(args: readonly string[]): TopologyOptions {
  const command = new Command('npm run topology --')
    .description(
      'Runs the service as it is deployed, every part a process here. See docs/testing.md.',
    )
    .option('--base-port <n>', `first of the ports (${String(BASE_PORT)})`, whole, BASE_PORT)
    .option('--network-ms <n>', 'delay of each connection, one way, in milliseconds (0)', whole, 0)
    .option('--check', 'kill each process, fail both databases over, read every figure; then stop')
    .option('--alerts', 'bring about the fault of each alert; then stop')
    .option('--roll-out', 'roll out another build of the workers, and back, under load; then stop')
    .option('--seconds <n>', 'stop after this long, instead of at Ctrl-C', whole)
    .option('--keep', 'keep logs and data')
    .parse([...args], { from: 'user' });
  const chosen = command.opts<{
    readonly basePort: number;
    readonly networkMs: number;
    readonly check?: boolean;
    readonly alerts?: boolean;
    readonly rollOut?: boolean;
    readonly seconds?: number;
    readonly keep?: boolean;
  }>();
  const { check = false, alerts = false, rollOut = false } = chosen;
  const tasks = [
    ...(check ? (['check'] as const) : []),
    ...(alerts ? (['alerts'] as const) : []),
    ...(rollOut ? (['roll-out'] as const) : []),
  ];
  if (tasks.length > 1) command.error('--check, --alerts and --roll-out are runs of their own.');
  return {
    basePort: chosen.basePort,
    networkMs: chosen.networkMs,
    task: tasks[0] ?? 'stay',
    seconds: chosen.seconds ?? null,
    keep: chosen.keep ?? false,
  };
}

function whole(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}
