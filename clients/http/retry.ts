/** When a request is sent again. */
import { ApiError, UnreachableError } from './errors.ts';

export interface RetryPolicy {
  /** How often at most a request is sent again. */
  readonly retries: number;
  /** No try begins later than so long after the first. */
  readonly retryForMs: number;
}

export interface RetryNotice {
  readonly operation: string;
  /** Which try failed, from 1. */
  readonly attempt: number;
  readonly waitMs: number;
  readonly error: ApiError | UnreachableError;
}

const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 10_000;
/** A timer of more fires at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Codes by which the service says that it accepted nothing. */
const NOTHING_ACCEPTED: readonly (string | null)[] = [
  'rate_limited',
  'overloaded',
  'dependency_unavailable',
  'request_timeout',
];

/**
 * Whether the same request may be sent again. `harmless` are those whose repeat does nothing twice:
 * reads, and what carries an idempotency key.
 */
export function mayRepeat(error: unknown, harmless: boolean): error is ApiError | UnreachableError {
  if (error instanceof UnreachableError) return harmless || !error.maybeTaken;
  if (!(error instanceof ApiError)) return false;
  if (error.status === 429 || NOTHING_ACCEPTED.includes(error.rawCode)) return true;
  return harmless && isLostAnswer(error);
}

/** Whether a write that was answered so may have been carried out all the same. */
export function leavesDoubt(error: ApiError | UnreachableError): boolean {
  if (error instanceof UnreachableError) return error.maybeTaken;
  return error.rawCode === 'internal_error' || isLostAnswer(error) || isStrange(error);
}

/** A success that cannot be read, or a fault that is not of the service's own words. */
function isStrange({ rawCode, status }: ApiError): boolean {
  return rawCode === null && (status >= 500 || (status >= 200 && status <= 299));
}

/** Whether an answer says nothing of what became of the tries before it. */
export function keepsDoubt(error: ApiError | UnreachableError): boolean {
  if (leavesOpen(error) || leavesDoubt(error)) return true;
  // Refused before the request was looked at, or by something that is not the service.
  return error instanceof ApiError && (error.rawCode === null || [401, 403].includes(error.status));
}

/** Whether the answer leaves open what became of the request. */
export function leavesOpen(error: ApiError | UnreachableError): boolean {
  return error instanceof UnreachableError || error.status >= 500 || mayRepeat(error, false);
}

/** A proxy's word without the service's is a lost answer. */
function isLostAnswer({ rawCode, status }: ApiError): boolean {
  return rawCode === 'outcome_unknown' || (rawCode === null && [502, 503, 504].includes(status));
}

/** Milliseconds before try `attempt` + 1: doubling, jittered, never less than `Retry-After`. */
export function waitBefore(error: ApiError | UnreachableError, attempt: number): number {
  const ceiling = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1));
  const wait = ceiling * (0.5 + random() / 2);
  const required = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
  // Callers with the same `Retry-After` do not all come in the same millisecond.
  return Math.round(required === 0 ? wait : required + random() * FIRST_WAIT_MS);
}

/** Resolves after so long, or rejects with the signal's reason. */
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

/** What others wait for too, unless this caller stops waiting. */
export function unlessAborted<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** From 0 to under 1. */
export function random(): number {
  const [bits = 0] = globalThis.crypto.getRandomValues(new Uint32Array(1));
  return bits / 2 ** 32;
}
