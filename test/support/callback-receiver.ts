/** The example receiver, listening, with faults in front of it. */
import { once } from 'node:events';
import { createServer, ServerResponse, type IncomingHttpHeaders } from 'node:http';
import { createReceiver, type Receiver } from '../../examples/callback-receiver/receiver.ts';

export const CALLBACK_SECRET = 'a secret that only tests use';

export interface Attempt {
  readonly headers: IncomingHttpHeaders;
  readonly event_id: string;
}

/**
 * What becomes of an attempt: it is taken (null), answered with a status untaken, left without an
 * answer, or taken and its answer lost.
 */
export type Fault = (
  attempt: Attempt,
  index: number,
) => number | 'no answer' | 'lost answer' | null;

export interface FaultyReceiver {
  readonly receiver: Receiver;
  readonly url: string;
  /** Every request, whatever was answered. */
  readonly attempts: Attempt[];
  /** The largest number of requests that were open at once. */
  readonly most: { open: number };
  fault: Fault;
  /** How long each answer is held back. */
  delayMs: number;
  close(): void;
}

/** Listens on a port of this machine, a free one when left out. */
export async function startReceiver(port = 0): Promise<FaultyReceiver> {
  const receiver = createReceiver(CALLBACK_SECRET);
  let open = 0;
  const front = createServer((request, response) => {
    const attempt = {
      headers: request.headers,
      event_id: String(request.headers['x-svc-event-id']),
    };
    const verdict = state.fault(attempt, state.attempts.length);
    state.attempts.push(attempt);
    open += 1;
    state.most.open = Math.max(state.most.open, open);
    response.on('close', () => (open -= 1));
    setTimeout(() => {
      if (verdict === 'no answer') return;
      if (verdict === 'lost answer')
        receiver.server.emit('request', request, new ServerResponse(request));
      else if (verdict === null) receiver.server.emit('request', request, response);
      else response.writeHead(verdict).end();
    }, state.delayMs);
  });
  front.listen(port, '127.0.0.1');
  await once(front, 'listening');
  const address = front.address();
  const state: FaultyReceiver = {
    receiver,
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/callbacks`,
    attempts: [],
    most: { open: 0 },
    fault: () => null,
    delayMs: 0,
    close: () => {
      front.closeAllConnections();
      front.close();
    },
  };
  return state;
}
