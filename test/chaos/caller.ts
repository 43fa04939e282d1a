/** HTTP as a careful caller does it: every call is repeated until its outcome is known. */
import { setTimeout as sleep } from 'node:timers/promises';
import { signedFetch } from '../support/signed-fetch.ts';
import type { SigningKey } from '../../dev/stack/keys.ts';

const ANSWER_LIMIT_MS = 15_000;
/**
 * Statuses that say nothing about whether the request was accepted, or that it may simply be sent
 * again.
 */
const REPEATED = [500, 502, 503, 504];

export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Headers;
  /** Tries before this one of which it is not known whether they were accepted. */
  readonly doubts: number;
}

export interface Call {
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Caller {
  /** Sends until there is a definite answer. Rejects only when the run ends first. */
  call(method: string, path: string, call?: Call): Promise<Answer>;
  /** Repeats so far by what made them necessary. */
  readonly repeats: ReadonlyMap<string, number>;
  /** Answers that a service under faults must not give (500). */
  readonly complaints: readonly string[];
}

/** A caller of the API under `base`, who signs each try anew. */
export function createCaller(base: string, key: SigningKey, signal: AbortSignal): Caller {
  const repeats = new Map<string, number>();
  const complaints: string[] = [];
  const repeat = async (why: string, tries: number): Promise<void> => {
    repeats.set(why, (repeats.get(why) ?? 0) + 1);
    await sleep(Math.min(1_000, 100 * 2 ** tries), undefined, { signal });
  };
  return {
    repeats,
    complaints,
    call: async (method, path, { body, headers = {} } = {}) => {
      const init = {
        method,
        headers: {
          ...headers,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      };
      for (let tries = 0, doubts = 0; ; tries += 1) {
        signal.throwIfAborted();
        try {
          const response = await signedFetch(key, base + path, {
            ...init,
            signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_LIMIT_MS)]),
          });
          const answer = (await response.json()) as Readonly<Record<string, unknown>>;
          if (!REPEATED.includes(response.status))
            return { status: response.status, body: answer, headers: response.headers, doubts };
          const code = errorCode(answer);
          if (response.status === 500)
            complaints.push(`${method} ${path} answered 500 ${JSON.stringify(answer)}`);
          // These two say that nothing was accepted.
          if (code !== 'dependency_unavailable' && code !== 'overloaded') doubts += 1;
          await repeat(code ?? String(response.status), tries);
        } catch (error) {
          signal.throwIfAborted();
          const refused = causeCode(error) === 'ECONNREFUSED';
          if (!refused) doubts += 1;
          await repeat(refused ? 'refused connection' : 'lost connection', tries);
        }
      }
    },
  };
}

/** The error code of a refusal's body. */
export function errorCode(body: Readonly<Record<string, unknown>>): string | undefined {
  const { detail } = body;
  const code: unknown =
    typeof detail === 'object' && detail !== null ? Reflect.get(detail, 'error') : undefined;
  return typeof code === 'string' ? code : undefined;
}

function causeCode(error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  const code: unknown =
    typeof cause === 'object' && cause !== null ? Reflect.get(cause, 'code') : undefined;
  return typeof code === 'string' ? code : undefined;
}
