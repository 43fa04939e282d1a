/** Reads from the service's answers only the fields that a tool shows. */
import type { z } from 'zod';
import { ApiError } from '../http/errors.ts';

/**
 * Returns the fields of an answer that the schema has.
 *
 * @throws ApiError when the answer does not match the schema.
 */
export function read<S extends z.ZodType>(schema: S, answer: unknown): z.output<S> {
  const read = schema.safeParse(answer);
  if (read.success) return read.data;
  const place = read.error.issues[0]?.path.join('.') ?? '';
  throw new ApiError({
    status: 502,
    rawCode: 'answer_not_understood',
    message: `The service returned an answer that this version does not know (at ${place || 'its root'}).`,
    context: {},
    issues: [],
    requestId: null,
    retryAfterSeconds: null,
  });
}
