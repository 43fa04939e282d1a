/** Converts payloads to and from protobuf's JSON form, in which every `bytes` field is base64. */
import { z } from 'zod';
import type { Payload } from '@temporalio/common';
import { invalidRequest, toIssues } from '../http/issues.ts';

/** Both base64 alphabets, with or without padding, as protobuf's JSON allows. */
const bytes = z.string().regex(/^[A-Za-z0-9+/_-]*={0,2}$/, 'must be base64');
// Loose: newer clients may send fields that a codec does not need.
const schema = z.looseObject({
  payloads: z
    .array(
      z.looseObject({ metadata: z.record(z.string(), bytes).nullish(), data: bytes.nullish() }),
    )
    .max(10_000)
    .default([]),
});

/** Returns the payloads in a request's body. Throws `invalid_request`. */
export function payloadsOf(body: unknown): Payload[] {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw invalidRequest(toIssues(parsed.error));
  return parsed.data.payloads.map(({ metadata, data }) => ({
    metadata: Object.fromEntries(
      Object.entries(metadata ?? {}).map(([name, value]) => [name, Buffer.from(value, 'base64')]),
    ),
    data: Buffer.from(data ?? '', 'base64'),
  }));
}

/** Returns the response body with these payloads. */
export function payloadsBody(payloads: readonly Payload[]): {
  readonly payloads: readonly unknown[];
} {
  return {
    payloads: payloads.map(({ metadata, data }) => ({
      metadata: Object.fromEntries(
        Object.entries(metadata ?? {}).map(([name, value]) => [name, base64(value)]),
      ),
      data: base64(data),
    })),
  };
}

function base64(value: Uint8Array | null | undefined): string {
  return Buffer.from(value ?? new Uint8Array()).toString('base64');
}
