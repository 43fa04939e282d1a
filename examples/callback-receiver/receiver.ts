/**
 * What a receiver of callbacks has to do: verify over the bytes as they came, answer fast, take
 * each event once however often it is sent, and read a movement's events by their sequence rather
 * than by arrival.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';

/** What a callback says. */
export interface CallbackEvent {
  readonly event_id: string;
  readonly event_type: string;
  /** Null for one of a capital transfer, which has a `transfer_id`. */
  readonly movement_id: string | null;
  readonly request_state: string;
  readonly current_frontier: readonly string[];
  readonly node_key: string | null;
  readonly error_code: string | null;
  readonly sequence: number;
  readonly occurred_at: string;
}

export interface Receiver {
  readonly server: Server;
  /** The events of a movement in their own order. */
  eventsOf(movementId: string): readonly CallbackEvent[];
  /** Events as they arrived, each once. */
  readonly arrived: readonly CallbackEvent[];
  /**
   * Requests that were answered without taking them: forged ones and ones that were here before.
   */
  readonly refused: { forged: number; repeated: number };
}

const BODY_LIMIT = 65_536;

/**
 * A receiver that is not listening yet. The secret is as the service has it: plain text, or
 * `whsec_` and base64.
 */
export function createReceiver(secret: string): Receiver {
  const webhook = secret.startsWith('whsec_')
    ? new Webhook(secret)
    : new Webhook(Buffer.from(secret, 'utf8'), { format: 'raw' });
  const seen = new Set<string>();
  const arrived: CallbackEvent[] = [];
  const refused = { forged: 0, repeated: 0 };

  const receive = async (request: IncomingMessage): Promise<number> => {
    const body = await rawBody(request);
    if (body === null) return 413;
    const headers = plainHeaders(request);
    let event: CallbackEvent;
    try {
      // Also refuses a timestamp more than five minutes away, so an old capture cannot be sent
      // again.
      event = webhook.verify(body, headers) as CallbackEvent;
    } catch {
      refused.forged += 1;
      return 401;
    }
    const id = headers['webhook-id'] ?? '';
    if (seen.has(id)) {
      // It was taken the first time. Success is the right answer: anything else would have it sent
      // again.
      refused.repeated += 1;
      return 200;
    }
    seen.add(id);
    arrived.push(event);
    return 204;
  };

  const server = createServer((request, response) => {
    receive(request).then(
      (status) => answer(response, status),
      () => answer(response, 500),
    );
  });
  return {
    server,
    arrived,
    refused,
    eventsOf: (movementId) =>
      arrived
        .filter((each) => each.movement_id === movementId)
        .sort((a, b) => a.sequence - b.sequence),
  };
}

function answer(response: ServerResponse, status: number): void {
  response.writeHead(status).end();
}

/** The body as it was signed; parsing and writing it again would give other bytes. */
async function rawBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_LIMIT) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function plainHeaders(request: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(request.headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value]] : [],
    ),
  );
}
