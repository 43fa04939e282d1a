/** An amount from outside, as requests, exchanges and venues give it. */
import { z } from 'zod';
import { DECIMAL_PATTERN, readDecimal } from '../domain/money.ts';

/**
 * A schema of texts that are amounts; they come out without trailing zeros. `wrong` says what must
 * be.
 */
export function decimalText(wrong: string): z.ZodString {
  return (
    z
      .string(wrong)
      .regex(DECIMAL_PATTERN, wrong)
      // Also called with what the pattern has refused.
      .overwrite((text) => readDecimal(text) ?? text)
  );
}
