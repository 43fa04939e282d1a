/** Schemas of amounts that requests, exchanges and venues send. */
import { z } from 'zod';
import { DECIMAL_PATTERN, readDecimal } from '../domain/money.ts';

/**
 * Returns the schema of a text that is an amount, parsed without trailing zeros. `wrong` is the
 * message for an invalid amount.
 */
export function decimalText(wrong: string): z.ZodString {
  return (
    z
      .string(wrong)
      .regex(DECIMAL_PATTERN, wrong)
      // Zod also calls this function with texts that the pattern has refused.
      .overwrite((text) => readDecimal(text) ?? text)
  );
}
