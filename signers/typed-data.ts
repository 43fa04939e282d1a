/** Reads EIP-712 data in the form of sign requests. */
import { z } from 'zod';
import type { JsonObject } from '../domain/json.ts';

const schema = z.strictObject({
  domain: z.record(z.string(), z.unknown()),
  types: z.record(z.string(), z.array(z.strictObject({ name: z.string(), type: z.string() }))),
  primaryType: z.string(),
  message: z.record(z.string(), z.unknown()),
});
export type TypedData = z.infer<typeof schema>;

/** Returns the typed data. Throws an Error if a part is missing or there is an extra part. */
export function readTypedData(payload: JsonObject): TypedData {
  const parsed = schema.safeParse(payload);
  if (parsed.success) return parsed.data;
  throw new Error('typed data needs domain, types, primaryType and message, and nothing else');
}
