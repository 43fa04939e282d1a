/** Listening sockets with limits against slow clients, and a close that lets requests finish. */
import {
  createServer,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { Counter } from 'prom-client';
import { ERROR_TABLE, type ErrorCode } from '../../domain/errors.ts';
import { newId } from '../../platform/ids.ts';
import { withReadableTarget } from './target.ts';
import { afterReading, readBeforeTimeOuts } from './late-reads.ts';

export interface Listening {
  readonly port: number;
  /** Makes every later response ask its caller to open a new connection. */
  sayGoodbye(): void;
  /**
   * Stops accepting, lets running requests finish for a while, then cuts the rest; returns the
   * requests that were cut.
   */
  close(): Promise<readonly string[]>;
}

export interface ListenOptions {
  readonly app: RequestListener;
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** The setting that holds the port, for the error message when the port is in use. */
  readonly setting?: 'SVC_PORT' | 'SVC_OPS_PORT';
  /** Milliseconds that running requests may take to finish at close. */
  readonly graceMs?: number;
  /** Other limits, for tests that must not wait. */
  readonly limits?: Partial<typeof LIMITS>;
  /** Maximum number of connections, for tests. */
  readonly connections?: number;
}

export const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 75_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 16_384,
} satisfies ServerOptions;

/**
 * Seconds that the Keep-Alive header announces for an idle connection. Less than the real timeout,
 * so that a caller who trusts the header never sends on a closing connection. Longer than 60 s,
 * after which common proxies close their connections.
 */
export const KEPT_SECONDS = 65;

/** Connections that may wait to be accepted; the kernel's limit (`somaxconn`) is usually 4,096. */
const BACKLOG = 4_096;

/** Maximum requests on one connection, which limits pipelining; other callers just reconnect. */
export const REQUESTS_A_CONNECTION = 1_000;

/** Maximum number of connections; a further connection is closed before it is read. */
export const CONNECTIONS = 2_048;

const dropped = new Counter({
  name: 'svc_http_connections_dropped_total',
  help: 'Connections that were closed unread because there were too many.',
});

/** Starts to listen, or throws an error that says what to do. */
export async function listen(options: ListenOptions): Promise<Listening> {
  let leaving = false;
  let closing: Promise<readonly string[]> | undefined;
  const server = createServer({ ...LIMITS, ...options.limits }, withReadableTarget(options.app));
  server.maxRequestsPerSocket = REQUESTS_A_CONNECTION;
  server.maxConnections = options.connections ?? CONNECTIONS;
  server.on('drop', () => {
    dropped.inc();
  });
  readBeforeTimeOuts(server, refuseMalformed);
  const open = new Set<ServerResponse>();
  server.prependListener('request', (_request, response) => {
    open.add(response);
    response.once('close', () => open.delete(response));
    if (leaving) sayGoodbye(response);
    else if (response.shouldKeepAlive)
      response.setHeader('Keep-Alive', `timeout=${String(KEPT_SECONDS)}`);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      reject(explained(error, options));
    });
    server.listen({ port: options.port, host: options.host, backlog: BACKLOG }, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const leave = (): void => {
    leaving = true;
    for (const response of open) sayGoodbye(response);
  };
  return {
    port,
    sayGoodbye: leave,
    close: () => {
      leave();
      return (closing ??= closeGracefully(server, open, options.graceMs ?? 10_000));
    },
  };
}

function explained(error: NodeJS.ErrnoException, options: ListenOptions): Error {
  const setting = options.setting ?? 'SVC_PORT';
  const where = `${options.host}:${String(options.port)}`;
  switch (error.code) {
    case 'EADDRINUSE':
      return new Error(
        `${where} is already in use; stop the other process or set ${setting} to a free port`,
        { cause: error },
      );
    case 'EACCES':
      return new Error(`no permission to listen on ${where}; set ${setting} to a port above 1023`, {
        cause: error,
      });
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new Error(
        `${options.host} is no address of this machine; set ${setting.replace('PORT', 'HOST')}`,
        { cause: error },
      );
    default:
      return error;
  }
}

/** Makes the caller open another connection for its next request. */
function sayGoodbye(response: ServerResponse): void {
  if (response.headersSent) return;
  response.removeHeader('Keep-Alive');
  response.setHeader('Connection', 'close');
}

function closeGracefully(
  server: Server,
  open: ReadonlySet<ServerResponse>,
  graceMs: number,
): Promise<readonly string[]> {
  let unanswered: readonly string[] = [];
  return new Promise((resolve) => {
    // Connections become idle as their requests finish. Requests that arrived before the caller saw
    // `Connection: close` are still read and answered.
    const closeIdle = (): void => {
      afterReading(() => {
        server.closeIdleConnections();
      });
    };
    const idle = setInterval(closeIdle, 50);
    const cut = setTimeout(() => {
      unanswered = [...open].map(nameOf);
      server.closeAllConnections();
    }, graceMs);
    afterReading(() => {
      server.close(() => {
        clearInterval(idle);
        clearTimeout(cut);
        resolve(unanswered);
      });
    });
  });
}

/** Returns the request's method and path without the query, which callers choose. */
function nameOf({ req: { method = '', url = '' } }: ServerResponse): string {
  return `request ${method} ${url.split('?')[0] ?? ''}`;
}

const ANSWERS: Readonly<Record<string, { readonly code: ErrorCode; readonly phrase: string }>> = {
  HPE_HEADER_OVERFLOW: { code: 'headers_too_large', phrase: 'Request Header Fields Too Large' },
  ERR_HTTP_REQUEST_TIMEOUT: { code: 'request_timeout', phrase: 'Request Timeout' },
};
const MALFORMED = {
  code: 'invalid_path',
  phrase: 'Bad Request',
  message: 'The request is not well-formed HTTP.',
} as const;

/**
 * Refuses input that is not HTTP, too slow or too large: replies once and closes the connection.
 */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const { code, phrase } = ANSWERS[error.code ?? ''] ?? MALFORMED;
  const { status, message } = ERROR_TABLE[code];
  const body = JSON.stringify({
    detail: { error: code, message: code === MALFORMED.code ? MALFORMED.message : message },
  });
  socket.end(
    [
      `HTTP/1.1 ${String(status)} ${phrase}`,
      'Connection: close',
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${String(Buffer.byteLength(body))}`,
      `X-Request-Id: ${newId()}`,
      '',
      body,
    ].join('\r\n'),
  );
}
