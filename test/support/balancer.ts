/**
 * Spreads requests over the processes of an API that are ready: haproxy where it is installed, with
 * the settings that are shipped, and otherwise the least that follows readiness.
 */
import { mkdtempSync } from 'node:fs';
import { Agent, createServer, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { find } from '../../dev/image/packages.ts';
import { freePort } from '../../dev/stack/ports.ts';
import { proxyPart, type Behind } from '../../dev/topology/proxy.ts';
import { eventually } from './eventually.ts';
import { startPart } from './part.ts';

/** Between two looks at the readiness of a process; two that fail take it out, one puts it back. */
const LOOK_MS = 500;
/** Longer than a balancer takes to notice that a process is not ready. */
export const NOTICED_SECONDS = 3;

export interface Balancer {
  readonly kind: 'haproxy' | 'own';
  readonly url: string;
  close(): Promise<void>;
}

/** Opens one in front of these; it is known to reach the first process that is ready. */
export async function openBalancer(behind: readonly Behind[]): Promise<Balancer> {
  const port = await freePort(behind.flatMap(({ apiPort, opsPort }) => [apiPort, opsPort]));
  const url = `http://127.0.0.1:${String(port)}`;
  const hasHaproxy = find('haproxy') !== null;
  const close = await (hasHaproxy ? startHaproxy(port, behind) : startOwn(port, behind));
  await eventually(async () => ((await fetch(`${url}/healthz`)).status === 200 ? true : null), {
    what: () => 'the balancer to reach a process',
  });
  return { kind: hasHaproxy ? 'haproxy' : 'own', url, close };
}

async function startHaproxy(port: number, behind: readonly Behind[]): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'haproxy-'));
  return startPart(proxyPart({ folder, logDir: folder, port, behind }), folder);
}

async function startOwn(port: number, behind: readonly Behind[]): Promise<() => Promise<void>> {
  const misses = new Map(behind.map((each) => [each, 2]));
  let open = true;
  const looking = Promise.all(
    behind.map(async (each) => {
      while (open) {
        misses.set(each, (await isReady(each)) ? 0 : (misses.get(each) ?? 0) + 1);
        await sleep(LOOK_MS);
      }
    }),
  );
  const agent = new Agent({ keepAlive: true });
  let turn = 0;
  const server = createServer((request, response) => {
    const ready = behind.filter((each) => (misses.get(each) ?? 0) < 2);
    turn += 1;
    const chosen = ready[turn % Math.max(1, ready.length)];
    if (chosen === undefined) {
      response.writeHead(503).end();
      return;
    }
    const { method, url: path, headers } = request;
    const passed = httpRequest(
      { host: '127.0.0.1', port: chosen.apiPort, agent, method, path, headers },
      (answer) => {
        // Of the connection behind, which is not the caller's.
        const { connection: _connection, 'keep-alive': _kept, ...rest } = answer.headers;
        response.writeHead(answer.statusCode ?? 502, rest);
        answer.pipe(response);
      },
    );
    passed.once('error', () =>
      response.headersSent ? response.destroy() : response.writeHead(502).end(),
    );
    request.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return async () => {
    open = false;
    server.close();
    server.closeAllConnections();
    agent.destroy();
    await looking;
  };
}

async function isReady({ opsPort }: Behind): Promise<boolean> {
  try {
    const url = `http://127.0.0.1:${String(opsPort)}/readyz`;
    return (await fetch(url, { signal: AbortSignal.timeout(2_000) })).status === 200;
  } catch {
    return false;
  }
}
