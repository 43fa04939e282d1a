/** The processes of one point: so many workers and APIs, and a network before their Postgres. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../dev/stack/ports.ts';
import { cpuOf, sumOf } from '../cpu.ts';
import { memoryOf, peakOf } from '../memory.ts';
import { processPart } from '../parts.ts';
import type { DelaySettings } from '../processes/delay.ts';
import type { PartSettings } from '../processes/part.ts';
import type { BenchStack } from '../stack.ts';
import type { Point } from './matrix.ts';

/** What the CPU of a point is summed by. */
export const ROLES = ['workers', 'apis', 'postgres', 'temporal'] as const;
export type Role = (typeof ROLES)[number];

export interface Deployment {
  readonly apiPorts: readonly number[];
  /** The database as its processes see it. */
  readonly databaseUrl: string;
  /** CPU milliseconds by role since the processes started. */
  cpu(): Record<Role, number>;
  /** Megabytes: the most that a worker and an API held at a time, and what Postgres holds now. */
  memory(): Readonly<Record<'worker' | 'api' | 'postgres', number>>;
  stop(): Promise<void>;
}

/** Starts the processes of a point beside the servers of the stack. */
export async function deploy(stack: BenchStack, point: Point): Promise<Deployment> {
  const { supervisor } = stack;
  const workers = numbered('worker', point.workers);
  const apis = numbered('api', point.apis);
  const ports: number[] = [];
  while (ports.length < point.apis + 1) ports.push(await freePort(ports));
  const [delayPort = 0, ...apiPorts] = ports;
  const { databaseUrl } = stack.settings;
  const seen = point.networkMs === null ? databaseUrl : withPort(databaseUrl, delayPort);
  const started: string[] = [];
  const start = async (
    program: 'api' | 'worker' | 'delay',
    name: string,
    settings: PartSettings | DelaySettings,
  ): Promise<void> => {
    started.push(name);
    await startProcess(stack, program, name, settings);
  };
  const stop = async (): Promise<void> => {
    const isDelay = (name: string): boolean => name === 'delay';
    await Promise.all(
      started.filter((name) => !isDelay(name)).map((name) => supervisor.stop(name)),
    );
    await Promise.all(started.filter(isDelay).map((name) => supervisor.stop(name)));
  };
  if (point.networkMs !== null) {
    const upstreamPort = Number(new URL(databaseUrl).port);
    await start('delay', 'delay', { port: delayPort, upstreamPort, networkMs: point.networkMs });
  }
  const settings: PartSettings = {
    ...stack.settings,
    databaseUrl: seen,
    pools: point.pools,
    ...(point.slots === null ? {} : { slots: point.slots }),
  };
  await Promise.all([
    ...workers.map((name) => start('worker', name, settings)),
    ...apis.map((name, index) =>
      start('api', name, { ...settings, apiPort: apiPorts[index] ?? 0 }),
    ),
  ]);
  const parts = { workers, apis, postgres: ['postgres'], temporal: ['temporal'] };
  return { apiPorts, databaseUrl: seen, stop, ...readings(stack, parts) };
}

/** The readings of a deployment whose roles have these processes. */
function readings(
  stack: BenchStack,
  parts: Readonly<Record<Role, readonly string[]>>,
): Pick<Deployment, 'cpu' | 'memory'> {
  const sum = (role: Role): number => sumOf(cpuOf(pidsOf(stack, parts[role])));
  const most = (role: Role): number =>
    Math.max(...Object.values(pidsOf(stack, parts[role])).map(peakOf));
  return {
    cpu: () => ({
      workers: sum('workers'),
      apis: sum('apis'),
      postgres: sum('postgres'),
      temporal: sum('temporal'),
    }),
    memory: () => {
      const { postgres = 0 } = memoryOf(pidsOf(stack, parts.postgres));
      return { worker: most('workers'), api: most('apis'), postgres };
    },
  };
}

function numbered(name: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${name}-${String(index + 1)}`);
}

async function startProcess(
  { supervisor, folder }: BenchStack,
  program: 'api' | 'worker' | 'delay',
  name: string,
  settings: PartSettings | DelaySettings,
): Promise<void> {
  const logDir = join(folder, 'logs');
  const settingsFile = join(folder, `${name}.json`);
  writeFileSync(settingsFile, JSON.stringify(settings), { mode: 0o600 });
  const part = processPart(program, { settingsFile, logDir, profileDir: null });
  // Under a name that ended with the point before it starts anew.
  await supervisor.add({ ...part, name, logFile: join(logDir, `${name}.log`) });
}

function pidsOf({ supervisor }: BenchStack, names: readonly string[]): Record<string, number> {
  return Object.fromEntries(names.map((name) => [name, supervisor.pid(name) ?? 0]));
}

function withPort(url: string, port: number): string {
  const other = new URL(url);
  other.port = String(port);
  return other.href;
}
