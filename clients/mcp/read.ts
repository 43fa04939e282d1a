/** Reads answers of the service: of each only what a tool shows. */
import type { z } from 'zod';
import { ApiError } from '../http/errors.ts';

/**
 * The part of an answer that the schema names.
 *
 * @throws ApiError where the answer is another than the service gives.
 */
export function read<S extends z.ZodType>(schema: S, answer: unknown): z.output<S> {
  const read = schema.safeParse(answer);
  if (read.success) return read.data;
  const place = read.error.issues[0]?.path.join('.') ?? '';
  throw new ApiError({
    status: 502,
    rawCode: 'answer_not_understood',
    message: `The service answered something else than this version knows (at ${place || 'its root'}).`,
    context: {},
    issues: [],
    requestId: null,
    retryAfterSeconds: null,
  });
}
