/** Checks the bearer tokens of an executor; their file can be changed without a restart. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';

/**
 * Returns a function that checks an Authorization header against the tokens in `file`, one on each
 * line, which are read again for every header. With two of them callers change to a new token
 * without a refused call.
 *
 * @throws Error when a line is no usable token, or there is none, so that a server without its
 *   secret does not start.
 */
export function bearerCheck(file: string): (header: string | undefined) => boolean {
  readTokens(file);
  return (header) => {
    const sent = /^Bearer +([\x21-\x7e]+) *$/i.exec(header ?? '')?.[1];
    const tokens = readTokens(file);
    // Digests all have the same length, so the time of the comparison shows neither the token's
    // length nor its first different byte.
    return (
      sent !== undefined && tokens.some((token) => timingSafeEqual(digest(sent), digest(token)))
    );
  };
}

function readTokens(file: string): readonly string[] {
  const tokens = readFileSync(file, 'utf8')
    .trim()
    .split(/\s*\n\s*/);
  if (!tokens.every((token) => /^[\x21-\x7e]+$/.test(token)))
    throw new Error(
      `${file} holds no usable token: each line must be one, of visible ASCII characters`,
    );
  return tokens;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
