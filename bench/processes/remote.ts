/**
 * A remote executor that answers at once: what is measured is the protocol and the regular
 * activities. Under the path of the slow one each answer takes {@link UNHURRIED_MS}.
 */
import { createServer, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { UNHURRIED_MS, UNHURRIED_PATH } from '../executors.ts';
import { runPart } from './part.ts';

/** By the last part of the path; null is "no objection". */
const ANSWERS: Readonly<Record<string, object | null>> = {
  preflight: null,
  prepare: { next_state: 'SUBMITTING', prepared_action: {} },
  submit: { next_state: 'SUBMITTED', external_ref: 'bench' },
  observe: { next_state: 'COMPLETED', output: {} },
  recover: { next_state: 'READY' },
  cancel: { next_state: 'OBSERVING' },
  health: { state: 'up' },
};

runPart(async ({ remotePort }) => {
  const server = createServer((request, response) => {
    const { url = '' } = request;
    const phase = url.split('/').at(-1) ?? '';
    const takes = url.startsWith(UNHURRIED_PATH) && phase !== 'health' ? UNHURRIED_MS : 0;
    request.resume().once('end', () => void later(takes).then(() => answer(response, phase)));
  });
  server.listen(remotePort, '127.0.0.1');
  await once(server, 'listening');
  return async () => {
    server.closeAllConnections();
    server.close();
  };
});

async function later(ms: number): Promise<void> {
  if (ms > 0) await sleep(ms);
}

function answer(response: ServerResponse, phase: string): void {
  const body = ANSWERS[phase];
  if (body === undefined) response.writeHead(404).end();
  else if (body === null) response.writeHead(204).end();
  else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
