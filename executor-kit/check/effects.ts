/** Counts the real effects of a key at the provider. */
import { readFileSync } from 'node:fs';
import { request } from 'undici';
import { z } from 'zod';
import { Broken } from './broken.ts';

const answerSchema = z.object({ effects: z.int().min(0) });
const LIMIT_MS = 10_000;

/**
 * Returns the count from the URL that results from `template` and `key`. Sends the executor's
 * token, as every other call does.
 *
 * @throws Broken when the URL returns no count: without a count the following checks would prove
 *   nothing.
 */
export async function countEffects(
  template: string,
  key: string,
  tokenFile: string | undefined,
): Promise<number> {
  const url = template.replaceAll('{idempotency_key}', encodeURIComponent(key));
  const headers =
    tokenFile === undefined
      ? {}
      : { authorization: `Bearer ${readFileSync(tokenFile, 'utf8').trim()}` };
  try {
    const answer = await request(url, { headers, signal: AbortSignal.timeout(LIMIT_MS) });
    const body: unknown = await answer.body.json();
    if (answer.statusCode === 200) return answerSchema.parse(body).effects;
  } catch {
    // A failed request is reported in the same way as an answer without a count.
  }
  throw new Broken(
    `--effects-url gave no count for a key (${url})`,
    'The URL must answer 200 with {"effects": n}, where n is 0 for an unknown key.',
  );
}
