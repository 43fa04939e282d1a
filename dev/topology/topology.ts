/**
 * The service as it is deployed, on one machine: two APIs behind haproxy, two workers, Temporal's
 * four services, a Postgres pair for each of the two, a pooler, Prometheus, and a network between
 * them that can be disturbed. Every part is a process.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ChainInfo } from '../stack/chain.ts';
import type { DevKeys } from '../stack/keys.ts';
import type { Stack } from '../stack/stack.ts';
import type { ChildSpec } from '../stack/supervise/child.ts';
import { Supervisor } from '../stack/supervise/supervisor.ts';
import type { Network } from './network.ts';
import { claimTopologyPorts, topologyPorts, type TopologyPorts } from './ports.ts';
import { prometheusAt, type Prometheus } from './prometheus.ts';
import {
  FUND_DATABASE,
  loopback,
  startAll,
  type DatabaseName,
  type Made,
  type TopologyStart,
} from './start.ts';

const API_PREFIX = '/v3';

/** What runs where. */
export interface RunningPart {
  readonly name: string;
  readonly address: string;
  /** Null while the process is down. */
  readonly pid: number | null;
}

/** A running topology. Parts that were killed stay down until they are started again. */
export class Topology {
  readonly #start: TopologyStart;
  readonly #made: Made;
  readonly prometheus: Prometheus | null;

  private constructor(start: TopologyStart, made: Made) {
    this.#start = start;
    this.#made = made;
    const { prometheus } = start.programs;
    this.prometheus = prometheus === null ? null : prometheusAt(made.ports.prometheus);
  }

  /**
   * Starts every part. Rejects when a part does not start, or the signal aborts; nothing runs then.
   */
  static async start(start: TopologyStart): Promise<Topology> {
    const { dataDir, log, signal } = start;
    const ports = topologyPorts(start.basePort);
    await claimTopologyPorts(ports);
    mkdirSync(join(dataDir, 'logs'), { recursive: true });
    const supervisor = new Supervisor({ dataDir, restart: false, log });
    const onAbort = (): void => void supervisor.stopAll();
    signal.addEventListener('abort', onAbort);
    try {
      return new Topology(start, await startAll(start, ports, supervisor));
    } catch (error) {
      await supervisor.stopAll();
      throw signal.aborted ? signal.reason : error;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  get ports(): TopologyPorts {
    return this.#made.ports;
  }
  get network(): Network {
    return this.#made.network;
  }
  get chain(): ChainInfo {
    return this.#made.chain;
  }
  get keys(): DevKeys {
    return this.#made.keys;
  }
  get dataDir(): string {
    return this.#start.dataDir;
  }
  /** The API through haproxy, with the prefix of its paths. */
  get apiBase(): string {
    return `${loopback(this.ports.haproxy)}${API_PREFIX}`;
  }
  /** Connects as the owner of the tables to the present primary, past the network. */
  get ownerUrl(): string {
    return this.#made.databases.fund.urlOf('owner', FUND_DATABASE, 'primary');
  }

  /** Returns the names of all parts, in the order of their start. */
  names(): readonly string[] {
    return this.#made.supervisor.names();
  }

  /** Returns what runs where, in the order of the parts' start. */
  parts(): readonly RunningPart[] {
    const addresses = addressesOf(this.ports);
    const { supervisor } = this.#made;
    return this.names().map((name) => ({
      name,
      address: addresses[name] ?? '',
      pid: supervisor.pid(name),
    }));
  }

  /** Sends a signal to a part; after SIGKILL waits until it has ended. */
  kill(name: string, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    return this.#made.supervisor.kill(name, signal);
  }

  /** Stops a part with its stop signal; it stays stopped. */
  stopPart(name: string): Promise<void> {
    return this.#made.supervisor.stop(name);
  }

  /** Starts a part that is down, and waits until it is ready. */
  restart(name: string): Promise<void> {
    return this.#made.supervisor.start(name);
  }

  /** Stops a part with its stop signal, and starts it again as `change` describes it. */
  replace(name: string, change: (spec: ChildSpec) => ChildSpec): Promise<void> {
    return this.#made.supervisor.replace(name, change);
  }

  /** Kills the primary of a database and promotes its standby; the old primary stays down. */
  failOver(database: DatabaseName): Promise<void> {
    return this.#made.databases[database].failOver();
  }

  /** Starts the server that failed as the standby of the present primary. */
  rejoin(database: DatabaseName): Promise<void> {
    return this.#made.databases[database].rejoin();
  }

  /** Returns the name of the part that is the primary, or the standby, of a database now. */
  serverOf(database: DatabaseName, role: 'primary' | 'standby'): string {
    return this.#made.databases[database][role];
  }

  /** Stops all parts in order and waits until they have ended. Safe to call again. */
  stop(): Promise<void> {
    return this.#made.supervisor.stopAll();
  }

  /** Kills all parts immediately; `stop` then has nothing to wait for. */
  hurry(): void {
    this.#made.supervisor.hurry();
  }

  /**
   * Returns the topology as the stack that runs over a single machine take: the API is haproxy, the
   * database the address that follows the primary.
   */
  asStack(): Stack {
    const { ports, chain, keys } = this;
    const { databases, env } = this.#made;
    const runningParts = (): readonly RunningPart[] => this.parts();
    return {
      apiUrl: loopback(ports.haproxy),
      opsUrl: loopback(ports.api1Ops),
      uiUrl: null,
      temporalAddress: `127.0.0.1:${String(ports.temporalFrontend)}`,
      databaseUrl: databases.fund.urlOf('owner', FUND_DATABASE, ports.fundVip),
      paperVenueUrl: loopback(ports.venue),
      dataDir: this.dataDir,
      ports: {
        api: ports.haproxy,
        ops: ports.api1Ops,
        postgres: ports.fundVip,
        temporal: ports.temporalFrontend,
        temporalUi: 0,
        chain: ports.chain,
        paperVenue: ports.venue,
      },
      chain,
      bridges: null,
      perp: null,
      keys,
      env: { ...env },
      get children() {
        return Object.fromEntries(runningParts().map((part) => [part.name, part]));
      },
      kill: (name, signal) => this.kill(name, signal),
      startChild: (name) => this.restart(name),
      stopChild: (name) => this.stopPart(name),
      stop: () => this.stop(),
      hurry: () => this.hurry(),
    };
  }
}

/** Where each part is reached, by its name. */
function addressesOf(ports: TopologyPorts): Readonly<Record<string, string>> {
  const listening: Readonly<Record<string, number>> = {
    toxiproxy: ports.toxiproxy,
    'fund-a': ports.fundA,
    'fund-b': ports.fundB,
    'temporal-a': ports.temporalA,
    'temporal-b': ports.temporalB,
    pgbouncer: ports.pooler,
    'temporal-history': ports.temporalHistory,
    'temporal-matching': ports.temporalMatching,
    'temporal-frontend': ports.temporalFrontend,
    'temporal-worker': ports.temporalWorker,
    chain: ports.chain,
    'paper-venue': ports.venue,
    'api-1': ports.api1,
    'api-2': ports.api2,
    'worker-1': ports.worker1Ops,
    'worker-2': ports.worker2Ops,
    haproxy: ports.haproxy,
    prometheus: ports.prometheus,
  };
  return Object.fromEntries(
    Object.entries(listening).map(([name, port]) => [name, `127.0.0.1:${String(port)}`]),
  );
}
