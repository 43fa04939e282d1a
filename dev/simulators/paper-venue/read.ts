/** Parses request bodies. */
import type { z } from 'zod';
import { issuesLine } from '../../../platform/issues.ts';
import { VenueHttpError } from './http-error.ts';

/** Parses `body`; throws VenueHttpError 422 INVALID_REQUEST. */
export function read<T>(schema: z.ZodType<T>, body: unknown): T {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new VenueHttpError(422, 'INVALID_REQUEST', issuesLine(parsed.error, { whole: 'body' }));
}
