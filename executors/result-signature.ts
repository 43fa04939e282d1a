/**
 * What a team's worker signs: that nothing was sent ends a node for good, and everything that
 * passes through Temporal can be written by whoever reaches it. The secret of the registry entry
 * can not.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import canonicalize from 'canonicalize';
import type { ExecutorPhase } from '../domain/executor.ts';
import { isObject } from '../domain/json.ts';

/** The field of a result that holds its signature. */
export const RESULT_SIGNATURE = 'result_signature';

/** Shortest secret that is used, in bytes. */
export const LEAST_SECRET_BYTES = 16;

/** What a result answers. */
export interface AnsweredCall {
  readonly idempotency_key: string;
  readonly phase: ExecutorPhase;
}

/**
 * HMAC-SHA256, in lower-case hex, over four lines joined by a line feed: `svc-executor-result/1`,
 * the idempotency key, the phase, and the result without its signature as RFC 8785 canonical JSON.
 * The key is the secret's UTF-8 bytes.
 */
export function resultSignature(secret: string, call: AnsweredCall, result: object): string {
  const unsigned = Object.fromEntries(
    Object.entries(result).filter(([name]) => name !== RESULT_SIGNATURE),
  );
  // As JSON has it: what is undefined does not travel.
  const text = canonicalize(JSON.parse(JSON.stringify(unsigned))) ?? '';
  return createHmac('sha256', secret)
    .update(['svc-executor-result/1', call.idempotency_key, call.phase, text].join('\n'), 'utf8')
    .digest('hex');
}

/** The result with its signature. */
export function signedResult<R extends object>(
  secret: string,
  call: AnsweredCall,
  result: R,
): R & { readonly result_signature: string } {
  return { ...result, result_signature: resultSignature(secret, call, result) };
}

/** Whether the result is signed with the secret that the file holds now. */
export async function isSignedResult(
  secretFile: string,
  call: AnsweredCall,
  result: unknown,
): Promise<boolean> {
  if (!isObject(result)) return false;
  const shown = result[RESULT_SIGNATURE];
  if (typeof shown !== 'string' || !/^[0-9a-f]{64}$/.test(shown)) return false;
  const secret = usableSecret(await readFile(secretFile, 'utf8'));
  if (secret === null) return false;
  const right = resultSignature(secret, call, result);
  return timingSafeEqual(Buffer.from(shown, 'hex'), Buffer.from(right, 'hex'));
}

/** The secret of a file's text, without white space around it; null when it is too short. */
export function usableSecret(text: string): string | null {
  const secret = text.trim();
  return Buffer.byteLength(secret) < LEAST_SECRET_BYTES ? null : secret;
}
