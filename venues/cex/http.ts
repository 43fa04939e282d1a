/** Sends requests to exchanges. Only this file opens connections to them. */
import { Agent, request } from 'undici';
import type { Deadline } from '../../platform/deadline.ts';
import { writtenInTime } from '../../platform/outgoing/in-time.ts';

export interface HttpRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Ends the request at any time, also while its answer arrives; checked before its first byte. */
  readonly limit: Pick<Deadline, 'signal' | 'check'>;
}

export interface HttpAnswer {
  readonly status: number;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/**
 * Sends one request and returns its whole answer, whatever the status; follows no redirect and
 * repeats nothing. Throws the signal's reason once it aborts, and the transport's error without an
 * answer: then the exchange may have got the request.
 */
export type SendHttp = (sent: HttpRequest) => Promise<HttpAnswer>;

const LARGEST_ANSWER_BYTES = 64 * 1024 * 1024;
const agentOptions = { connect: { timeout: 10_000 }, maxResponseSize: LARGEST_ANSWER_BYTES };
const kept = new Agent({ ...agentOptions, keepAliveTimeout: 4_000 });
// Writes use a new connection each: a kept connection may close just as the request is sent, and
// the outcome would be unknown.
const fresh = new Agent({ ...agentOptions, pipelining: 0 });

/** As {@link SendHttp}, over the network. */
export const sendHttp: SendHttp = async ({ url, method, headers, body, limit }) => {
  const answer = await request(url, {
    method: method as 'GET',
    headers,
    ...(body === undefined ? {} : { body }),
    signal: limit.signal,
    dispatcher: writtenInTime(method === 'GET' ? kept : fresh, limit),
  });
  return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
};
