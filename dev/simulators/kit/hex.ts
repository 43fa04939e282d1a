/** Schemas of hexadecimal text in settings, bodies and journals. */
import { z } from 'zod';

export type Hex = `0x${string}`;

/** Hexadecimal text of any length. */
export const hex = matching(/^0x[0-9a-fA-F]*$/);
export const address = matching(/^0x[0-9a-fA-F]{40}$/);
export const privateKey = matching(/^0x[0-9a-fA-F]{64}$/);

function matching(pattern: RegExp): z.ZodType<Hex> {
  return z.custom<Hex>((value) => typeof value === 'string' && pattern.test(value));
}
