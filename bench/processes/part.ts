/**
 * How a process of the bench begins and ends: settings from a file, `{"ready":true}`, then until it
 * has to stop.
 */
import { readFileSync } from 'node:fs';

/** What a request goes through, each layer with those before it; the last without `counted`. */
export const PERIMETER_LAYERS = [
  'bare',
  'validated',
  'signed',
  'nonce',
  'counted',
  'whole',
] as const;
export type PerimeterLayer = (typeof PERIMETER_LAYERS)[number];

/** Settings of every process of the bench. */
export interface PartSettings {
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  readonly apiPort: number;
  readonly remotePort: number;
  /** Activity slots of the worker; the service's default when left out. */
  readonly slots?: number;
  /** Venues `pool-1` … whose balances cover the holds of approvals; none when left out. */
  readonly pools?: number;
  /** The API's layers, each on a port, with a database of their own. */
  readonly perimeter: {
    readonly databaseUrl: string;
    readonly ports: Readonly<Record<PerimeterLayer, number>>;
  };
}

/** Pool of each process, as the service's default. */
export const POOL_SIZE = 20;
export const NAMESPACE = 'default';

type Stop = () => Promise<void>;

/** Runs this process; `start` answers how to stop it. */
export function runPart<S = PartSettings>(start: (settings: S) => Promise<Stop>): void {
  const [, , file] = process.argv;
  const settings = JSON.parse(readFileSync(file ?? '', 'utf8')) as S;
  start(settings).then(
    (stop) => {
      let stopping = false;
      const end = (): void => {
        if (stopping) return;
        stopping = true;
        // process.exit also writes the CPU profile of a run with --profile.
        stop().then(
          () => process.exit(0),
          () => process.exit(1),
        );
      };
      for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, end);
      process.on('disconnect', end);
      process.stdout.write('{"ready":true}\n');
    },
    (error: unknown) => {
      process.stderr.write(
        `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
      );
      process.exit(1);
    },
  );
}
