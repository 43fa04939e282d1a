/** Checks the bearer token of an executor; its file can be changed without a restart. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';

/**
 * Returns a function that checks an Authorization header against the token in `file`, which is read
 * again for every header.
 *
 * @throws Error when the file holds no usable token, so that a server without its secret does not
 *   start.
 */
export function bearerCheck(file: string): (header: string | undefined) => boolean {
  readToken(file);
  return (header) => {
    const sent = /^Bearer +([\x21-\x7e]+) *$/i.exec(header ?? '')?.[1];
    const token = readToken(file);
    // Digests all have the same length, so the time of the comparison shows neither the token's
    // length nor its first different byte.
    return sent !== undefined && timingSafeEqual(digest(sent), digest(token));
  };
}

function readToken(file: string): string {
  const token = readFileSync(file, 'utf8').trim();
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new Error(
      `${file} holds no usable token: one line of visible ASCII characters is needed`,
    );
  return token;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
