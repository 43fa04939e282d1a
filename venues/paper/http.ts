/** Makes one HTTP call to the paper venue, on a new connection and never repeated. */
import { Agent, request, type Dispatcher } from 'undici';
import { ExecutorFault, type CallOptions } from '../../domain/executor.ts';
import { deadline } from '../../platform/deadline.ts';
import { writtenInTime } from '../../platform/outgoing/in-time.ts';

const BODY_LIMIT_BYTES = 256 * 1024;

export interface VenueAnswer {
  readonly status: number;
  readonly body: unknown;
}

/**
 * Calls the venue. Throws ExecutorFault for an answer outside 2xx and 4xx, an incomplete answer, or
 * none.
 */
export type AskVenue = (
  path: string,
  options: { readonly body?: object; readonly call: CallOptions },
) => Promise<VenueAnswer>;

/**
 * Returns a client of the venue at `base`. The client keeps no connection, since a kept one could
 * close just as a request is sent.
 */
export function createAsk(base: string, timeoutSeconds: number): AskVenue {
  const agent = new Agent({ pipelining: 0, connect: { timeout: timeoutSeconds * 1000 } });
  return async (path, { body, call }) => {
    const limit = deadline(call, timeoutSeconds * 1000);
    const { signal } = limit;
    const dispatcher = writtenInTime(agent, limit);
    const sent = send({ dispatcher, url: `${base}${path}`, body, call, signal }).finally(
      limit.clear,
    );
    const answer = await sent.catch((error: unknown) => {
      if (error instanceof ExecutorFault) throw error;
      if (!signal.aborted)
        throw new ExecutorFault('unreachable', 'PROVIDER_UNREACHABLE', 'no complete answer', {
          cause: error,
        });
      const why = limit.expired()
        ? `no answer within ${timeoutSeconds} s`
        : 'the call was aborted before an answer came';
      throw new ExecutorFault('timeout', 'PROVIDER_TIMEOUT', why, { cause: error });
    });
    if (answer.status >= 500)
      throw new ExecutorFault(
        'server_error',
        'PROVIDER_UNAVAILABLE',
        `the venue answered ${answer.status}`,
      );
    if (answer.status < 200 || (answer.status >= 300 && answer.status < 400))
      throw unreadable(`the venue answered ${answer.status}`);
    return { status: answer.status, body: readJson(answer.text) };
  };
}

/** Returns the fault for an unreadable answer. */
export function unreadable(message: string, cause?: unknown): ExecutorFault {
  return new ExecutorFault('protocol', 'PROVIDER_PROTOCOL_ERROR', message, { cause });
}

async function send(options: {
  readonly dispatcher: Dispatcher;
  readonly url: string;
  readonly body: object | undefined;
  readonly call: CallOptions;
  readonly signal: AbortSignal;
}): Promise<{ readonly status: number; readonly text: string }> {
  const { dispatcher, url, body, call, signal } = options;
  const response = await request(url, {
    dispatcher,
    signal,
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...call.traceHeaders,
      ...(call.requestId === undefined ? {} : { 'x-request-id': call.requestId }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: body === undefined ? null : JSON.stringify(body),
    // No timeouts here: only the signal ends the call.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response.body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_LIMIT_BYTES)
      throw unreadable(`the answer is longer than ${BODY_LIMIT_BYTES} bytes`);
    chunks.push(chunk);
  }
  return { status: response.statusCode, text: Buffer.concat(chunks).toString('utf8') };
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw unreadable('the answer is not JSON', error);
  }
}
