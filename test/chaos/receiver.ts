/**
 * Where the movements' callbacks go: a receiver on loopback that notes every call and fails some.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Dice } from './random.ts';

/** One call as the receiver saw it. */
export interface Received {
  readonly event_id: string;
  readonly movement_id: string;
  readonly event_type: string;
  readonly sequence: number;
  /** What it answered; `lost` means that the connection was closed instead. */
  readonly answered: 200 | 500 | 'lost';
}

export interface Receiver {
  readonly url: string;
  readonly received: readonly Received[];
  /** From now on every call is answered 200. */
  calm(): void;
  /** From now on some calls fail again. */
  rage(): void;
  close(): Promise<void>;
}

/** Listens on a free port of 127.0.0.1. */
export async function startReceiver(dice: Dice): Promise<Receiver> {
  const received: Received[] = [];
  let stormy = true;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const answered = !stormy
        ? 200
        : dice.pick([200, 500, 'lost'] as const, (each) => ({ 200: 8, 500: 1, lost: 1 })[each]);
      received.push({ ...readCall(Buffer.concat(chunks).toString('utf8')), answered });
      if (answered === 'lost') request.socket.destroy();
      else response.writeHead(answered).end();
    });
    request.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the receiver has no port');
  return {
    url: `http://127.0.0.1:${address.port}/callbacks`,
    received,
    calm: () => {
      stormy = false;
    },
    rage: () => {
      stormy = true;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function readCall(text: string): Omit<Received, 'answered'> {
  const body = JSON.parse(text) as Readonly<Record<string, unknown>>;
  const field = (name: string): string => String(body[name]);
  return {
    event_id: field('event_id'),
    movement_id: field('movement_id'),
    event_type: field('event_type'),
    sequence: Number(body['sequence']),
  };
}
