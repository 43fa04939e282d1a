/** Counts the real effects of a key where they are: at the other side of the executor. */
import { readFileSync } from 'node:fs';
import { request } from 'undici';
import { z } from 'zod';
import { Broken } from './broken.ts';

const answerSchema = z.object({ effects: z.int().min(0) });
const LIMIT_MS = 10_000;

/**
 * Asks the URL that `template` makes of `key`. The executor's token goes along, as with every other
 * call.
 *
 * @throws Broken when no count comes back: without it nothing that follows would be shown.
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
    // the same as any other answer that is no count
  }
  throw new Broken(
    `--effects-url gave no count for a key (${url})`,
    'It must answer 200 with {"effects": n}, and 0 for a key it does not know.',
  );
}
