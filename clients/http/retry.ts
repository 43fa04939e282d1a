/** Decides when a request is sent again. */
import { ApiError, UnreachableError } from './errors.ts';

export interface RetryPolicy {
  /** Maximum number of retries of a request. */
  readonly retries: number;
  /** No try starts later than this time after the first try. */
  readonly retryForMs: number;
}

export interface RetryNotice {
  readonly operation: string;
  /** Number of the failed try, from 1. */
  readonly attempt: number;
  readonly waitMs: number;
  readonly error: ApiError | UnreachableError;
}

const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 10_000;
/** Maximum of `setTimeout`; a longer timer fires immediately. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Error codes which mean that the service did not accept the request. */
const NOTHING_ACCEPTED: readonly (string | null)[] = [
  'rate_limited',
  'overloaded',
  'dependency_unavailable',
  'request_timeout',
];

/**
 * Returns whether the same request may be sent again. `harmless`: a repeat has no second effect, as
 * for reads and for requests with an idempotency key.
 */
export function mayRepeat(error: unknown, harmless: boolean): error is ApiError | UnreachableError {
  if (error instanceof UnreachableError) return harmless || !error.maybeTaken;
  if (!(error instanceof ApiError)) return false;
  if (error.status === 429 || NOTHING_ACCEPTED.includes(error.rawCode)) return true;
  return harmless && isLostAnswer(error);
}

/** Returns whether a write that failed with this error may still have been carried out. */
export function leavesDoubt(error: ApiError | UnreachableError): boolean {
  if (error instanceof UnreachableError) return error.maybeTaken;
  return error.rawCode === 'internal_error' || isLostAnswer(error) || isStrange(error);
}

/** Returns true for a success that cannot be read, or a 5xx error without the service's code. */
function isStrange({ rawCode, status }: ApiError): boolean {
  return rawCode === null && (status >= 500 || (status >= 200 && status <= 299));
}

/** Returns whether this error leaves the results of earlier tries unknown. */
export function keepsDoubt(error: ApiError | UnreachableError): boolean {
  if (leavesOpen(error) || leavesDoubt(error)) return true;
  // The service refused before it processed the request, or another server answered.
  return error instanceof ApiError && (error.rawCode === null || [401, 403].includes(error.status));
}

/** Returns true for an error that is not final: no answer, a 5xx, or a request not accepted now. */
export function leavesOpen(error: ApiError | UnreachableError): boolean {
  return error instanceof UnreachableError || error.status >= 500 || mayRepeat(error, false);
}

/** Returns true when the service's answer is lost; a 502, 503 or 504 of a proxy means that too. */
function isLostAnswer({ rawCode, status }: ApiError): boolean {
  return rawCode === 'outcome_unknown' || (rawCode === null && [502, 503, 504].includes(status));
}

/** Returns the wait in ms before try `attempt` + 1: doubled, jittered, at least `Retry-After`. */
export function waitBefore(error: ApiError | UnreachableError, attempt: number): number {
  const ceiling = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1));
  const wait = ceiling * (0.5 + random() / 2);
  const required = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
  // Random extra time: callers with the same `Retry-After` must not all retry at the same moment.
  return Math.round(required === 0 ? wait : required + random() * FIRST_WAIT_MS);
}

/** Resolves after `ms` milliseconds, or rejects with the signal's reason. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason as Error);
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', stop);
        resolve();
      },
      Math.min(ms, LONGEST_TIMER_MS),
    );
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** Returns the result of shared work, or rejects when the signal aborts; the work continues. */
export function unlessAborted<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** Returns a random number from 0 (included) to 1 (excluded). */
export function random(): number {
  const [bits = 0] = globalThis.crypto.getRandomValues(new Uint32Array(1));
  return bits / 2 ** 32;
}
