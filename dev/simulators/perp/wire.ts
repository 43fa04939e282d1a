/** Request bodies and responses of the venue's two calls. Texts: docs/perps-venue-facts.md 1.4. */
import type { Response } from 'express';
import type { z } from 'zod';

export type Answer =
  | { readonly status: number; readonly json: unknown }
  | { readonly status: number; readonly text: string };

/** Responses that faults send instead of the venue's. */
export const LIMITED: Answer = { status: 429, json: null };
export const BROKEN: Answer = { status: 500, json: null };

const NO_JSON: Answer = { status: 400, text: 'Failed to parse the request body as JSON' };
const WRONG_TYPE: Answer = {
  status: 415,
  text: 'Expected request with `Content-Type: application/json`',
};
const UNREADABLE: Answer = {
  status: 422,
  text: 'Failed to deserialize the JSON body into the target type',
};

/** Returns the parsed body, or the venue's refusal of it. */
export function readJson<T>(
  { body, contentType }: { readonly body: string; readonly contentType: string },
  schema: z.ZodType<T>,
): { readonly value: T } | { readonly refusal: Answer } {
  if (!/^application\/json\b/i.test(contentType)) return { refusal: WRONG_TYPE };
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    return { refusal: NO_JSON };
  }
  const read = schema.safeParse(json);
  return read.success ? { value: read.data } : { refusal: UNREADABLE };
}

export function send(response: Response, answer: Answer): void {
  response.status(answer.status);
  if ('json' in answer) response.json(answer.json);
  else response.type('text/plain').send(answer.text);
}
