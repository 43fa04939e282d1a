/**
 * What stands before page and service in a deployment: one origin for both, so that no browser
 * needs CORS.
 */
import { readFileSync } from 'node:fs';
import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { pipeline, Transform } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { ROOT } from '../../dev/stack/ports.ts';

const PAGE = 'examples/dashboard-signing';

/** A request as it was sent, and the status of its answer. */
export interface Passed {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly status: number;
}

export interface Site {
  /** Files and their types, by where they are found. */
  readonly files: Readonly<Record<string, readonly [file: string, type: string]>>;
  /** What is the service's. */
  readonly passesOn: (url: string) => boolean;
  readonly policy?: string;
  /** Sees what was passed on before its answer is; false loses the answer. */
  readonly passed?: (request: Passed) => boolean;
  /** Whether what an answer goes on with arrives; else it is lost, and no one hears that. */
  readonly carries?: (target: string) => boolean;
}

const FILES: Site['files'] = {
  '/': [`${PAGE}/index.html`, 'text/html; charset=utf-8'],
  '/page.js': [`${PAGE}/page.js`, 'text/javascript'],
  '/signing.js': [`${PAGE}/signing.js`, 'text/javascript'],
  '/probe.js': ['test/browser/probe.js', 'text/javascript'],
};

/** As in the example's README: own origin only, nothing inline, no frame around it. */
const POLICY =
  "default-src 'none'; script-src 'self'; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

/** The dashboard's example, with the packed client at `client`. */
export const dashboardSite = (client: string): Site => ({
  files: { ...FILES, '/client.js': [client, 'text/javascript'] },
  passesOn: (url) => url.startsWith('/dashboard/'),
  policy: POLICY,
});

export interface ReverseProxy {
  readonly origin: string;
  stop(): Promise<void>;
}

/**
 * Serves a page, and passes what is the service's on as it comes, to one host only. Listens on
 * `port`, any free one for 0.
 */
export async function startReverseProxy(
  service: string,
  site: Site,
  port = 0,
): Promise<ReverseProxy> {
  const server = createServer((incoming, outgoing) => {
    const { url = '' } = incoming;
    if (site.passesOn(url)) void passOn(service, site, incoming, outgoing);
    else serveFile(site, url, outgoing);
  });
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => stopped(server),
  };
}

function serveFile({ files, policy }: Site, url: string, outgoing: ServerResponse): void {
  const [file, type] = files[url] ?? [];
  if (file === undefined)
    outgoing.writeHead(404, { 'content-type': 'text/plain' }).end('nothing here');
  else {
    outgoing.writeHead(200, {
      'content-type': type,
      ...(policy === undefined ? {} : { 'content-security-policy': policy }),
      'x-content-type-options': 'nosniff',
    });
    outgoing.end(readFileSync(resolve(ROOT, file)));
  }
}

/** Path and query are part of what is signed, so they are handed on byte by byte. */
async function passOn(
  service: string,
  { passed = () => true, carries = () => true }: Site,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const { hostname, port } = new URL(service);
  const { method = '', url: target = '', headers } = incoming;
  const body = await buffer(incoming);
  const sent = httpRequest({ hostname, port, method, path: target, headers }, (answer) => {
    const status = answer.statusCode ?? 502;
    if (!passed({ method, target, headers, body, status })) {
      incoming.socket.destroy();
      return;
    }
    outgoing.writeHead(status, answer.headers);
    // A stream ends at both sides when one of them goes.
    const carried = new Transform({
      transform: (chunk: Buffer, _encoding, done) => (carries(target) ? done(null, chunk) : done()),
    });
    pipeline(answer, carried, outgoing, () => undefined);
  });
  sent.on('error', () => {
    if (outgoing.headersSent) outgoing.destroy();
    else outgoing.writeHead(502).end();
  });
  sent.end(body);
}

function stopped(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((closed) => server.close(() => closed()));
}
