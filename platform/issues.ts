/** Describes the issues of a schema in sentences that each begin with the path. */
import type { z } from 'zod';
import { placeOf } from '../domain/json.ts';

/** The input's name in faults of the whole input (`whole`), or a prefix of all paths (`under`). */
export type Read = { readonly whole: string } | { readonly under: string };

/** Returns one sentence for each fault: `venues[2].chain_id: expected a positive integer`. */
export function describeIssues(error: z.ZodError, read: Read): readonly string[] {
  return error.issues.map(({ path, message }) => {
    const place = 'under' in read ? placeOf([read.under, ...path]) : placeOf(path) || read.whole;
    return `${place}: ${message}`;
  });
}

/** Maximum number of faults in one line, so that people can still read it. */
const MOST = 5;

/** Returns the first faults in one line, for an error message. */
export function issuesLine(error: z.ZodError, read: Read): string {
  return describeIssues(error, read).slice(0, MOST).join('; ');
}
