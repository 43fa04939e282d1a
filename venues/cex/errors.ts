/**
 * How a call of an exchange goes wrong: refused with proof that nothing was done, or without any.
 */
import { z } from 'zod';
import { ExecutorFault, type ExecutionResult } from '../../domain/executor.ts';
import { issuesLine } from '../../platform/issues.ts';
import { storable } from '../../domain/text.ts';

/** Codes of the faults of this module, where the exchange gave no refusal of its own. */
export const CEX_FAULTS = {
  aborted: 'CEX_ABORTED',
  timeout: 'CEX_TIMEOUT',
  unreachable: 'CEX_UNREACHABLE',
  rateLimited: 'CEX_RATE_LIMITED',
  error: 'CEX_ERROR',
  protocol: 'CEX_PROTOCOL_ERROR',
} as const;

/** The exchange's own word that it did nothing and will do nothing of the request. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
}

/**
 * An answer that is no success. Holds neither the request nor the body: both may hold what nobody
 * should read in a log.
 */
export class ExchangeAnswerError extends Error {
  override readonly name = 'ExchangeAnswerError';
  readonly status: number;
  readonly refusal: Refusal | null;
  readonly retryAfterSeconds: number | undefined;
  constructor(answer: {
    status: number;
    message: string;
    refusal: Refusal | null;
    retryAfterSeconds?: number | undefined;
  }) {
    super(answer.message);
    this.status = answer.status;
    this.refusal = answer.refusal;
    this.retryAfterSeconds = answer.retryAfterSeconds;
  }
}

const LONGEST = 200;

/**
 * An exchange's own words without addresses of the web, long secrets-like runs, control characters
 * and length.
 */
export function plainWords(text: string): string {
  const plain = text.replace(/[a-z]+:\/\/\S+/gi, '[url]').replace(/[A-Za-z0-9+/=_-]{48,}/g, '…');
  return storable(plain.replace(/[\p{Cc}\p{Surrogate}<>]+/gu, ' ').trim(), LONGEST);
}

/**
 * The fault for whatever a call threw. `rejected` is proof: the exchange's refusal, or that nothing
 * could be sent at all. Everything else leaves open what became of the request.
 */
export function toFault(error: unknown): ExecutorFault {
  if (error instanceof ExecutorFault) return error;
  if (error instanceof ExchangeAnswerError) return answerFault(error);
  if (error instanceof z.ZodError) {
    const places = issuesLine(error, { whole: 'the answer' });
    return new ExecutorFault(
      'protocol',
      CEX_FAULTS.protocol,
      `the exchange's answer does not fit: ${places}`,
    );
  }
  return new ExecutorFault(
    'protocol',
    CEX_FAULTS.protocol,
    'the exchange was asked and something unexpected happened',
  );
}

function answerFault(error: ExchangeAnswerError): ExecutorFault {
  if (error.refusal !== null)
    return new ExecutorFault('rejected', error.refusal.code, error.refusal.message);
  const after =
    error.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: error.retryAfterSeconds };
  if (error.status === 429 || error.status === 418)
    return new ExecutorFault('server_error', CEX_FAULTS.rateLimited, error.message, after);
  return new ExecutorFault('server_error', CEX_FAULTS.error, error.message, after);
}

/** FAILED where it is proven that nothing was done; everything else stays a fault. */
export async function failWhenRefused<T>(work: () => Promise<T>): Promise<T | ExecutionResult> {
  try {
    return await work();
  } catch (error) {
    const fault = toFault(error);
    if (fault.kind !== 'rejected') throw fault;
    return { next_state: 'FAILED', error_code: fault.code, error_message: fault.message };
  }
}

/** A `rejected` fault of our own: a check before anything was sent. */
export function refuse(code: string, message: string): ExecutorFault {
  return new ExecutorFault('rejected', code, message);
}
