/** Converts an HTTP status of a remote executor to a fault. */
import { ExecutorFault } from '../domain/executor.ts';
import { isObject } from '../domain/json.ts';
import { CALL_TOO_LATE } from './protocol.ts';
import type { RemoteAnswer } from './remote-call.ts';

const RETRY_AFTER_LIMIT_SECONDS = 3_600;
const DETAIL_LIMIT = 300;

/**
 * Returns the fault for an answer outside 2xx: 429 and 5xx may be repeated, 408 is a time-out,
 * other 4xx are refusals.
 */
export function statusFault(answer: RemoteAnswer): ExecutorFault {
  const { status } = answer;
  const retryAfterSeconds = retryAfter(answer.headers['retry-after'], Date.now());
  const retry = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  const message = `the executor answered ${status}${detailOf(answer.body)}`;
  if (status === 408) return new ExecutorFault('timeout', 'EXECUTOR_TIMEOUT', message, retry);
  if (status === 429)
    return new ExecutorFault('server_error', 'EXECUTOR_RATE_LIMITED', message, retry);
  if (status >= 500)
    return new ExecutorFault('server_error', unavailableCode(answer.body), message, retry);
  if (status >= 400) return new ExecutorFault('rejected', 'EXECUTOR_REJECTED', message);
  return new ExecutorFault(
    'protocol',
    'EXECUTOR_PROTOCOL_ERROR',
    `the executor answered ${status}, which the protocol does not define`,
  );
}

/** Returns the code of a 5xx: that of a late call by name, since clocks may differ then. */
function unavailableCode(body: Buffer): string {
  const value = parse(body);
  return isObject(value) && value['error_code'] === CALL_TOO_LATE
    ? CALL_TOO_LATE
    : 'EXECUTOR_UNAVAILABLE';
}

/**
 * Returns the seconds of a Retry-After header (a number or a date), with an upper limit; undefined
 * when the header is missing or unusable.
 */
export function retryAfter(header: string | string[] | undefined, now: number): number | undefined {
  const value = Array.isArray(header) ? header[0] : header;
  if (value === undefined || value.trim() === '') return undefined;
  const seconds = /^\s*\d+(\.\d+)?\s*$/.test(value)
    ? Number(value)
    : (Date.parse(value) - now) / 1000;
  return Number.isFinite(seconds)
    ? Math.min(Math.max(seconds, 0), RETRY_AFTER_LIMIT_SECONDS)
    : undefined;
}

/**
 * Returns the executor's own message from a JSON body, shortened and without control characters and
 * angle brackets; empty when there is none.
 */
function detailOf(body: Buffer): string {
  const words = ownWords(parse(body));
  if (words === undefined) return '';
  const clean = words
    .replace(/[\p{Cc}\p{Surrogate}<>]+/gu, ' ')
    .replace(/\s+/gu, ' ')
    .trim();
  if (clean === '') return '';
  return clean.length > DETAIL_LIMIT ? `: ${clean.slice(0, DETAIL_LIMIT)}…` : `: ${clean}`;
}

function ownWords(body: unknown): string | undefined {
  if (typeof body === 'string') return body;
  if (typeof body !== 'object' || body === null) return undefined;
  for (const key of ['error_message', 'detail', 'message', 'error'] as const) {
    const field: unknown = Object.getOwnPropertyDescriptor(body, key)?.value;
    if (field === undefined || field === null) continue;
    const words = ownWords(field);
    if (words !== undefined) return words;
  }
  return undefined;
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
