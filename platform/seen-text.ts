/** Schemas of texts that people tell apart by looking at them. */
import { z } from 'zod';
import { unseenFault } from '../domain/text.ts';

const CONTROLS = /^[^\u0000-\u001f\u007f-\u009f]*$/;

/** Returns the schema of a text without control characters. */
export function printed(min: number, max: number): z.ZodString {
  return z
    .string()
    .min(min)
    .max(max)
    .regex(CONTROLS, { error: 'must not hold control characters', abort: true });
}

/**
 * Returns the schema of a text that does not look like another one for something that is not seen;
 * `faultOf` says why it does. What is stored already may, so filters take {@link printed}.
 */
export function seenText(
  min: number,
  max: number,
  faultOf: (text: string) => string | null = unseenFault,
): z.ZodString {
  return printed(min, max).superRefine((text, context) => {
    const message = faultOf(text);
    if (message !== null)
      context.addIssue({ code: 'custom', message, params: { code: 'invalid_string' } });
  });
}

/** The label of an address on the allowlist: by it approvers know whom they pay. */
export const allowlistLabel = seenText(1, 128);
