/**
 * Hashes and signatures of requests by `node:crypto`. WebCrypto makes the same ones, but takes
 * longer to load, and passes each to another thread.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import type { Hashing } from '../http/sign.ts';

export const NODE_HASHING: Hashing = {
  sha256: (bytes) => createHash('sha256').update(bytes).digest('hex'),
  hmac: (secret) => (text) => createHmac('sha256', secret).update(text).digest('hex'),
  randomHex: (count) => randomBytes(count).toString('hex'),
};
