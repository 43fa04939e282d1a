/** A real HTTP server that does to each request what a script says, and remembers what came. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Seen {
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** What is done to a request that has come whole. */
export type Act = (response: ServerResponse, seen: Seen) => void;

/** Takes the request, and cuts the connection before a byte of the answer. */
export const lose: Act = (response) => response.destroy();
/** Begins an answer of 201 and cuts the connection in the middle of it. */
export const cut: Act = (response) => {
  response.writeHead(201, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"movement_id"', () => response.destroy());
};
/** Never answers. */
export const hang: Act = () => undefined;
export const answer =
  (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Act =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
export const refuse = (
  status: number,
  error: string,
  headers: Readonly<Record<string, string>> = {},
): Act => answer(status, { detail: { error, message: 'As the test wants it.' } }, headers);

export interface FlakyServer {
  readonly url: string;
  readonly seen: Seen[];
  /** What is done to the next requests, in turn; the last again to every further one. */
  script(...acts: Act[]): void;
  stop(): Promise<void>;
}

export async function startFlakyServer(): Promise<FlakyServer> {
  const seen: Seen[] = [];
  let acts: Act[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      const { method = '', url: target = '', headers } = request;
      seen.push({ method, target, headers, body });
      const act = acts.length > 1 ? acts.shift() : acts[0];
      act?.(response, { method, target, headers, body });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    seen,
    script: (...next) => {
      seen.length = 0;
      acts = next;
    },
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
