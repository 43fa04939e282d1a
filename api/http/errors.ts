/**
 * How refusals and faults are answered. Only text that was written for callers leaves the process.
 */
import type { Response } from 'express';
import type { Logger } from 'pino';
import { ERROR_TABLE, ServiceError } from '../../domain/errors.ts';
import { countOverload, retryAfterSeconds } from './admission.ts';
import { invalidRequest } from './issues.ts';

export interface ErrorAnswer {
  readonly status: number;
  readonly body: { readonly detail: Readonly<Record<string, unknown>> | string };
}

/**
 * The answer of an error; anything but a {@link ServiceError} is `internal_error` with the request
 * id alone.
 */
export function toAnswer(error: unknown, requestId: string): ErrorAnswer {
  const known = asServiceError(error);
  if (known === null || known.code === 'internal_error') {
    const { status, message } = ERROR_TABLE.internal_error;
    return {
      status,
      body: { detail: { error: 'internal_error', message, request_id: requestId } },
    };
  }
  // The one answer whose detail is a text, by the specification.
  if (known.code === 'rate_limited')
    return { status: known.status, body: { detail: known.message } };
  const head = { error: known.code, message: known.message };
  return { status: known.status, body: { detail: { ...head, ...known.context, ...head } } };
}

/** A ServiceError, or what the body reader's errors mean; null for everything unexpected. */
export function asServiceError(error: unknown): ServiceError | null {
  if (error instanceof ServiceError) return error;
  if (typeof error !== 'object' || error === null || !('type' in error)) return null;
  switch (error.type) {
    case 'entity.too.large':
      return new ServiceError('body_too_large');
    case 'request.size.invalid':
    case 'request.aborted':
      return invalidRequest([
        {
          path: '',
          code: 'incomplete_body',
          message: 'the body is not as long as Content-Length says',
        },
      ]);
    case 'encoding.unsupported':
      return new ServiceError('unsupported_media_type');
    default:
      return null;
  }
}

/** Sends the answer and logs what an operator needs to know of the cause. */
export function respondWithError(
  error: unknown,
  response: Response,
  context: { readonly request_id: string; readonly log: Logger },
): void {
  const answer = toAnswer(error, context.request_id);
  const overloaded = error instanceof ServiceError && error.code === 'overloaded';
  // A log line for each would be too much work for a busy process; they are counted.
  if (answer.status >= 500 && !overloaded)
    context.log.error({ request_id: context.request_id, err: error }, 'request failed');
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  if (overloaded) {
    if (error.cause !== undefined) countOverload('database');
    response.setHeader('Retry-After', String(retryAfterSeconds()));
  }
  response.status(answer.status).json(answer.body);
}
