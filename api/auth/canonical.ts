/**
 * What is signed, and its signature. Both sides use this file; it needs nothing of the service.
 * HMAC-SHA256 over six lines, keyed with the secret's UTF-8 bytes as they were shown at issue.
 */
import { createHash, createHmac, type KeyObject } from 'node:crypto';

/** The parts of a request that its signature covers. */
export interface SignedParts {
  readonly method: string;
  /** Percent-decoded once, with the prefix, without the query. */
  readonly path: string;
  /** Exactly as sent, without the question mark; empty when absent. */
  readonly query: string;
  readonly body: Uint8Array;
  /** Epoch seconds, as sent. */
  readonly timestamp: string;
  readonly nonce: string;
}

/** Six lines, joined by one newline, none at the end. */
export function canonicalString(parts: SignedParts): string {
  const bodyHash = createHash('sha256').update(parts.body).digest('hex');
  return [parts.method, parts.path, parts.query, bodyHash, parts.timestamp, parts.nonce].join('\n');
}

/** The signature's bytes; on the wire they are 64 lowercase hex digits. */
export function signatureOf(secret: string | KeyObject, parts: SignedParts): Buffer {
  return hmacOf(secret, canonicalString(parts));
}

/** HMAC-SHA256 over the text's UTF-8 bytes. */
export function hmacOf(secret: string | KeyObject, text: string): Buffer {
  return createHmac('sha256', secret).update(text, 'utf8').digest();
}

/** The operator's dashboard signs eight lines with a key of its own; see `SVC-DASHBOARD-V3`. */
export function dashboardCanonicalString(
  parts: SignedParts & { readonly operator: string },
): string {
  return ['SVC-DASHBOARD-V3', canonicalString(parts), parts.operator].join('\n');
}
