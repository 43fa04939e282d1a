/**
 * Turns errors of calls to an exchange into faults. A refusal proves that nothing was done; every
 * other fault leaves the outcome open.
 */
import { z } from 'zod';
import { ExecutorFault, type ExecutionResult } from '../../domain/executor.ts';
import { issuesLine } from '../../platform/issues.ts';
import { storable } from '../../domain/text.ts';
import { rejected, failWhenRejected } from '../node-plan.ts';

/** Codes of faults that are not an exchange's refusal. */
export const CEX_FAULTS = {
  aborted: 'CEX_ABORTED',
  timeout: 'CEX_TIMEOUT',
  unreachable: 'CEX_UNREACHABLE',
  rateLimited: 'CEX_RATE_LIMITED',
  error: 'CEX_ERROR',
  protocol: 'CEX_PROTOCOL_ERROR',
} as const;

/** The exchange states that the request was not carried out and never will be. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
}

/**
 * An error answer of the exchange. The error holds neither the request nor the body, since both may
 * contain secrets.
 */
export class ExchangeAnswerError extends Error {
  override readonly name = 'ExchangeAnswerError';
  readonly status: number;
  /** The exchange's own code; null if the answer has none. */
  readonly exchangeCode: string | null;
  readonly refusal: Refusal | null;
  /** Whether the exchange limits the requests of the key. */
  readonly limited: boolean;
  readonly retryAfterSeconds: number | undefined;
  constructor(answer: {
    status: number;
    message: string;
    exchangeCode?: string | null;
    refusal: Refusal | null;
    limited?: boolean;
    retryAfterSeconds?: number | undefined;
  }) {
    super(answer.message);
    this.status = answer.status;
    this.exchangeCode = answer.exchangeCode ?? null;
    this.refusal = answer.refusal;
    this.limited = answer.limited ?? false;
    this.retryAfterSeconds = answer.retryAfterSeconds;
  }
}

/**
 * A fault of a call whose request was not sent and, since its time is over, never will be. For a
 * search that proves nothing; for a send it proves that nothing was done.
 */
export class UnsentFault extends ExecutorFault {}

/** A fault about a record of the exchange that certainly is the send's. */
export class RecordFault extends ExecutorFault {
  /** The exchange's id of the record. */
  readonly external_ref: string;
  constructor(code: string, message: string, external_ref: string) {
    super('protocol', code, `${message} (record ${external_ref})`);
    this.external_ref = external_ref;
  }
}

/** What a fault says of a record. */
interface FoundRecord {
  readonly id: string;
  readonly status: string;
  readonly exchange_status: string;
}

/**
 * Returns the fault of records that are there and not as planned. Only with a paid one it has that
 * record's id: with it, a late look notes a landing and ends its search (`isLanding`).
 */
export function recordFault(
  code: string,
  what: string,
  found: readonly FoundRecord[],
): ExecutorFault {
  const paid = found.find(({ status }) => status === 'completed');
  if (paid !== undefined) return new RecordFault(code, what, paid.id);
  const states = found.map(
    ({ id, status, exchange_status }) => `record ${id} is ${status}: ${exchange_status}`,
  );
  return new ExecutorFault('protocol', code, [what, ...states].join('; '));
}

/** Returns what a read before a send returned; its fault is an {@link UnsentFault}. */
export function beforeSend<T>(read: Promise<T>): Promise<T> {
  return read.catch((error: unknown) => {
    const { kind, code, message } = toFault(error);
    throw new UnsentFault(kind, code, message);
  });
}

const LONGEST = 200;

/**
 * Returns an exchange's message without URLs, long runs that may be secrets and control characters,
 * cut to 200 characters.
 */
export function plainWords(text: string): string {
  const plain = text.replace(/[a-z]+:\/\/\S+/gi, '[url]').replace(/[A-Za-z0-9+/=_-]{48,}/g, '…');
  return storable(plain.replace(/[\p{Cc}\p{Surrogate}<>]+/gu, ' ').trim(), LONGEST);
}

/**
 * Returns the fault for any error of a call. `rejected` proves that nothing was done: the exchange
 * refused, or nothing could be sent. Every other kind leaves the outcome open.
 */
export function toFault(error: unknown): ExecutorFault {
  if (error instanceof ExecutorFault) return error;
  if (error instanceof ExchangeAnswerError) return answerFault(error);
  if (error instanceof z.ZodError) {
    const places = issuesLine(error, { whole: 'the answer' });
    return new ExecutorFault(
      'protocol',
      CEX_FAULTS.protocol,
      `the exchange's answer has an unexpected shape: ${places}`,
    );
  }
  return new ExecutorFault(
    'protocol',
    CEX_FAULTS.protocol,
    'the call to the exchange failed unexpectedly',
  );
}

function answerFault(error: ExchangeAnswerError): ExecutorFault {
  if (error.refusal !== null) return rejected(error.refusal.code, error.refusal.message);
  const after =
    error.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: error.retryAfterSeconds };
  if (error.limited)
    return new ExecutorFault('server_error', CEX_FAULTS.rateLimited, error.message, after);
  return new ExecutorFault('server_error', CEX_FAULTS.error, error.message, after);
}

/**
 * As {@link failWhenRefused}, for a send that is a single request: FAILED also if it was not sent,
 * for example because its key's budget was used up until its time was over.
 */
export function failWhenNotSent<T>(work: () => Promise<T>): Promise<T | ExecutionResult> {
  return failWhenRefused(() =>
    work().catch((error: unknown) => {
      if (!(error instanceof UnsentFault)) throw error;
      throw rejected(error.code, error.message);
    }),
  );
}

/**
 * Returns FAILED if the exchange or one of our checks proves that nothing was done; else throws a
 * fault.
 */
export function failWhenRefused<T>(work: () => Promise<T>): Promise<T | ExecutionResult> {
  return failWhenRejected(() =>
    work().catch((error: unknown) => {
      throw toFault(error);
    }),
  );
}
