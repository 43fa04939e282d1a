/**
 * A local exchange that answers as Binance documents it: signatures, time windows, error bodies and
 * money are real; and it misbehaves on demand.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { readBody, Refused, type Ask } from './protocol.ts';
import { endpoints } from './endpoints.ts';
import { createBooks, type Books } from './books.ts';

/**
 * What goes wrong with the requests that come next; `done` faults hit after the request had its
 * effect.
 */
export interface Fault {
  /** Part of a path, such as `withdraw/apply`. */
  readonly path: string;
  readonly method?: 'GET' | 'POST';
  readonly kind:
    | 'error_500'
    | 'done_then_500'
    | 'done_then_hangup'
    | 'hangup'
    | 'slow'
    | 'malformed'
    | 'done_then_malformed'
    | 'status'
    | 'refuse';
  readonly status?: number;
  readonly body?: object;
  readonly milliseconds?: number;
  /** How many requests; 1 by default. */
  readonly times?: number;
}

export interface FakeExchange {
  readonly url: string;
  readonly books: Books;
  /** Every request that arrived, in order. */
  readonly requests: {
    readonly method: string;
    readonly path: string;
    readonly parameters: URLSearchParams;
    readonly raw: string;
  }[];
  key(account: string | null): { readonly api_key: string; readonly secret: string };
  fail(fault: Fault): void;
  /** Calls `effect` once the next request to such a path has been served, before its answer. */
  afterNext(path: string, effect: () => void): void;
  reset(): void;
  close(): Promise<void>;
}

const MASTER = null;

export async function startExchange(
  subs: readonly string[] = ['sub-a@example.com'],
): Promise<FakeExchange> {
  const keys = new Map(
    [MASTER, ...subs].map((account) => [
      `key-of-${account ?? 'master'}`,
      { account, secret: `secret-of-${account ?? 'master'}-0123456789` },
    ]),
  );
  const books = createBooks(subs);
  const requests: FakeExchange['requests'] = [];
  let faults: { fault: Fault; left: number }[] = [];
  let effects: { readonly path: string; readonly effect: () => void }[] = [];

  const take = (ask: { method: string; path: string }): Fault | undefined => {
    const found = faults.find(
      ({ fault, left }) =>
        left > 0 && ask.path.includes(fault.path) && (fault.method ?? ask.method) === ask.method,
    );
    if (found !== undefined) found.left -= 1;
    return found?.fault;
  };

  const runEffects = (path: string): void => {
    const due = effects.filter((each) => path.includes(each.path));
    effects = effects.filter((each) => !due.includes(each));
    for (const { effect } of due) effect();
  };

  const check = (
    request: IncomingMessage,
    raw: string,
    parameters: URLSearchParams,
  ): string | null => {
    if (request.url === '/api/v3/time') return null;
    const key = keys.get(String(request.headers['x-mbx-apikey']));
    if (key === undefined)
      throw new Refused(401, -2015, 'Invalid API-key, IP, or permissions for action.');
    const [signed = '', signature = ''] = raw.split('&signature=');
    const expected = createHmac('sha256', key.secret).update(signed).digest('hex');
    if (
      signature.length !== expected.length ||
      !timingSafeEqual(Buffer.from(signature), Buffer.from(expected))
    ) {
      throw new Refused(400, -1022, 'Signature for this request is not valid.');
    }
    const [timestamp, window] = [
      Number(parameters.get('timestamp')),
      Number(parameters.get('recvWindow') ?? 5_000),
    ];
    if (window > 60_000) throw new Refused(400, -1131, 'recvWindow must be less than 60000');
    const now = books.now();
    if (!(timestamp < now + 1_000 && now - timestamp <= window)) {
      throw new Refused(400, -1021, 'Timestamp for this request is outside of the recvWindow.');
    }
    return key.account;
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://exchange');
    const body = await readBody(request);
    const raw = request.method === 'GET' ? url.search.slice(1) : body;
    const ask = {
      method: request.method ?? '',
      path: url.pathname,
      parameters: new URLSearchParams(raw),
      raw,
    };
    requests.push(ask);
    const fault = take(ask);
    if (fault?.kind === 'hangup') return void request.socket.destroy();
    if (fault?.kind === 'slow') await sleep(fault.milliseconds ?? 300);
    if (fault?.kind === 'error_500')
      return answer(response, 500, {
        code: -1000,
        msg: 'An unknown error occurred while processing the request.',
      });
    if (fault?.kind === 'malformed') return answer(response, 200, '{"id": "7213');
    if (fault?.kind === 'status' || fault?.kind === 'refuse')
      return answer(response, fault.status ?? 400, fault.body ?? {});
    const outcome = perform(() => {
      const account = check(request, raw, ask.parameters);
      const endpoint = endpoints[`${ask.method} ${ask.path}`];
      if (endpoint === undefined)
        throw new Refused(404, -1020, `no ${ask.method} ${ask.path} here`);
      return endpoint(books, { account, parameters: ask.parameters } satisfies Ask);
    });
    runEffects(ask.path);
    if (fault?.kind === 'done_then_hangup') return void request.socket.destroy();
    if (fault?.kind === 'done_then_500')
      return answer(response, 500, {
        code: -1007,
        msg: 'Timeout waiting for response from backend server. Send status unknown; execution status unknown.',
      });
    if (fault?.kind === 'done_then_malformed') return answer(response, 200, '{"id": "7213');
    answer(response, outcome.status, outcome.body);
  };

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) =>
      answer(response, 500, { code: -1000, msg: String(error) }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    books,
    requests,
    key(account) {
      const [api_key = '', { secret } = { secret: '' }] =
        [...keys].find(([, key]) => key.account === account) ?? [];
      return { api_key, secret };
    },
    fail: (fault) => void faults.push({ fault, left: fault.times ?? 1 }),
    afterNext: (path, effect) => void effects.push({ path, effect }),
    reset() {
      faults = [];
      effects = [];
      requests.length = 0;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function perform(work: () => unknown): { readonly status: number; readonly body: unknown } {
  try {
    return { status: 200, body: work() };
  } catch (error) {
    if (error instanceof Refused)
      return { status: error.status, body: { code: error.code, msg: error.message } };
    throw error;
  }
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  if (response.destroyed) return;
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}
