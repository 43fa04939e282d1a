/** Stands between the service and an executor over HTTP, and keeps what passed. */
import { once } from 'node:events';
import { createServer } from 'node:http';

export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly request: unknown;
  readonly status: number;
  readonly answer: unknown;
}

export interface RecordingProxy {
  readonly url: string;
  readonly exchanges: Exchange[];
  /** Of these phases the next answer is lost, after the executor has sent it. */
  readonly losing: Set<string>;
  close(): Promise<void>;
}

/** Passes everything on to the executor at `to()`, bytes as they are. */
export async function startRecordingProxy(to: () => string): Promise<RecordingProxy> {
  const exchanges: Exchange[] = [];
  const losing = new Set<string>();
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const [body, path] = [Buffer.concat(chunks), request.url ?? ''];
      const { method = '' } = request;
      const answer = await fetch(`${to()}${path}`, {
        method,
        ...(method === 'GET' ? {} : { body, headers: { 'content-type': 'application/json' } }),
      });
      const text = await answer.text();
      exchanges.push({
        method,
        path,
        headers: request.headers,
        request: parsed(body.toString('utf8')),
        status: answer.status,
        answer: parsed(text),
      });
      if (losing.delete(path)) return void request.socket.destroy();
      response.writeHead(answer.status, { 'content-type': 'application/json' });
      response.end(answer.status === 204 ? undefined : text);
    })().catch(() => request.socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    exchanges,
    losing,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function parsed(text: string): unknown {
  return text === '' ? null : (JSON.parse(text) as unknown);
}
