/** The schema of a template's key. */
import type { z } from 'zod';

const SEGMENTS = /^[^\u0000-\u001f\u007f-\u009f%\\#?/]+(\/[^\u0000-\u001f\u007f-\u009f%\\#?/]+)*$/;

/**
 * Returns the schema of a text with a limited length as that of a template's key. A key may contain
 * `/`, since it is the end of a path, but nothing that makes the path ambiguous.
 */
export function asTemplateKey(text: z.ZodString): z.ZodString {
  return text
    .regex(SEGMENTS, 'must not hold %, \\, #, ?, control characters or an empty segment')
    .refine(
      (key) => !key.split('/').some((part) => part === '.' || part === '..'),
      'must not have a `.` or `..` segment',
    );
}
