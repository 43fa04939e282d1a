/** Sends a request, and sends it again after a failure when that is safe. */
import { bodyOf, errorOf, waitsOf, type Answer, type AnswerHeaders } from './answer.ts';
import { type Bytes, utf8 } from './bytes.ts';
import { ApiError, ClientUsageError, inDoubt, UnreachableError } from './errors.ts';
import { lost, tooLate } from './lost.ts';
import {
  keepsDoubt,
  leavesDoubt,
  mayRepeat,
  pause,
  waitBefore,
  type RetryNotice,
  type RetryPolicy,
} from './retry.ts';
import { SIGNED_HEADERS, type Signer } from './sign.ts';

/** The global `fetch`, or another function, as far as the client uses it. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchAnswer>;

interface FetchInit {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Bytes;
  readonly signal: AbortSignal;
  readonly credentials: 'omit' | 'same-origin';
  readonly redirect: 'manual';
  readonly cache: 'no-store';
}

interface FetchAnswer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  text(): Promise<string>;
}

export interface TransportOptions extends RetryPolicy {
  readonly origin: string;
  readonly sign: Signer;
  readonly fetch: Fetch;
  /** Time limit of one try, including the body of the answer. */
  readonly timeoutMs: number;
  /** Whether the browser sends this origin's cookies; default `omit`: the API takes no cookies. */
  readonly credentials?: 'omit' | 'same-origin';
  readonly onRetry?: ((notice: RetryNotice) => void) | undefined;
}

export interface Sent {
  readonly operation: string;
  readonly method: string;
  /** Path from the root and query, as they are sent. */
  readonly target: string;
  readonly body?: unknown;
  readonly headers: Readonly<Record<string, string>>;
  readonly signed: boolean;
  /** Whether the request changes data; false for a read and for a dry run. */
  readonly writes: boolean;
  /** Whether the request is safe to repeat: a repeat has no second effect. */
  readonly harmless: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** A successful answer. */
export interface Reply<Body = unknown> {
  readonly status: number;
  readonly body: Body;
  readonly headers: AnswerHeaders;
  /** Id of the request in the service's log; null when the answer has none. */
  readonly requestId: string | null;
  /** True when this is the answer of an earlier request with the same idempotency key. */
  readonly replayed: boolean;
  /** The unparsed body. */
  readonly text: string;
}

/** No redirects: a signature is valid for one path. No cache: an old answer is useless. */
const FOR_BROWSERS = { redirect: 'manual', cache: 'no-store' } as const;

export type Transport = (sent: Sent) => Promise<Reply>;

export function createTransport(options: TransportOptions): Transport {
  return async (sent) => {
    const bytes = bytesOf(sent.body);
    const startedAt = Date.now();
    // True once a try may have been carried out; a later refused connection does not change that.
    let doubt = false;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return replyOf(await once(options, sent, bytes));
      } catch (error) {
        if (!(error instanceof ApiError || error instanceof UnreachableError)) throw error;
        doubt ||= sent.writes && leavesDoubt(error);
        const waitMs = waitBefore(error, attempt);
        const late = Date.now() + waitMs - startedAt > options.retryForMs;
        if (attempt > options.retries || late || !mayRepeat(error, sent.harmless))
          throw doubt && keepsDoubt(error) ? inDoubt(error) : error;
        options.onRetry?.({ operation: sent.operation, attempt, waitMs, error });
        await pause(waitMs, sent.signal);
      }
    }
  };
}

async function once(options: TransportOptions, sent: Sent, bytes: Bytes | null): Promise<Answer> {
  const { origin, timeoutMs, sign, credentials = 'omit' } = options;
  const { method, target, signal } = sent;
  const url = new URL(origin + target);
  const signed = sent.signed ? await sign({ method, url, body: bytes ?? undefined }) : {};
  const headers = headersOf(sent, bytes, signed);
  const limit = AbortSignal.timeout(timeoutMs);
  const about = { address: origin, writes: sent.writes };
  try {
    signal?.throwIfAborted();
    const answer = await options.fetch(url.href, {
      ...FOR_BROWSERS,
      credentials,
      method,
      headers,
      ...(bytes === null ? {} : { body: bytes }),
      signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
    });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  } catch (error) {
    signal?.throwIfAborted();
    throw limit.aborted ? tooLate(timeoutMs, about) : lost(error, about);
  }
}

function replyOf(answer: Answer): Reply {
  const { status, headers, text } = answer;
  if (status < 200 || status > 299) throw errorOf(answer);
  // Not the result of the call: taken for the result, it would seem that the change was made.
  if (status === 202) throw waitsOf(answer);
  return {
    status,
    body: bodyOf(answer),
    headers,
    requestId: headers.get('x-request-id'),
    replayed: headers.get('idempotent-replayed') === 'true',
    text,
  };
}

/** What HTTP takes as a header's name, and as its value. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Returns the body bytes that are hashed and sent, the same for every try; null without a body. */
function bytesOf(body: unknown): Bytes | null {
  if (body === undefined) return null;
  const text: string | undefined = JSON.stringify(body);
  if (text === undefined) throw new ClientUsageError('The body cannot be written as JSON.');
  return utf8(text);
}

function headersOf(
  { headers }: Sent,
  bytes: Bytes | null,
  signed: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  // Not the class `Headers`: in Node it loads the whole of the global `fetch`.
  const all = new Map<string, string>();
  if (bytes !== null) all.set('content-type', 'application/json');
  for (const [name, value] of Object.entries(headers)) {
    if (SIGNED_HEADERS.test(name))
      throw new ClientUsageError(`Only the client may set the header ${name}: leave it out.`);
    if (!NAME.test(name) || !VALUE.test(value.trim()))
      throw new ClientUsageError('A header has a name or a value that cannot be sent.');
    all.set(name.toLowerCase(), value.trim());
  }
  for (const [name, value] of Object.entries(signed)) all.set(name.toLowerCase(), value);
  return Object.fromEntries(all);
}
