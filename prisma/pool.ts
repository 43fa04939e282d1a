/**
 * Gives out connections to Postgres: who waits for one, how long, and which error follows when none
 * is free. A pool whose connections are all in use is not an unreachable database, and this module
 * tells the two apart.
 */
import pg from 'pg';
import type { ClientClass, ServerClient } from './servers.ts';

/** The database works, but all connections of this process are in use. Nothing was sent. */
export class PoolBusyError extends Error {
  override readonly name = 'PoolBusyError';
  readonly code = 'POOL_BUSY';
  constructor() {
    super('every connection to the database is at work');
  }
}

const neverSent = new WeakSet<object>();

/** Returns whether this error is why no connection was obtained; then nothing was sent. */
export function wasNeverSent(error: object): boolean {
  return neverSent.has(error);
}

/** The connections of one process, or a share of them. */
export interface ConnectionSource {
  readonly pool: pg.Pool;
  /** Returns a share: the same connections, at most `connections` of them at a time. */
  share(connections: number): ConnectionSource;
}

export interface PoolOptions {
  readonly config: pg.PoolConfig;
  /** The class of each connection, which has its own time limit for connecting. */
  readonly client: ClientClass;
  readonly connections: number;
  /** Milliseconds to wait for a connection. */
  readonly patienceMs: number;
}

/** Returns the pool. It connects at the first request for a connection. */
export function openPool(options: PoolOptions): ConnectionSource {
  const { patienceMs } = options;
  const whole = new CountedPool(options);
  const share = (places: number): ConnectionSource => ({
    pool: new SharePool(whole, places, patienceMs),
    share,
  });
  return { pool: whole, share };
}

type Callback = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  release: (error?: Error | boolean) => void,
) => void;

/** Connections that a pool makes as soon as they are needed. */
const FIRST = 4;
/**
 * Milliseconds that a request waits for one of the connections that exist before another is made.
 * Postgres compiles our functions and plans their statements anew in each connection, which costs
 * as much as hundreds of statements; a burst of short statements is over sooner without it.
 */
const GROWTH_MS = 50;
/** Milliseconds in which some request has always waited, after which one more is made too. */
const BUSY_MS = 500;

/** How many places a line has: `now`, and at `most` once requests have waited. */
interface Places {
  readonly now: () => number;
  readonly most: number;
}

/** Gives out places in the order of the requests. */
class Line {
  /** Requests in their order, and since when each waits. */
  readonly #waiting = new Map<() => void, number>();
  readonly #places: Places;
  #taken = 0;
  #growth: NodeJS.Timeout | undefined;
  /** When a place was made last. */
  #grown = -Infinity;
  /** Since when some request has always waited, or since the last place was made. */
  #busySince = 0;

  constructor(places: Places) {
    this.#places = places;
  }

  /** Calls `then` once, now or when a place is free; returns a function that stops the wait. */
  enter(then: () => void): () => void {
    const now = performance.now();
    if (this.#waiting.size === 0) this.#busySince = now;
    this.#waiting.set(then, now);
    this.#next();
    return () => this.#waiting.delete(then);
  }

  leave(): void {
    this.#taken -= 1;
    this.#next();
  }

  #next(): void {
    const { now, most } = this.#places;
    for (const [then, since] of this.#waiting) {
      if (this.#taken < now()) this.#give(then);
      else {
        if (this.#taken < most)
          this.#growAt(Math.min(since + GROWTH_MS, this.#busySince + BUSY_MS));
        return;
      }
    }
  }

  /** Makes places at this time, if requests have waited long enough then. */
  #growAt(time: number): void {
    const ms = Math.max(time, this.#grown + GROWTH_MS) - performance.now();
    // After a standstill timers come before answers that have arrived, which may free places.
    const grow = (): void => void setImmediate(() => this.#grow());
    this.#growth ??= setTimeout(grow, Math.max(0, ms)).unref();
  }

  /** Makes a quarter more places for requests that wait long, and one where some always wait. */
  #grow(): void {
    this.#growth = undefined;
    const now = performance.now();
    const [first] = this.#waiting.values();
    const isLong = first !== undefined && now - first >= GROWTH_MS;
    let more = isLong ? Math.ceil(this.#taken / 4) : Number(now - this.#busySince >= BUSY_MS);
    for (const then of this.#waiting.keys()) {
      if (more === 0 || this.#taken >= this.#places.most) break;
      more -= 1;
      this.#grown = now;
      this.#busySince = now;
      this.#give(then);
    }
    this.#next();
  }

  #give(then: () => void): void {
    this.#waiting.delete(then);
    this.#taken += 1;
    then();
  }
}

/**
 * A pool with our own queue in front. A request of a share waits in two: the share's, then that of
 * the whole pool.
 */
abstract class LinedPool extends pg.Pool {
  readonly #line: Line;
  readonly #patienceMs: number;

  constructor(config: pg.PoolConfig, most: number, patienceMs: number) {
    super({ ...config, max: most });
    this.#line = new Line({ now: () => Math.min(this.placesNow(), most), most });
    this.#patienceMs = patienceMs;
  }

  /** Returns how many requests may have a connection without a wait. */
  protected abstract placesNow(): number;
  /** Gives a connection to a request that has left the queue. */
  protected abstract give(then: Callback): void;
  /** Returns the error for a request that has waited in vain since this time. */
  abstract refusal(since: number): Error;

  // With a callback or as a promise: the driver offers both and uses both itself.
  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Callback): void;
  override connect(callback?: Callback): Promise<pg.PoolClient> | undefined {
    if (callback !== undefined) {
      this.#take(callback);
      return undefined;
    }
    return new Promise((resolve, reject) => {
      this.#take((error, client) => {
        if (client === undefined) reject(error ?? new Error('the pool returned no connection'));
        else resolve(client);
      });
    });
  }

  /** Gets a connection by the driver's own method, without the queue. */
  protected connectNow(then: Callback): void {
    super.connect(then);
  }

  #take(then: Callback): void {
    const since = performance.now();
    const timer = setTimeout(() => {
      stop();
      const refusal = this.refusal(since);
      neverSent.add(refusal);
      then(refusal, undefined, () => undefined);
    }, this.#patienceMs);
    const stop = this.#line.enter(() => {
      clearTimeout(timer);
      this.give((error, client) => {
        if (client === undefined) {
          this.#line.leave();
          if (error !== undefined) neverSent.add(error);
          then(error, undefined, () => undefined);
          return;
        }
        // The pool replaces `release` each time that it gives out the connection.
        const release = client.release.bind(client);
        client.release = (broken) => {
          serverOf(client).sawFault?.(broken);
          release(broken === undefined ? isOutdated(client) : broken);
          this.#line.leave();
        };
        then(undefined, client, client.release);
      });
    });
  }
}

class CountedPool extends LinedPool {
  readonly #connections: number;
  readonly #servers: number;
  readonly #made = new Set<pg.PoolClient>();
  /** Time when a connection was last made, or returned unbroken. */
  #lastSign = -Infinity;

  constructor({ config, client, connections, patienceMs }: PoolOptions) {
    // The client class limits the time for connecting. A limit on the pool would also count the
    // wait for a free connection, and report both as the same error.
    super({ ...config, Client: client }, connections, patienceMs);
    this.#connections = connections;
    this.#servers = client.servers;
    this.on('connect', (client: pg.PoolClient) => {
      this.#made.add(client);
      this.#lastSign = performance.now();
    });
    this.on('remove', (client: pg.PoolClient) => this.#made.delete(client));
    this.on('release', (error: unknown) => {
      if (error === undefined || error === null) this.#lastSign = performance.now();
    });
  }

  protected override placesNow(): number {
    return Math.max(FIRST, this.totalCount);
  }

  protected override give(then: Callback): void {
    this.#giveFrom(this.#servers, then);
  }

  /** Tries the next server when one fails, each server once. */
  #giveFrom(servers: number, then: Callback): void {
    this.connectNow((error, client, release) => {
      if (client === undefined) {
        if (servers > 1) this.#giveFrom(servers - 1, then);
        else then(error, undefined, release);
        return;
      }
      if (isOutdated(client)) {
        // The number of outdated connections is limited, and each is removed here.
        client.release(true);
        this.#giveFrom(servers, then);
        return;
      }
      then(undefined, client, release);
    });
  }

  override refusal(since: number, places = this.#connections): Error {
    const isThere = this.#lastSign >= since || this.#made.size >= places;
    return isThere ? new PoolBusyError() : new Error('timeout exceeded when trying to connect');
  }
}

/** A share of another pool's connections. It has none itself, and ending it ends no connection. */
class SharePool extends LinedPool {
  readonly #whole: CountedPool;
  readonly #places: number;

  constructor(whole: CountedPool, places: number, patienceMs: number) {
    super({}, places, patienceMs);
    this.#whole = whole;
    this.#places = places;
  }

  protected override placesNow(): number {
    return this.#places;
  }

  protected override give(then: Callback): void {
    this.#whole.connect(then);
  }

  override refusal(since: number): Error {
    return this.#whole.refusal(since, this.#places);
  }
}

/** Returns whether the database has moved away from the server of this connection. */
function isOutdated(client: pg.PoolClient): boolean {
  return serverOf(client).isOutdated === true;
}

function serverOf(client: object): Partial<Pick<ServerClient, 'isOutdated' | 'sawFault'>> {
  return client;
}
