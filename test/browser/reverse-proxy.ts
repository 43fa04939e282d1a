/**
 * What stands before page and service in a deployment: one origin for both, so that no browser
 * needs CORS.
 */
import { readFileSync } from 'node:fs';
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { ROOT } from '../../dev/stack/ports.ts';

const PAGE = 'examples/dashboard-signing';
const FILES: Readonly<Record<string, readonly [string, string]>> = {
  '/': [`${PAGE}/index.html`, 'text/html; charset=utf-8'],
  '/page.js': [`${PAGE}/page.js`, 'text/javascript'],
  '/signing.js': [`${PAGE}/signing.js`, 'text/javascript'],
  '/probe.js': ['test/browser/probe.js', 'text/javascript'],
};

/** As the example's README has it: nothing from elsewhere, nothing inline, in nobody's frame. */
const POLICY =
  "default-src 'none'; script-src 'self'; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

export interface ReverseProxy {
  readonly origin: string;
  stop(): Promise<void>;
}

/**
 * Serves the example's page, and passes what is under `/dashboard/` on as it comes, to one host
 * only.
 */
export async function startReverseProxy(service: string): Promise<ReverseProxy> {
  const server = createServer((incoming, outgoing) => {
    const { url = '' } = incoming;
    if (url.startsWith('/dashboard/')) passOn(service, incoming, outgoing);
    else serveFile(url, outgoing);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => stopped(server),
  };
}

function serveFile(url: string, outgoing: ServerResponse): void {
  const [file, type] = FILES[url] ?? [];
  if (file === undefined)
    outgoing.writeHead(404, { 'content-type': 'text/plain' }).end('nothing here');
  else {
    outgoing.writeHead(200, {
      'content-type': type,
      'content-security-policy': POLICY,
      'x-content-type-options': 'nosniff',
    });
    outgoing.end(readFileSync(join(ROOT, file)));
  }
}

/** Path and query are part of what is signed, so they are handed on byte by byte. */
function passOn(service: string, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { hostname, port } = new URL(service);
  const { method, url: path, headers } = incoming;
  const sent = httpRequest({ hostname, port, method, path, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  sent.on('error', () => outgoing.writeHead(502).end());
  incoming.pipe(sent);
}

function stopped(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
