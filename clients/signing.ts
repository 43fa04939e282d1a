/** Signs requests as the service wants them: six lines, HMAC-SHA256, four headers. */
import { randomBytes } from 'node:crypto';
import { signatureOf } from '../api/auth/canonical.ts';

/** A key id and its secret, exactly as they were shown when the key was issued. */
export interface SigningKey {
  readonly keyId: string;
  readonly secret: string;
}

export interface RequestToSign {
  readonly method: string;
  /** Absolute, as it will be sent. */
  readonly url: string;
  /** The exact bytes that will be sent. */
  readonly body?: string | Uint8Array | undefined;
}

/** The four headers of one request. Sign anew for every attempt: a nonce is taken once. */
export function signatureHeaders(
  key: SigningKey,
  request: RequestToSign,
  at: { readonly timestamp?: string; readonly nonce?: string } = {},
): Readonly<Record<string, string>> {
  const {
    timestamp = String(Math.floor(Date.now() / 1000)),
    nonce = randomBytes(16).toString('hex'),
  } = at;
  const { pathname, search } = new URL(request.url);
  const signature = signatureOf(key.secret, {
    method: request.method,
    path: decodeURIComponent(pathname),
    query: search.slice(1),
    body:
      typeof request.body === 'string'
        ? Buffer.from(request.body, 'utf8')
        : (request.body ?? new Uint8Array()),
    timestamp,
    nonce,
  });
  return {
    'X-SVC-Key-Id': key.keyId,
    'X-SVC-Timestamp': timestamp,
    'X-SVC-Nonce': nonce,
    'X-SVC-Signature': signature.toString('hex'),
  };
}
