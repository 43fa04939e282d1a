/** Stands between a client and the service, and does not pass everything on as it was. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface BadProxy {
  readonly url: string;
  close(): Promise<void>;
}

/** What becomes of an answer: another text, or none at all. */
export type Meddling = (request: { method: string; path: string }, text: string) => string | null;

/** A proxy of `target`; the service behind it gets every request. */
export async function startBadProxy(target: string, meddle: Meddling): Promise<BadProxy> {
  const server: Server = createServer((request, response) => {
    void (async () => {
      const body: Buffer[] = [];
      for await (const chunk of request) body.push(chunk as Buffer);
      const { method = 'GET', url: path = '/', headers } = request;
      const { host: _host, connection: _connection, ...passed } = headers;
      const answer = await fetch(target + path, {
        method,
        headers: passed as Record<string, string>,
        ...(body.length === 0 ? {} : { body: Buffer.concat(body) }),
      });
      const text = meddle({ method, path }, await answer.text());
      if (text === null) return response.destroy();
      const type = answer.headers.get('content-type') ?? 'application/json';
      return response.writeHead(answer.status, { 'content-type': type }).end(text);
    })().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${String(port)}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
