/**
 * Temporal behind TLS, as people run it: a proxy that terminates it in front of the development
 * server, requires a client certificate and an API key, and the certificates for it.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import {
  connect,
  createSecureServer,
  type ClientHttp2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';

export interface Pair {
  readonly cert: string;
  readonly key: string;
}

/** A certificate authority in a folder; paths of PEM files. */
export interface Authority extends Pair {
  issue(name: string, options?: { readonly days?: number; readonly dns?: string }): Pair;
}

const openssl = (...args: readonly string[]): void => {
  execFileSync('openssl', args, { stdio: 'pipe' });
};
const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'] as const;

export function createAuthority(folder: string, name: string): Authority {
  const pair = (of: string): Pair => ({
    cert: join(folder, `${of}.pem`),
    key: join(folder, `${of}.key`),
  });
  const own = pair(name);
  openssl(
    'req',
    '-x509',
    ...NEW_KEY,
    '-keyout',
    own.key,
    '-out',
    own.cert,
    '-days',
    '30',
    '-subj',
    `/CN=${name}`,
  );
  return {
    ...own,
    issue: (of, { days = 10, dns } = {}) => {
      const { cert, key } = pair(of);
      const [request, extensions] = [`${cert}.csr`, `${cert}.ext`];
      // Of version 3, as the worker's library wants them: without an extension it would be 1.
      const alternatives = dns === undefined ? '' : `subjectAltName=DNS:${dns}\n`;
      writeFileSync(extensions, `basicConstraints=CA:FALSE\n${alternatives}`);
      openssl('req', ...NEW_KEY, '-keyout', key, '-out', request, '-subj', `/CN=${of}`);
      openssl(
        'x509',
        '-req',
        '-in',
        request,
        '-CA',
        own.cert,
        '-CAkey',
        own.key,
        '-CAcreateserial',
        '-days',
        String(days),
        '-extfile',
        extensions,
        '-out',
        cert,
      );
      return { cert, key };
    },
  };
}

export interface TlsProxy {
  readonly port: number;
  /** Keys that are let in. */
  readonly apiKeys: Set<string>;
  /** Names of the client certificates that connected, in order. */
  readonly clients: readonly string[];
  /** Ends every connection there is. */
  hangUp(): void;
  close(): Promise<void>;
}

export async function startTlsProxy(options: {
  readonly ca: string;
  readonly server: Pair;
  readonly upstreamPort: number;
  readonly apiKeys: readonly string[];
}): Promise<TlsProxy> {
  const { ca, server: own, upstreamPort } = options;
  const apiKeys = new Set(options.apiKeys);
  const clients: string[] = [];
  const sessions = new Set<ServerHttp2Session>();
  let upstream: ClientHttp2Session | null = null;
  const upstreamSession = (): ClientHttp2Session => {
    if (upstream === null || upstream.closed || upstream.destroyed) {
      upstream = connect(`http://127.0.0.1:${String(upstreamPort)}`);
      upstream.on('error', () => undefined);
    }
    return upstream;
  };
  const server = createSecureServer({
    ca: readFileSync(ca),
    cert: readFileSync(own.cert),
    key: readFileSync(own.key),
    requestCert: true,
    rejectUnauthorized: true,
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    clients.push(String(socket.getPeerCertificate().subject.CN));
  });
  server.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
    session.on('error', () => undefined);
  });
  server.on('stream', (stream, headers) => {
    if (apiKeys.has(String(headers.authorization).replace(/^Bearer /, '')))
      forward(stream, headers, upstreamSession());
    else
      stream.respond(
        {
          ':status': 200,
          'content-type': 'application/grpc',
          'grpc-status': '16',
          'grpc-message': 'Request unauthorized.',
        },
        { endStream: true },
      );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    apiKeys,
    clients,
    hangUp: () => {
      for (const session of sessions) session.destroy();
    },
    close: async () => {
      for (const session of sessions) session.destroy();
      upstream?.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function forward(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  upstream: ClientHttp2Session,
): void {
  const { ':authority': _, ':scheme': _scheme, ...rest } = headers;
  const request = upstream.request(rest);
  let trailers: IncomingHttpHeaders = {};
  request.on('response', (answer) => {
    if (!stream.closed) stream.respond({ ...answer }, { waitForTrailers: true });
  });
  request.on('trailers', (last) => (trailers = last));
  stream.on('wantTrailers', () => stream.sendTrailers({ ...trailers }));
  request.on('error', () => stream.close());
  stream.on('error', () => undefined);
  stream.on('close', () => request.close());
  stream.pipe(request);
  request.pipe(stream);
}
