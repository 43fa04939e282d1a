/**
 * A remote executor that answers at once: what is measured is the protocol and the regular
 * activities.
 */
import { createServer, type ServerResponse } from 'node:http';
import { once } from 'node:events';
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
    const phase = request.url?.split('/').at(-1) ?? '';
    request.resume().once('end', () => answer(response, phase));
  });
  server.listen(remotePort, '127.0.0.1');
  await once(server, 'listening');
  return async () => {
    server.closeAllConnections();
    server.close();
  };
});

function answer(response: ServerResponse, phase: string): void {
  const body = ANSWERS[phase];
  if (body === undefined) response.writeHead(404).end();
  else if (body === null) response.writeHead(204).end();
  else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
