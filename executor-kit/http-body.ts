/** Reads the whole JSON body of a request, up to a size limit. */
import type { IncomingMessage } from 'node:http';
import { Rejected } from './answers.ts';

/** Default size limit: an object may have 256 KiB, and a submit carries several objects. */
export const BODY_LIMIT_BYTES = 4 * 1024 * 1024;

/**
 * Returns the request's body, parsed as JSON.
 *
 * @throws Rejected with status 400 (not JSON in UTF-8), 413 (too long) or 415 (declared as another
 *   type).
 */
export async function readJsonBody(request: IncomingMessage, limit: number): Promise<unknown> {
  const type = request.headers['content-type'];
  if (type !== undefined && !/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type)) {
    throw new Rejected('UNSUPPORTED_MEDIA_TYPE', 'the body must be application/json', 415);
  }
  const bytes = await readBytes(request, limit);
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new Rejected('INVALID_JSON', 'the body is not JSON in UTF-8', 400);
  }
}

async function readBytes(request: IncomingMessage, limit: number): Promise<Buffer> {
  const tooLong = new Rejected('BODY_TOO_LONG', `the body is longer than ${limit} bytes`, 413);
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLong;
  const chunks: Buffer[] = [];
  let size = 0;
  // No `for await`: leaving such a loop would destroy the socket before the refusal is sent.
  return new Promise((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) reject(tooLong);
      else chunks.push(chunk);
    });
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('error', reject);
    request.once('close', () =>
      reject(new Error('the caller left before its request was complete')),
    );
  });
}
