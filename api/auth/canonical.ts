/**
 * The canonical string that is signed, and its signature. Service and clients use this file, so it
 * imports nothing of the service. HMAC-SHA256 over six lines, keyed with the secret's UTF-8 bytes
 * as shown at issue.
 */
import { createHash, createHmac, type KeyObject } from 'node:crypto';

/** The parts of a request that its signature covers. */
export interface SignedParts {
  readonly method: string;
  /** Path, percent-decoded once, with the prefix, without the query. */
  readonly path: string;
  /** Query exactly as sent, without the question mark; empty when absent. */
  readonly query: string;
  readonly body: Uint8Array;
  /** Epoch seconds, as sent. */
  readonly timestamp: string;
  readonly nonce: string;
}

/** Most requests have no body. */
const NO_BODY_HASH = createHash('sha256').digest('hex');

/** Returns six lines, joined by one newline, without a newline at the end. */
export function canonicalString(parts: SignedParts): string {
  const { body } = parts;
  const bodyHash =
    body.byteLength === 0 ? NO_BODY_HASH : createHash('sha256').update(body).digest('hex');
  return [parts.method, parts.path, parts.query, bodyHash, parts.timestamp, parts.nonce].join('\n');
}

/** Returns the signature's bytes; on the wire they are 64 lowercase hex digits. */
export function signatureOf(secret: string | KeyObject, parts: SignedParts): Buffer {
  return hmacOf(secret, canonicalString(parts));
}

/** Returns the HMAC-SHA256 over the text's UTF-8 bytes. */
export function hmacOf(secret: string | KeyObject, text: string): Buffer {
  return createHmac('sha256', secret).update(text, 'utf8').digest();
}

/** Returns the eight lines that an operator of the dashboard signs; see `SVC-DASHBOARD-V3`. */
export function dashboardCanonicalString(
  parts: SignedParts & { readonly operator: string },
): string {
  return ['SVC-DASHBOARD-V3', canonicalString(parts), parts.operator].join('\n');
}
