/**
 * Reads attestations of burns from the attester over HTTP. An attestation counts only if it matches
 * the burn's own message (message.ts) and the destination's contract accepts the signatures.
 *
 * Source: the reference of Circle's API, `GET /v2/messages/{sourceDomainId}?transactionHash=` and
 * `POST /v2/reattest/{nonce}`: returns 404 while the transaction is unknown, `attestation` is
 * "PENDING" until the message is `complete`, and above 35 requests a second it returns 429 for five
 * minutes.
 */
import { isHex, type Hash, type Hex } from 'viem';
import { Agent } from 'undici';
import { z } from 'zod';
import { ExecutorFault, type CallOptions } from '../../domain/executor.ts';
import { callOnce, CallError, type OutgoingAnswer } from '../../platform/outgoing/call.ts';

/** A burn's message with the attester's signatures. */
export interface Attested {
  readonly message: Hex;
  readonly attestation: Hex;
}

export interface Attester {
  /**
   * Returns the signed messages of a transaction; empty means "not yet". Throws retryable faults.
   */
  messagesOf(
    venue: AttesterVenue,
    transaction: Hash,
    call: CallOptions,
  ): Promise<readonly Attested[]>;
  /** Requests a new attestation of a message whose attestation has expired. */
  reattest(venue: AttesterVenue, nonce: Hex, call: CallOptions): Promise<void>;
  close(): Promise<void>;
}

export interface AttesterVenue {
  readonly domain: number;
  readonly attester_url: string;
}

/** Seconds between two requests about one transaction. */
export const ASK_EVERY_SECONDS = 5;
/** Seconds without requests after the attester returned 429. */
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
// The attester returns an empty attestation while there is none.
const signedSchema = z.object({
  message: hex,
  attestation: hex.refine((text) => text !== '0x', 'empty'),
});

/**
 * Returns the attester's client; `now` is in milliseconds. After a 429 the client sends nothing for
 * a while.
 */
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
      limits: call,
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
      if (!parsed.success) throw odd('the attester returned no list of messages');
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
          `the attester answered ${String(answer.status)} to a request for a new attestation`,
        );
    },
    close: () => dispatcher.close(),
  };
}

function limited(seconds: number): ExecutorFault {
  return new ExecutorFault('server_error', 'ATTESTER_LIMITS', 'the attester rate-limits us', {
    retryAfterSeconds: Math.ceil(seconds),
  });
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
