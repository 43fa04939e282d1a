/** Turns refusals and faults into replies. Only text written for callers leaves the process. */
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
 * Returns the reply for an error; any error but a {@link ServiceError} becomes `internal_error`
 * with only the request id.
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
  // The specification requires a text as detail for this error alone.
  if (known.code === 'rate_limited')
    return { status: known.status, body: { detail: known.message } };
  const head = { error: known.code, message: known.message };
  return { status: known.status, body: { detail: { ...head, ...known.context, ...head } } };
}

/** Returns the ServiceError of an error or of a body reader's fault; null for any other error. */
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
          message: 'the length of the body differs from Content-Length',
        },
      ]);
    case 'encoding.unsupported':
      return new ServiceError('unsupported_media_type');
    default:
      return null;
  }
}

/** Sends the error reply and logs the cause for an operator. */
export function respondWithError(
  error: unknown,
  response: Response,
  context: { readonly request_id: string; readonly log: Logger },
): void {
  const answer = toAnswer(error, context.request_id);
  const overloaded = error instanceof ServiceError && error.code === 'overloaded';
  // Overloads are counted and not logged: a line for each would be too much work for a busy
  // process.
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
