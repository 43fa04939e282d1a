/**
 * A local exchange that answers as its format documents it: signatures, time windows, error bodies
 * and money are real; and it misbehaves on demand.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createBooks, type Account, type Books } from './books.ts';
import type { Credentials, Format, WireAnswer, WireRequest } from './format.ts';
import { binance } from './formats/binance.ts';
import type { Fault } from './misbehaviour.ts';
import { seenOf, serve, type Seen } from './serve.ts';

export type { Fault } from './misbehaviour.ts';
export type { Seen } from './serve.ts';

export interface FakeExchange {
  readonly url: string;
  readonly format: Format;
  readonly books: Books;
  /** Every request that arrived, in order. */
  readonly requests: Seen[];
  /** What the credentials file of an account holds. */
  key(account: Account): Credentials;
  fail(fault: Fault): void;
  /**
   * Calls `effect` once the next request to such a path, as of a fault, has been served, before its
   * answer.
   */
  afterNext(path: string, effect: () => void): void;
  /** Whether a key's requests above the format's limits are answered as rate limited. */
  limit(isLimited: boolean): void;
  /** Forgets faults, effects and requests, and limits nothing. The books stay. */
  reset(): void;
  close(): Promise<void>;
}

export async function startExchange(format: Format = binance): Promise<FakeExchange> {
  const books = createBooks(format.books);
  const requests: Seen[] = [];
  const trouble = createTrouble();
  const meter = createMeter(format);
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const seen = await read(request, format);
    requests.push(seen);
    if (meter.isOver(seen)) return send(response, format.broken.rate_limited);
    const exchange = { format, books, restart: host.restart };
    const answer = await serve(exchange, seen, trouble.take(seen), () =>
      trouble.runEffects(seen.path),
    );
    if (answer === null) request.socket.destroy();
    else send(response, answer);
  };
  const host = await startHost((request, response) => {
    handle(request, response).catch((error: unknown) =>
      send(response, { ...format.broken.error_500, body: String(error) }),
    );
  });
  return {
    ...{ format, books, requests },
    url: host.url,
    key: format.keyOf,
    fail: trouble.fail,
    afterNext: trouble.afterNext,
    limit: meter.limit,
    reset() {
      trouble.reset();
      meter.limit(false);
      requests.length = 0;
    },
    close: host.close,
  };
}

/** Whether a fault or an effect for `wanted`, a whole path or a part of one, is for this path. */
function isFor(wanted: string, path: string): boolean {
  return wanted.startsWith('/') ? path === wanted : path.includes(wanted);
}

/** The faults and effects that are still to come. */
function createTrouble() {
  let faults: { fault: Fault; left: number }[] = [];
  let effects: { readonly path: string; readonly effect: () => void }[] = [];
  return {
    fail: (fault: Fault): void => void faults.push({ fault, left: fault.times ?? 1 }),
    afterNext: (path: string, effect: () => void): void => void effects.push({ path, effect }),
    take({ method, path }: WireRequest): Fault | undefined {
      const found = faults.find(
        ({ fault, left }) =>
          left > 0 && isFor(fault.path, path) && (fault.method ?? method) === method,
      );
      if (found !== undefined) found.left -= 1;
      return found?.fault;
    },
    runEffects(path: string): void {
      const due = effects.filter((each) => isFor(each.path, path));
      effects = effects.filter((each) => !due.includes(each));
      for (const { effect } of due) effect();
    },
    reset(): void {
      faults = [];
      effects = [];
    },
  };
}

/** Counts the requests of each API key, as the format's limits do. */
function createMeter({ limits }: Format) {
  const levels = new Map<string, { readonly level: number; readonly at: number }>();
  let isLimited = false;
  return {
    limit(value: boolean): void {
      isLimited = value;
      levels.clear();
    },
    /** Whether the request is above the limits. One that is not counts. */
    isOver({ key, cost, at }: Seen): boolean {
      if (!isLimited || key === null) return false;
      const last = levels.get(key) ?? { level: 0, at };
      const drained = ((at - last.at) / 1_000) * limits.units_per_second;
      const level = Math.max(0, last.level - drained) + cost;
      if (level > limits.capacity) return true;
      levels.set(key, { level, at });
      return false;
    },
  };
}

interface Host {
  readonly url: string;
  readonly restart: (milliseconds: number) => void;
  close(): Promise<void>;
}

async function startHost(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Host> {
  const server = createServer(handle);
  const listen = (port: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => {
        server.off('error', reject);
        resolve();
      });
    });
  const stop = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  let restarted: Promise<void> = Promise.resolve();
  return {
    url: `http://127.0.0.1:${String(port)}`,
    restart(milliseconds) {
      restarted = stop()
        .then(() => sleep(milliseconds))
        .then(() => listen(port));
    },
    async close() {
      await restarted;
      await stop();
    },
  };
}

async function read(request: IncomingMessage, format: Format): Promise<Seen> {
  const { method = '', url: target = '/', headers } = request;
  return seenOf({ method, target, headers, body: await readBody(request) }, format);
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}

function send(response: ServerResponse, { status, body, headers = {} }: WireAnswer): void {
  if (response.destroyed) return;
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}
