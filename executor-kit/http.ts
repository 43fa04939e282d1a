/** Serves an executor, or other routes of the same kind, over the HTTP protocol. */
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { CallOptions } from '../domain/executor.ts';
import { CALL_TOO_LATE, isExecutorPhase, NOT_AFTER_HEADER } from '../executors/protocol.ts';
import { deadline, type Limits } from '../platform/deadline.ts';
import { Rejected, Unavailable } from './answers.ts';
import { bearerCheck } from './bearer.ts';
import type { DefinedExecutor } from './define.ts';
import { BODY_LIMIT_BYTES, readJsonBody } from './http-body.ts';

export interface ServeOptions {
  /** Port to listen on; 0 chooses any free port. */
  readonly port: number;
  /** Address to listen on; default 127.0.0.1, which only this machine can reach. */
  readonly host?: string;
  /** A file with the bearer tokens, one on each line, of which every call must carry one. */
  readonly authTokenFile?: string;
  readonly maxBodyBytes?: number;
  /** Milliseconds that running calls get to finish at a stop; 10 000 when left out. */
  readonly graceMs?: number;
  readonly log?: (line: string) => void;
}

export interface ServedExecutor {
  readonly port: number;
  readonly url: string;
  /** Accepts no new calls, and gives running calls `graceMs` to finish. */
  stop(): Promise<void>;
}

export interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A call of a route. `signal` aborts when the caller has gone, or after its `x-not-after`. */
export interface RouteCall extends CallOptions {
  readonly headers: IncomingHttpHeaders;
}

export interface Route {
  readonly method: 'GET' | 'POST';
  /** `body` is undefined for GET. A thrown Rejected is a 4xx, Unavailable a 503, others a 500. */
  answer(body: unknown, call: RouteCall): Promise<Reply>;
}

/** Returns what is served under a path, which is split at its slashes; undefined: nothing. */
export type Routes = (path: readonly string[]) => Route | undefined;

type Allowed = (header: string | undefined) => boolean;
type Server = {
  readonly routes: Routes;
  readonly allowed: Allowed;
  readonly maxBodyBytes: number;
  stopping: boolean;
  log(line: string): void;
};

/**
 * Listens, and serves the six phases and `GET /health` (and `GET /effects/<key>` if the executor
 * counts effects).
 *
 * @throws Error when the port is taken or the token file holds no token.
 */
export function serveExecutor(
  executor: DefinedExecutor,
  options: ServeOptions,
): Promise<ServedExecutor> {
  return serveRoutes(routesOf(executor), options);
}

/**
 * Listens, and serves these routes.
 *
 * @throws Error when the port is taken or the token file holds no token.
 */
export async function serveRoutes(routes: Routes, options: ServeOptions): Promise<ServedExecutor> {
  const log = options.log ?? ((line: string) => void process.stderr.write(`${line}\n`));
  const allowed =
    options.authTokenFile === undefined ? () => true : bearerCheck(options.authTokenFile);
  const parts: Server = {
    routes,
    allowed,
    maxBodyBytes: options.maxBodyBytes ?? BODY_LIMIT_BYTES,
    stopping: false,
    log,
  };
  // Longer than the service keeps an idle connection, so that the server never closes a connection
  // just as a call is sent.
  const server = createServer(
    { keepAliveTimeout: 15_000, requestTimeout: 30_000, headersTimeout: 10_000 },
    (request, response) => {
      void respond(parts, request, response);
    },
  );
  server.listen(options.port, options.host ?? '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : options.port;
  return {
    port,
    url: `http://${options.host ?? '127.0.0.1'}:${port}`,
    stop: async () => {
      parts.stopping = true;
      const closed = once(server, 'close');
      server.close();
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), options.graceMs ?? 10_000);
      await closed;
      clearTimeout(timer);
    },
  };
}

async function respond(
  server: Server,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort(new Error('the caller has gone'));
  });
  response.on('error', () => undefined);
  let reply: Reply;
  try {
    reply = await route(server, request, gone.signal);
  } catch (error) {
    reply = refusal(error);
    // The message of an unexpected error stays in this log, since it may name hosts and accounts.
    if (reply.status >= 500 && !gone.signal.aborted)
      server.log(`${request.method} ${request.url}: ${String(error)}`);
  }
  // After a refusal the rest of the body is not read, so the connection cannot carry another call.
  // During a stop, an open connection would delay the stop.
  const close = request.complete && !server.stopping ? {} : { connection: 'close' };
  if (reply.body === undefined)
    response.writeHead(reply.status, { ...reply.headers, ...close }).end();
  else
    response
      .writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers, ...close })
      .end(JSON.stringify(reply.body));
}

async function route(
  { routes, allowed, maxBodyBytes }: Server,
  request: IncomingMessage,
  gone: AbortSignal,
): Promise<Reply> {
  if (!allowed(request.headers.authorization)) {
    return {
      ...refusal(new Rejected('UNAUTHORIZED', 'a valid bearer token is needed', 401)),
      headers: { 'www-authenticate': 'Bearer' },
    };
  }
  const found = routes(pathOf(request));
  if (found === undefined) throw new Rejected('NOT_FOUND', 'this executor has no such route', 404);
  if (request.method !== found.method) return notAllowed(found.method);
  const { headers } = request;
  const body = found.method === 'POST' ? await readJsonBody(request, maxBodyBytes) : undefined;
  const id = headers['x-request-id'];
  return inTime(headers[NOT_AFTER_HEADER], gone, (limits) =>
    found.answer(body, {
      ...limits,
      headers,
      ...(typeof id === 'string' ? { requestId: id } : {}),
    }),
  );
}

/** A call that arrived after its last moment. */
class TooLate extends Unavailable {}

/** Runs `work` until the time in the header, if there is one. */
async function inTime(
  header: string | string[] | undefined,
  gone: AbortSignal,
  work: (limits: Limits) => Promise<Reply>,
): Promise<Reply> {
  if (header === undefined) return work({ signal: gone });
  const notAfter = Date.parse(String(header));
  const left = notAfter - Date.now();
  if (Number.isNaN(left))
    throw new Rejected('INVALID_REQUEST', `${NOT_AFTER_HEADER} must be a time in ISO 8601`, 400);
  if (left <= 0) {
    const late = String(Math.ceil(-left / 1000));
    throw new TooLate(
      `by this host's clock the call arrived ${late} s after its ${NOT_AFTER_HEADER}, and nothing was started: compare this clock with the caller's`,
    );
  }
  const limit = deadline({ signal: gone, notAfter }, Math.min(left, 2 ** 31 - 1));
  try {
    return await work({ signal: limit.signal, notAfter });
  } finally {
    limit.clear();
  }
}

function routesOf(executor: DefinedExecutor): Routes {
  return ([first = '', ...rest]) => {
    if (isExecutorPhase(first) && rest.length === 0) {
      return {
        method: 'POST',
        answer: async (body, { headers: _, ...call }) =>
          phaseReply(await executor.answer(first, body, call)),
      };
    }
    const { effects } = executor;
    if (first === 'effects' && rest.length === 1 && effects !== undefined)
      return read(async () => ({ effects: await effects(rest[0] ?? '') }));
    return first === 'health' && rest.length === 0 ? read(() => executor.health()) : undefined;
  };
}

/** Returns the reply of a phase: 204 for a passed preflight. */
function phaseReply(answer: unknown): Reply {
  return answer === null ? { status: 204 } : { status: 200, body: answer };
}

function read(body: () => Promise<unknown>): Route {
  return { method: 'GET', answer: async () => ({ status: 200, body: await body() }) };
}

function pathOf(request: IncomingMessage): string[] {
  try {
    const { pathname } = new URL(request.url ?? '/', 'http://executor');
    return pathname.replace(/\/+$/, '').split('/').slice(1).map(decodeURIComponent);
  } catch {
    throw new Rejected('NOT_FOUND', 'the path cannot be read', 400);
  }
}

function notAllowed(method: string): Reply {
  return {
    ...refusal(new Rejected('METHOD_NOT_ALLOWED', `use ${method}`, 405)),
    headers: { allow: method },
  };
}

function refusal(error: unknown): Reply {
  if (error instanceof Rejected)
    return { status: error.status, body: { error_code: error.code, error_message: error.message } };
  if (!(error instanceof Unavailable))
    return {
      status: 500,
      body: { error_code: 'INTERNAL_ERROR', error_message: 'the executor failed' },
    };
  const { retryAfterSeconds } = error;
  const headers: Record<string, string> =
    retryAfterSeconds === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterSeconds)) };
  const error_code = error instanceof TooLate ? CALL_TOO_LATE : 'UNAVAILABLE';
  return { status: 503, body: { error_code, error_message: error.message }, headers };
}
