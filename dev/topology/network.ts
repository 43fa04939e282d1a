/**
 * The network between the processes: toxiproxy before databases, Temporal, venue and chain.
 *
 * It works on connections, not on packets, so it cannot lose packets: TCP would repeat them. What a
 * lossy network does to a process is late bytes (`slow`), connections that end in the middle
 * (`lose`, `reset`) and silence (`cut`).
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { goPrograms } from '../deploy/go-programs.ts';
import type { ChildSpec } from '../stack/supervise/child.ts';
import type { TopologyPort, TopologyPorts } from './ports.ts';

const VERSION = '2.5.0';
const PROGRAM = 'toxiproxy-server';
const CALL_MS = 10_000;

/** Each proxy: where it listens, and what it leads to at the start. */
const PROXIES = {
  'fund-vip': { listen: 'fundVip', to: 'fundA' },
  'fund-a': { listen: 'fundAFront', to: 'fundA' },
  'fund-b': { listen: 'fundBFront', to: 'fundB' },
  'temporal-vip': { listen: 'temporalVip', to: 'temporalA' },
  'temporal-front': { listen: 'temporalFrontendFront', to: 'temporalFrontend' },
  venue: { listen: 'venueFront', to: 'venue' },
  chain: { listen: 'chainFront', to: 'chain' },
} as const satisfies Record<string, { listen: TopologyPort; to: TopologyPort }>;

export type ProxyName = keyof typeof PROXIES;

/** All proxies. */
export const PROXY_NAMES = Object.keys(PROXIES) as ProxyName[];

/** Ways of a proxy to be bad, as toxiproxy takes them. */
interface Toxic {
  readonly name: string;
  readonly type: 'latency' | 'timeout' | 'reset_peer';
  /** `upstream` is what callers send; `downstream` is what they are answered. */
  readonly stream: 'upstream' | 'downstream';
  /** Share of the connections that have it. */
  readonly toxicity: number;
  readonly attributes: Readonly<Record<string, number>>;
}

interface ProxyState {
  upstream: number;
  readonly toxics: Map<string, Toxic>;
}

/** toxiproxy refuses, or does not answer. */
export class NetworkError extends Error {
  override name = 'NetworkError';
}

/** Returns the path of toxiproxy, built once with Go; null without Go. */
export async function toxiproxyProgram(): Promise<string | null> {
  const programs = await goPrograms({
    label: 'toxiproxy',
    version: VERSION,
    packages: { [PROGRAM]: 'github.com/Shopify/toxiproxy/v2/cmd/server' },
  });
  return programs?.[PROGRAM] ?? null;
}

/**
 * The proxies and what is wrong with each. The process forgets both; its next start brings them
 * back, with what was changed while it was down: a change then resolves, too.
 */
export class Network {
  readonly #options: { program: string; folder: string; logDir: string; ports: TopologyPorts };
  readonly #proxies: ReadonlyMap<ProxyName, ProxyState>;

  constructor(options: {
    readonly program: string;
    /** Folder for its settings. */
    readonly folder: string;
    readonly logDir: string;
    readonly ports: TopologyPorts;
  }) {
    this.#options = options;
    this.#proxies = new Map(
      PROXY_NAMES.map((name) => [
        name,
        { upstream: options.ports[PROXIES[name].to], toxics: new Map<string, Toxic>() },
      ]),
    );
  }

  /** Describes the process. It is ready when all proxies are as this class has them. */
  part(): ChildSpec {
    const { program, folder, logDir, ports } = this.#options;
    const file = join(folder, 'toxiproxy.json');
    return {
      name: 'toxiproxy',
      command: program,
      args: ['-host', '127.0.0.1', '-port', String(ports.toxiproxy), '-config', file],
      cwd: '/',
      env: { LOG_LEVEL: 'warn' },
      logFile: join(logDir, 'toxiproxy.log'),
      stage: 2,
      stopSignal: 'SIGTERM',
      stopTimeoutMs: 2_000,
      readyTimeoutMs: 60_000,
      beforeStart: async () => {
        mkdirSync(folder, { recursive: true });
        writeFileSync(file, this.settings());
      },
      isReady: async () => {
        try {
          for (const name of PROXY_NAMES) {
            const { upstream, toxics } = this.#state(name);
            // Where it leads to may have changed since the file was written. A proxy whose port is
            // taken is left out, and logged.
            const wanted = { upstream: at(upstream), enabled: true };
            const status = await this.#send('POST', `/proxies/${name}`, wanted);
            if (status !== 200) return `proxy ${name}: ${String(status)}`;
            for (const toxic of [...toxics.values()]) await this.#put(name, toxic);
          }
          return true;
        } catch (error) {
          return error instanceof Error ? error.message : String(error);
        }
      },
    };
  }

  /** Returns the proxies in the form of toxiproxy's file. */
  settings(): string {
    const proxies = PROXY_NAMES.map((name) => ({
      name,
      listen: at(this.#options.ports[PROXIES[name].listen]),
      upstream: at(this.#state(name).upstream),
      enabled: true,
    }));
    return `${JSON.stringify(proxies, null, 2)}\n`;
  }

  /** Lets a proxy lead to another port. Its connections end. */
  async pointTo(name: ProxyName, port: number): Promise<void> {
    this.#state(name).upstream = port;
    await this.#call('POST', `/proxies/${name}`, { upstream: at(port) });
  }

  /** Delays each answer by `ms` give or take `jitter`; 0 takes the delay away. `heal` keeps it. */
  async slow(name: ProxyName, ms: number, jitter = 0): Promise<void> {
    if (ms === 0) return this.#remove(name, 'slow');
    const attributes = { latency: ms, jitter };
    await this.#add(name, { ...DOWN, name: 'slow', type: 'latency', attributes });
  }

  /**
   * Ends a share (0 to 1) of the connections, drawn at random for each that stands and each new
   * one, at its next answer: the call has arrived, and its answer is lost.
   */
  async lose(name: ProxyName, share: number): Promise<void> {
    const attributes = { timeout: 0 };
    const toxic = { ...DOWN, name: 'lose', type: 'reset_peer', attributes } as const;
    await this.#add(name, { ...toxic, toxicity: share });
  }

  /** Drops all bytes both ways while connections stay open. They end when it is healed. */
  async cut(name: ProxyName): Promise<void> {
    const silent = { type: 'timeout', attributes: { timeout: 0 } } as const;
    await this.#add(name, { ...DOWN, ...silent, name: 'cut' });
    await this.#add(name, { ...DOWN, ...silent, name: 'cut-sent', stream: 'upstream' });
  }

  /** Ends all connections that stand; new ones are taken at once. */
  async reset(name: ProxyName): Promise<void> {
    for (const enabled of [false, true]) await this.#call('POST', `/proxies/${name}`, { enabled });
  }

  /** Takes everything away but the delay. */
  async heal(name: ProxyName): Promise<void> {
    for (const toxic of [...this.#state(name).toxics.keys()])
      if (toxic !== 'slow') await this.#remove(name, toxic);
  }

  #state(name: ProxyName): ProxyState {
    const state = this.#proxies.get(name);
    if (state === undefined) throw new NetworkError(`There is no proxy named ${name}`);
    return state;
  }

  async #add(name: ProxyName, toxic: Toxic): Promise<void> {
    this.#state(name).toxics.set(toxic.name, toxic);
    await this.#put(name, toxic);
  }

  async #remove(name: ProxyName, toxic: string): Promise<void> {
    this.#state(name).toxics.delete(toxic);
    await this.#call('DELETE', `/proxies/${name}/toxics/${toxic}`);
  }

  /** Replaces it where it is there already. */
  async #put(name: ProxyName, toxic: Toxic): Promise<void> {
    await this.#call('DELETE', `/proxies/${name}/toxics/${toxic.name}`);
    await this.#call('POST', `/proxies/${name}/toxics`, toxic);
  }

  async #call(method: 'POST' | 'DELETE', path: string, body?: object): Promise<void> {
    const status = await this.#send(method, path, body).catch((error: unknown) => {
      // It does not listen, or ended in the middle: its next start sets what this call would.
      if (error instanceof TypeError) return null;
      throw error;
    });
    if (status === null || status < 300 || (status === 404 && method === 'DELETE')) return;
    throw new NetworkError(`toxiproxy answered ${method} ${path} with ${String(status)}`);
  }

  async #send(method: string, path: string, body?: object): Promise<number> {
    const answer = await fetch(`http://${at(this.#options.ports.toxiproxy)}${path}`, {
      method,
      signal: AbortSignal.timeout(CALL_MS),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    await answer.body?.cancel();
    return answer.status;
  }
}

const DOWN = { stream: 'downstream', toxicity: 1 } as const;
const at = (port: number): string => `127.0.0.1:${String(port)}`;
