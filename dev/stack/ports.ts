import { createServer } from 'node:net';
import { randomInt } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { claimPort } from '../bootstrap/port-claims.mjs';

/** Absolute path of the project's folder. */
export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** For each port: its setting, its value when unset, and its use. 0 means any free port. */
export const PORT_SETTINGS = {
  api: { setting: 'SVC_PORT', standard: 8100, use: 'the API' },
  ops: { setting: 'SVC_OPS_PORT', standard: 9465, use: 'the operations listener' },
  postgres: { setting: 'SVC_POSTGRES_PORT', standard: 5433, use: 'Postgres' },
  temporal: { setting: 'SVC_TEMPORAL_PORT', standard: 7233, use: "Temporal's server" },
  temporalUi: { setting: 'SVC_TEMPORAL_UI_PORT', standard: 8233, use: "Temporal's web UI" },
  chain: { setting: 'SVC_CHAIN_PORT', standard: 8545, use: 'the local chain' },
  paperVenue: { setting: 'SVC_PAPER_VENUE_PORT', standard: 8200, use: 'the paper venue' },
} as const;

export type PortName = keyof typeof PORT_SETTINGS;
export type Ports = Record<PortName, number>;

/** Ports for tests: each part gets any free port. */
export const ANY_FREE_PORTS: Ports = mapPorts(() => 0);

/** The stack's settings from the environment. */
export interface DevSettings {
  dataDir: string;
  ports: Ports;
}

/** An invalid setting; the message names it and says what to do. */
export class DevSettingError extends Error {
  override name = 'DevSettingError';
}

/** Another process listens on a required port. */
export class PortBusyError extends Error {
  override name = 'PortBusyError';
  readonly port: number;
  readonly setting: string;

  constructor(port: number, setting: string, use: string) {
    super(
      `Port ${port} for ${use} is busy. Stop what listens there (\`lsof -i :${port}\` shows it), ` +
        `or set ${setting} to another port (0 takes any free one).`,
    );
    this.port = port;
    this.setting = setting;
  }
}

/** Reads ports and data folder; reports all faults together. */
export function readDevSettings(env: NodeJS.ProcessEnv = process.env): DevSettings {
  const faults: string[] = [];
  const ports = mapPorts((name) => {
    const { setting, standard } = PORT_SETTINGS[name];
    const text = env[setting]?.trim();
    if (text === undefined || text === '') return standard;
    if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
    faults.push(
      `${setting} is ${JSON.stringify(text)}; it must be a port from 1 to 65535, or 0 for any free one.`,
    );
    return 0;
  });
  const names = Object.keys(PORT_SETTINGS) as PortName[];
  for (const [index, name] of names.entries()) {
    const twin = names
      .slice(0, index)
      .find((other) => ports[other] === ports[name] && ports[name] !== 0);
    if (twin !== undefined) {
      faults.push(
        `${PORT_SETTINGS[twin].setting} and ${PORT_SETTINGS[name].setting} are both ${ports[name]}.`,
      );
    }
  }
  if (faults.length > 0) throw new DevSettingError(faults.join('\n'));
  return { dataDir: resolve(ROOT, env['SVC_DATA_DIR']?.trim() || '.data'), ports };
}

/** Replaces 0 by free ports and checks that the other ports are free, in the order of `needed`. */
export async function choosePorts(wanted: Ports, needed: readonly PortName[]): Promise<Ports> {
  const chosen = { ...wanted };
  for (const name of needed) {
    if (wanted[name] === 0) chosen[name] = await freePort(Object.values(chosen));
    else await requireFree(name, wanted[name]);
  }
  return chosen;
}

/** Rejects with a PortBusyError when the port is taken. */
export async function requireFree(name: PortName, port: number): Promise<void> {
  const { setting, use } = PORT_SETTINGS[name];
  if (!(await isFree(port))) throw new PortBusyError(port, setting, use);
}

/** A range below the ports that systems use for outgoing connections. */
const LOWEST = 15_000;
const HIGHEST = 32_000;
const TRIES = 500;

/**
 * Returns a port on which no process listens, and claims it for the life of this process: a part of
 * a stack may stop for a while and must find its port free again.
 */
export async function freePort(avoid: readonly number[] = []): Promise<number> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = randomInt(LOWEST, HIGHEST);
    if (!avoid.includes(port) && claimPort(port) && (await isFree(port))) return port;
  }
  throw new DevSettingError(
    `No free port was found between ${String(LOWEST)} and ${String(HIGHEST)}.`,
  );
}

/** Returns whether no process listens on this port of the loopback address. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((answer) => {
    const server = createServer();
    server.once('error', () => answer(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () =>
      server.close(() => answer(true)),
    );
  });
}

function mapPorts(value: (name: PortName) => number): Ports {
  const names = Object.keys(PORT_SETTINGS) as PortName[];
  return Object.fromEntries(names.map((name) => [name, value(name)])) as Ports;
}
