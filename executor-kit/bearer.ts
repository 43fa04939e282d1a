/** The bearer token of an executor, kept in a file so that it can be changed without a restart. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';

/**
 * A check of Authorization headers against the token in `file`, which is read anew for each of
 * them.
 *
 * @throws Error when the file holds no usable token, so that a server without its secret does not
 *   start.
 */
export function bearerCheck(file: string): (header: string | undefined) => boolean {
  readToken(file);
  return (header) => {
    const sent = /^Bearer +([\x21-\x7e]+) *$/i.exec(header ?? '')?.[1];
    const token = readToken(file);
    // Digests have one length, so neither the length nor the first differing byte shows in the time
    // it takes.
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
