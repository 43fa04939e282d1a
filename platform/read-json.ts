/** Reads a value from JSON that a person wrote. */
import type { z } from 'zod';
import { describeLosses } from '../domain/json-text.ts';
import { describeIssues } from './issues.ts';

/**
 * Returns the value, or sentences that begin with the path of what is wrong. `whole` names the
 * value itself, such as `the rule`.
 */
export function readJson<T>(
  schema: z.ZodType<T>,
  text: string,
  whole: string,
): { readonly value: T } | { readonly faults: readonly string[] } {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    return { faults: [`${whole}: must be JSON`] };
  }
  const losses = describeLosses(text, whole);
  if (losses.length > 0) return { faults: losses };
  const read = schema.safeParse(content);
  return read.success ? { value: read.data } : { faults: describeIssues(read.error, { whole }) };
}
