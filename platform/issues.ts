/** What a schema finds wrong, in sentences that each begin with the place. */
import type { z } from 'zod';

/** `['venues', 2, 'chain_id']` as `venues[2].chain_id`. */
export function placeOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, step) =>
      typeof step === 'number'
        ? `${text}[${String(step)}]`
        : text === ''
          ? String(step)
          : `${text}.${String(step)}`,
    '',
  );
}

/**
 * What is read: its name where it is wrong as a whole, or the place that all others stand under.
 */
export type Read = { readonly whole: string } | { readonly under: string };

/** One sentence a fault: `venues[2].chain_id: expected a positive integer`. */
export function describeIssues(error: z.ZodError, read: Read): readonly string[] {
  return error.issues.map(({ path, message }) => {
    const place = 'under' in read ? placeOf([read.under, ...path]) : placeOf(path) || read.whole;
    return `${place}: ${message}`;
  });
}

/** As many of them as people read in one line. */
const MOST = 5;

/** The first faults in one line, for an error message. */
export function issuesLine(error: z.ZodError, read: Read): string {
  return describeIssues(error, read).slice(0, MOST).join('; ');
}
