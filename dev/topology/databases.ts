/**
 * A Postgres with a synchronous standby: two processes of which either may be the primary, and the
 * fail-over from one to the other by the script that operators have.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { postgresPart, type PostgresPart } from '../stack/postgres.ts';
import {
  copyRunning,
  copyStopped,
  isStandby,
  makeSynchronous,
  runFailover,
  untilSynchronous,
} from '../stack/standby.ts';
import type { ChildSpec } from '../stack/supervise/child.ts';
import type { Supervisor } from '../stack/supervise/supervisor.ts';

export interface PairOptions {
  /** Its servers are the parts `<name>-a` and `<name>-b`. */
  readonly name: string;
  readonly folder: string;
  readonly logDir: string;
  readonly portA: number;
  readonly portB: number;
  /** Ports by which callers reach the two over the network; default: the servers' own. */
  readonly viaA?: number;
  readonly viaB?: number;
  /** `false`: no commit waits for the disk. A killed process loses no data then. */
  readonly durable?: boolean;
  /** Where the parts run. */
  readonly supervisor: Pick<Supervisor, 'start' | 'stop' | 'kill'>;
  /** Called when another server has become the primary, before a fail-over is over. */
  readonly onPrimary?: (port: number) => Promise<void>;
}

/** One of the two servers. */
interface Side {
  readonly part: string;
  readonly port: number;
  readonly via: number;
  /** Folder with the cluster in `postgres`. */
  readonly home: string;
  readonly made: PostgresPart;
}

/** Until the database and the role of the service are there. */
const PREPARE_MS = 180_000;
/** A server that was killed first repeats up to a quarter of an hour of writes. */
const START_MS = 180_000;

const clusterOf = (home: string): string => join(home, 'postgres');

/** Returns the owner's URL of a database that each cluster has from the start. */
function adminUrl({ databaseUrl }: PostgresPart): string {
  const url = new URL(databaseUrl);
  url.pathname = '/postgres';
  return url.href;
}

/**
 * A primary and its synchronous standby. In this order: `create`, each of `parts` started by the
 * supervisor, `prepare`.
 */
export class DatabasePair {
  readonly #options: PairOptions;
  readonly #sides: readonly [Side, Side];
  #primary: Side;

  private constructor(options: PairOptions, sides: readonly [Side, Side]) {
    this.#options = options;
    this.#sides = sides;
    this.#primary = sides[0];
  }

  /**
   * Makes the two clusters in `<folder>/a` and `<folder>/b`, of which a is the primary. The folder
   * must be empty or missing.
   */
  static async create(options: PairOptions): Promise<DatabasePair> {
    const { name, folder, logDir, durable = true } = options;
    const make = async (letter: string, port: number, via = port): Promise<Side> => {
      const home = join(folder, letter);
      const made = await postgresPart({ dataDir: home, port, logDir, durable });
      return { part: `${name}-${letter}`, port, via, home, made };
    };
    mkdirSync(join(folder, 'a'), { recursive: true });
    const a = await make('a', options.portA, options.viaA);
    await copyStopped({ from: a.home, to: join(folder, 'b'), primaryUrl: adminUrl(a.made) });
    const b = await make('b', options.portB, options.viaB);
    return new DatabasePair(options, [a, b]);
  }

  /** Returns the processes, the primary first. */
  parts(): ChildSpec[] {
    return [this.#primary, this.#standby].map(({ part, made }) => ({
      ...made.spec,
      name: part,
      logFile: join(this.#options.logDir, `${part}.log`),
      readyTimeoutMs: START_MS,
      // Which of them is the primary changes while they run.
      isReady: async () => (await isStandby(adminUrl(made))) !== null,
    }));
  }

  /**
   * Creates the service's database and role, which the embedded stack has too, and makes commits
   * wait for the standby.
   */
  async prepare(): Promise<void> {
    const { spec } = this.#primary.made;
    const deadline = Date.now() + PREPARE_MS;
    while ((await spec.isReady(() => '')) !== true) {
      if (Date.now() > deadline) throw new Error(`${this.#primary.part} takes no writes`);
      await sleep(50);
    }
    await makeSynchronous(adminUrl(this.#primary.made));
    await this.#options.onPrimary?.(this.#primary.port);
  }

  /** Names of the parts that are the primary and the standby now. */
  get primary(): string {
    return this.#primary.part;
  }
  get standby(): string {
    return this.#standby.part;
  }

  /**
   * Returns the URL of `database` for a role: of the owner of the server or of the service. `at` is
   * the present primary itself, a port that leads to it, or `multi` for an address that names both
   * servers, a first, by the network.
   */
  urlOf(role: 'owner' | 'service', database: string, at: 'primary' | 'multi' | number): string {
    const { databaseUrl, serviceUrl } = this.#primary.made;
    const url = new URL(role === 'owner' ? databaseUrl : serviceUrl);
    url.pathname = `/${database}`;
    const ports =
      at === 'multi'
        ? this.#sides.map(({ via }) => via)
        : [at === 'primary' ? this.#primary.port : at];
    const hosts = ports.map((port) => `127.0.0.1:${String(port)}`);
    return url.href.replace(url.host, hosts.join(','));
  }

  /**
   * Kills the primary, fences it and promotes the standby. Afterwards the killed server is down,
   * and commits wait for no standby until `rejoin`. Rejects, and changes nothing, when the standby
   * is not synchronous: commits that callers know of would be lost.
   */
  async failOver(): Promise<void> {
    const { supervisor, onPrimary } = this.#options;
    const [old, next] = [this.#primary, this.#standby];
    await untilSynchronous(adminUrl(old.made));
    await supervisor.kill(old.part, 'SIGKILL');
    // Or the supervisor starts the part again.
    await supervisor.stop(old.part);
    await runFailover(old.made.spec, 'fence', clusterOf(old.home));
    await runFailover(next.made.spec, 'promote', clusterOf(next.home));
    this.#primary = next;
    await onPrimary?.(next.port);
  }

  /** Makes the server that was fenced a standby of the present primary, by a new copy of it. */
  async rejoin(): Promise<void> {
    const { supervisor } = this.#options;
    const [primary, away] = [this.#primary, this.#standby];
    await supervisor.stop(away.part);
    const primaryUrl = adminUrl(primary.made);
    await copyRunning({ from: primary.home, to: away.home, primaryUrl });
    await supervisor.start(away.part);
    await makeSynchronous(primaryUrl);
  }

  get #standby(): Side {
    const [a, b] = this.#sides;
    return this.#primary === a ? b : a;
  }
}
