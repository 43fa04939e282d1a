/**
 * Signs and checks results of a team's worker. A result that says that nothing was sent ends a node
 * for good. Anyone with access to Temporal can forge a result, but not its signature: that needs
 * the secret of the registry entry.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import canonicalize from 'canonicalize';
import type { ExecutorPhase } from '../domain/executor.ts';
import { isObject } from '../domain/json.ts';

/** Name of the result's field that holds its signature. */
export const RESULT_SIGNATURE = 'result_signature';

/** Shortest secret that is used, in bytes. */
export const LEAST_SECRET_BYTES = 16;

/** The call that a result belongs to. */
export interface AnsweredCall {
  readonly idempotency_key: string;
  readonly phase: ExecutorPhase;
}

/**
 * Returns the HMAC-SHA256, in lower-case hex, over four lines joined by a line feed:
 * `svc-executor-result/1`, the idempotency key, the phase, and the result without its signature as
 * RFC 8785 canonical JSON. The HMAC key is the secret's UTF-8 bytes.
 */
export function resultSignature(secret: string, call: AnsweredCall, result: object): string {
  const unsigned = Object.fromEntries(
    Object.entries(result).filter(([name]) => name !== RESULT_SIGNATURE),
  );
  // Converted through JSON first, because undefined fields are not sent.
  const text = canonicalize(JSON.parse(JSON.stringify(unsigned))) ?? '';
  return createHmac('sha256', secret)
    .update(['svc-executor-result/1', call.idempotency_key, call.phase, text].join('\n'), 'utf8')
    .digest('hex');
}

/** Returns the result with its signature added. */
export function signedResult<R extends object>(
  secret: string,
  call: AnsweredCall,
  result: R,
): R & { readonly result_signature: string } {
  return { ...result, result_signature: resultSignature(secret, call, result) };
}

/** Returns whether the result is signed with the secret that the file holds now. */
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

/** Returns the secret in a file's text, without white space around it; null: too short. */
export function usableSecret(text: string): string | null {
  const secret = text.trim();
  return Buffer.byteLength(secret) < LEAST_SECRET_BYTES ? null : secret;
}
