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
import { resolve } from 'node:path';
import { ROOT } from '../../dev/stack/ports.ts';

const PAGE = 'examples/dashboard-signing';

export interface Site {
  /** Files and their types, by where they are found. */
  readonly files: Readonly<Record<string, readonly [file: string, type: string]>>;
  /** What is the service's. */
  readonly passesOn: (url: string) => boolean;
  readonly policy?: string;
}

const FILES: Site['files'] = {
  '/': [`${PAGE}/index.html`, 'text/html; charset=utf-8'],
  '/page.js': [`${PAGE}/page.js`, 'text/javascript'],
  '/signing.js': [`${PAGE}/signing.js`, 'text/javascript'],
  '/probe.js': ['test/browser/probe.js', 'text/javascript'],
};

/** As the example's README has it: nothing from elsewhere, nothing inline, in nobody's frame. */
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

/** Serves a page, and passes what is the service's on as it comes, to one host only. */
export async function startReverseProxy(service: string, site: Site): Promise<ReverseProxy> {
  const server = createServer((incoming, outgoing) => {
    const { url = '' } = incoming;
    if (site.passesOn(url)) passOn(service, incoming, outgoing);
    else serveFile(site, url, outgoing);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
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
  return new Promise((closed) => server.close(() => closed()));
}
