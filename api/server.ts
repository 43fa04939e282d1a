/** Listening sockets with limits against slow clients, and a close that lets requests finish. */
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { ERROR_TABLE, type ErrorCode } from '../domain/errors.ts';
import { newId } from '../platform/ids.ts';

export interface Listening {
  readonly port: number;
  /** Stops accepting, lets running requests finish for a while, then cuts what is left. */
  close(): Promise<void>;
}

export interface ListenOptions {
  readonly app: RequestListener;
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** The setting the port comes from, for the message when it is taken. */
  readonly setting?: 'SVC_PORT' | 'SVC_OPS_PORT';
  /** How long running requests may take to finish at close. */
  readonly graceMs?: number;
  /** Other limits, for tests that do not want to wait. */
  readonly limits?: Partial<typeof LIMITS>;
}

export const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 15_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 16_384,
} satisfies ServerOptions;

/** Bounds what one connection can have going on at once by pipelining; others reconnect and do not notice. */
export const REQUESTS_A_CONNECTION = 1_000;

/** Starts to listen, or fails with a message that tells what to do. */
export async function listen(options: ListenOptions): Promise<Listening> {
  const server = createServer({ ...LIMITS, ...options.limits }, options.app);
  server.maxRequestsPerSocket = REQUESTS_A_CONNECTION;
  server.on('clientError', refuseMalformed);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      reject(explained(error, options));
    });
    server.listen(options.port, options.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  let closing: Promise<void> | undefined;
  return {
    port,
    close: () => (closing ??= closeGracefully(server, options.graceMs ?? 10_000)),
  };
}

function explained(error: NodeJS.ErrnoException, options: ListenOptions): Error {
  const setting = options.setting ?? 'SVC_PORT';
  const where = `${options.host}:${String(options.port)}`;
  switch (error.code) {
    case 'EADDRINUSE':
      return new Error(`${where} is already in use; stop the other process or set ${setting} to a free port`, { cause: error });
    case 'EACCES':
      return new Error(`no permission to listen on ${where}; set ${setting} to a port above 1023`, { cause: error });
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new Error(`${options.host} is no address of this machine; set ${setting.replace('PORT', 'HOST')}`, { cause: error });
    default:
      return error;
  }
}

function closeGracefully(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    // Connections become idle as their requests finish; new requests on them are not waited for.
    const idle = setInterval(() => {
      server.closeIdleConnections();
    }, 50);
    const cut = setTimeout(() => {
      server.closeAllConnections();
    }, graceMs);
    server.close(() => {
      clearInterval(idle);
      clearTimeout(cut);
      resolve();
    });
    server.closeIdleConnections();
  });
}

const ANSWERS: Readonly<Record<string, { readonly code: ErrorCode; readonly phrase: string }>> = {
  HPE_HEADER_OVERFLOW: { code: 'headers_too_large', phrase: 'Request Header Fields Too Large' },
  ERR_HTTP_REQUEST_TIMEOUT: { code: 'request_timeout', phrase: 'Request Timeout' },
};
const MALFORMED = { code: 'invalid_path', phrase: 'Bad Request', message: 'The request is not well-formed HTTP.' } as const;

/** What is not HTTP, or too slow or too large to be read, is answered once and cut. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const { code, phrase } = ANSWERS[error.code ?? ''] ?? MALFORMED;
  const { status, message } = ERROR_TABLE[code];
  const body = JSON.stringify({ detail: { error: code, message: code === MALFORMED.code ? MALFORMED.message : message } });
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
