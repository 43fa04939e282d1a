/**
 * Whoever signs for burns, over HTTP. What it says is believed only as far as the burn's own
 * message goes (message.ts) and the destination's contract checks its signatures.
 *
 * Source: the reference of Circle's API, `GET /v2/messages/{sourceDomainId}?transactionHash=` and
 * `POST /v2/reattest/{nonce}`: 404 while nothing is known of a transaction, `attestation` is
 * "PENDING" before it is `complete`, and more than 35 requests a second are answered 429 for five
 * minutes.
 */
import { isHex, type Hash, type Hex } from 'viem';
import { Agent } from 'undici';
import { z } from 'zod';
import { ExecutorFault, type CallOptions } from '../../domain/executor.ts';
import { callOnce, CallError, type OutgoingAnswer } from '../../platform/outgoing/call.ts';

/** A message with its signatures. */
export interface Attested {
  readonly message: Hex;
  readonly attestation: Hex;
}

export interface Attester {
  /**
   * The messages of a transaction that are signed; empty is "not yet". Throws retryable faults.
   */
  messagesOf(
    venue: AttesterVenue,
    transaction: Hash,
    call: CallOptions,
  ): Promise<readonly Attested[]>;
  /** Asks for another attestation of a message whose own has expired. */
  reattest(venue: AttesterVenue, nonce: Hex, call: CallOptions): Promise<void>;
  close(): Promise<void>;
}

export interface AttesterVenue {
  readonly domain: number;
  readonly attester_url: string;
}

/** Between two questions about one transaction, in seconds. */
export const ASK_EVERY_SECONDS = 5;
/** How long an attester that says "too many" is left alone. */
export const BACK_OFF_SECONDS = 300;
const TIMEOUT_MS = 10_000;
const LIMIT_BYTES = 1_048_576;

const hex = z.string().refine((text): text is Hex => isHex(text) && text.length % 2 === 0, 'hex');
const messagesSchema = z.object({
  messages: z.array(
    z.object({
      status: z.string(),
      message: z.string().nullish(),
      attestation: z.string().nullish(),
    }),
  ),
});
// An empty attestation is none: it is not there yet.
const signedSchema = z.object({
  message: hex,
  attestation: hex.refine((text) => text !== '0x', 'empty'),
});

/** `now` in milliseconds; an attester that asks to be left alone is, by this process. */
export function createAttester(now: () => number = Date.now): Attester {
  const dispatcher = new Agent({ pipelining: 0 });
  const quietUntil = new Map<string, number>();
  const ask = async (
    method: 'GET' | 'POST',
    { attester_url }: AttesterVenue,
    path: string,
    call: CallOptions,
  ): Promise<OutgoingAnswer> => {
    const left = (quietUntil.get(attester_url) ?? 0) - now();
    if (left > 0) throw limited(left / 1_000);
    const answer = await callOnce({
      method,
      url: `${attester_url.replace(/\/+$/, '')}${path}`,
      headers: { ...call.traceHeaders },
      timeoutMs: TIMEOUT_MS,
      limitBytes: LIMIT_BYTES,
      dispatcher,
      signal: call.signal,
    }).catch((error: unknown) => {
      if (!(error instanceof CallError)) throw error;
      const kind =
        error.problem === 'timeout' || error.problem === 'aborted' ? 'timeout' : 'unreachable';
      throw new ExecutorFault(kind, 'ATTESTER_UNREACHABLE', `the attester: ${error.message}`, {
        cause: error,
      });
    });
    if (answer.status === 429) {
      quietUntil.set(attester_url, now() + BACK_OFF_SECONDS * 1_000);
      throw limited(BACK_OFF_SECONDS);
    }
    return answer;
  };
  return {
    async messagesOf(venue, transaction, call) {
      const path = `/v2/messages/${String(venue.domain)}?transactionHash=${transaction}`;
      const answer = await ask('GET', venue, path, call);
      if (answer.status === 404) return [];
      if (answer.status !== 200) throw odd(`the attester answered ${String(answer.status)}`);
      const parsed = messagesSchema.safeParse(readJson(answer.body));
      if (!parsed.success) throw odd('the attester answered something else than messages');
      return parsed.data.messages
        .filter(({ status }) => status === 'complete')
        .flatMap((each) => {
          const signed = signedSchema.safeParse(each);
          return signed.success ? [signed.data] : [];
        });
    },
    async reattest(venue, nonce, call) {
      const answer = await ask('POST', venue, `/v2/reattest/${nonce}`, call);
      if (answer.status >= 400)
        throw odd(
          `the attester answered ${String(answer.status)} when it was asked to attest anew`,
        );
    },
    close: () => dispatcher.close(),
  };
}

function limited(seconds: number): ExecutorFault {
  return new ExecutorFault(
    'server_error',
    'ATTESTER_LIMITS',
    'the attester asks to be left alone',
    {
      retryAfterSeconds: Math.ceil(seconds),
    },
  );
}

function odd(message: string): ExecutorFault {
  return new ExecutorFault('server_error', 'ATTESTER_UNAVAILABLE', message, {
    retryAfterSeconds: ASK_EVERY_SECONDS,
  });
}

function readJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch {
    return null;
  }
}
