/** A real HTTP server that answers as a test says and records its requests. */
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { ExecutionContext } from '../../domain/executor.ts';
import type { RemoteExecutorSettings } from '../../executors/remote.ts';

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface FakeServer {
  readonly url: string;
  readonly seen: SeenRequest[];
  answer: (request: IncomingMessage, response: ServerResponse, body: string) => void;
  close(): Promise<void>;
}

export async function startFakeServer(): Promise<FakeServer> {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      seen.push({
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        body,
      });
      fake.answer(request, response, body);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const fake: FakeServer = {
    url: `http://127.0.0.1:${port}`,
    seen,
    answer: (_request, response) => json(response, 200, {}),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return fake;
}

export function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

export function contextOf(changes: Partial<ExecutionContext> = {}): ExecutionContext {
  return {
    movement_id: '0190a1b2-0000-7000-8000-000000000001',
    node_key: 'withdraw',
    attempt: 1,
    idempotency_key: '0190a1b2-0000-7000-8000-000000000001:withdraw:1',
    action_type: 'cex_withdrawal',
    asset: 'USDC',
    amount: '100',
    config: {},
    input_params: {},
    intent: {},
    completion_assurance: 'provider_completed',
    ...changes,
  };
}

export function settingsOf(
  url: string,
  changes: Partial<RemoteExecutorSettings> = {},
): RemoteExecutorSettings {
  return {
    executor_key: 'team.withdrawals',
    kind: 'remote',
    url,
    timeout_seconds: 5,
    same_key_safe: true,
    settle_seconds: 0,
    action_types: ['cex_withdrawal'],
    sends: true,
    not_payees: [],
    completion_assurances: ['provider_completed'],
    ...changes,
  };
}
