/**
 * Connections to Postgres: who waits for one, for how long, and with which error the wait ends. A
 * pool whose connections are all at work and a database out of reach have different errors.
 */
import pg from 'pg';
import type { ClientClass, ServerClient } from './servers.ts';

/**
 * The database answers, and this process asks more of it than its connections can carry. Nothing
 * was sent.
 */
export class PoolBusyError extends Error {
  override readonly name = 'PoolBusyError';
  readonly code = 'POOL_BUSY';
  constructor() {
    super('every connection to the database is at work');
  }
}

const neverSent = new WeakSet<object>();

/** Whether this is why a connection was not got: no statement was sent over it. */
export function wasNeverSent(error: object): boolean {
  return neverSent.has(error);
}

/** Everything that asks for connections in one process, or a share of it. */
export interface ConnectionSource {
  readonly pool: pg.Pool;
  /** The same connections, of which whoever uses this share never holds more than so many. */
  share(connections: number): ConnectionSource;
}

export interface PoolOptions {
  readonly config: pg.PoolConfig;
  /** What each connection is; it has its own limit of time for being made. */
  readonly client: ClientClass;
  readonly connections: number;
  /** How long a connection is waited for. */
  readonly patienceMs: number;
}

/** Nothing is connected before the first who asks. */
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

/** Waiting callers; places go to them in the order in which they came. */
class Line {
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(places: number) {
    this.#free = places;
  }

  /** Calls `then` once, now or when a place is free; answers how to stop waiting. */
  enter(then: () => void): () => void {
    this.#waiting.add(then);
    this.#next();
    return () => this.#waiting.delete(then);
  }

  leave(): void {
    this.#free += 1;
    this.#next();
  }

  #next(): void {
    for (const then of this.#waiting) {
      if (this.#free === 0) return;
      this.#waiting.delete(then);
      this.#free -= 1;
      then();
    }
  }
}

/** A pool behind a line of ours: callers that the line lets in do not wait for each other. */
abstract class LinedPool extends pg.Pool {
  readonly #line: Line;
  readonly #patienceMs: number;

  constructor(config: pg.PoolConfig, places: number, patienceMs: number) {
    super({ ...config, max: places });
    this.#line = new Line(places);
    this.#patienceMs = patienceMs;
  }

  /** Gives a connection to one who was let in. */
  protected abstract give(then: Callback): void;
  /** The error of a caller that has waited in vain since then. */
  abstract refusal(since: number): Error;

  // By callback or as a promise, as the driver offers it and uses it itself.
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

  /** The driver's own way to a connection, without the line. */
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
        // The pool makes `release` anew each time that it gives the connection out.
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
  /** When a connection was last made, or returned intact. */
  #lastSign = -Infinity;

  constructor({ config, client, connections, patienceMs }: PoolOptions) {
    // The limit for making a connection is the client's; set on the pool it would count the waiting
    // too, and call both the same.
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

  protected override give(then: Callback): void {
    this.#giveFrom(this.#servers, then);
  }

  /** Where one server fails, the next is tried, each once. */
  #giveFrom(servers: number, then: Callback): void {
    this.connectNow((error, client, release) => {
      if (client === undefined) {
        if (servers > 1) this.#giveFrom(servers - 1, then);
        else then(error, undefined, release);
        return;
      }
      if (isOutdated(client)) {
        // There are only so many of these, and each is gone now.
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

/** A part of another pool's connections; it has none of its own, and ending it ends nothing. */
class SharePool extends LinedPool {
  readonly #whole: CountedPool;
  readonly #places: number;

  constructor(whole: CountedPool, places: number, patienceMs: number) {
    super({}, places, patienceMs);
    this.#whole = whole;
    this.#places = places;
  }

  protected override give(then: Callback): void {
    this.#whole.connect(then);
  }

  override refusal(since: number): Error {
    return this.#whole.refusal(since, this.#places);
  }
}

/** Whether the database has moved away from what it is connected to. */
function isOutdated(client: pg.PoolClient): boolean {
  return serverOf(client).isOutdated === true;
}

function serverOf(client: object): Partial<Pick<ServerClient, 'isOutdated' | 'sawFault'>> {
  return client;
}
