/** Faults of a configuration file, each with its place, so that all can be mended in one go. */
import type { z } from 'zod';

/** `['venues', 2, 'chain_id']` as `venues[2].chain_id`. */
export function placeOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : text === '' ? String(step) : `${text}.${String(step)}`),
    '',
  );
}

/** One line a fault: `venues[2].chain_id: expected a positive integer`. */
export function describeIssues(error: z.ZodError): readonly string[] {
  return error.issues.map((issue) => `${placeOf(issue.path) || 'the file'}: ${issue.message}`);
}
