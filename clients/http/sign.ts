/** How a request is signed: HMAC-SHA256 over six lines, in four headers. */
import {
  type Bytes,
  type HmacKey,
  hex,
  importHmacKey,
  randomHex,
  sha256,
  subtle,
} from './bytes.ts';
import { ownBytes, utf8 } from './bytes.ts';
import { ClientUsageError } from './errors.ts';

/** A key id and its secret: the text that was shown at issue, or a key made of its bytes. */
export interface ClientKey {
  readonly keyId: string;
  readonly secret: string | HmacKey;
}

export interface RequestToSign {
  readonly method: string;
  /** Absolute, as it will be sent. */
  readonly url: string | URL;
  /** The exact bytes that will be sent. */
  readonly body?: string | Uint8Array | undefined;
}

/** For tests and vectors; left out, it is now and a nonce that nobody used. */
export interface SignedAt {
  /** Epoch seconds. */
  readonly timestamp?: string;
  readonly nonce?: string;
}

/** The four headers of one try. Sign anew for each: a nonce is taken once. */
export type Signer = (
  request: RequestToSign,
  at?: SignedAt,
) => Promise<Readonly<Record<string, string>>>;

/** Header names that only a signer sets. */
export const SIGNED_HEADERS = /^x-svc-(key-id|timestamp|nonce|signature)$/i;

const NO_BODY = new Uint8Array();

/**
 * Makes the secret a key that cannot be read any more, once, and signs with it.
 *
 * @throws ClientUsageError for a key id or secret that no request can be signed with.
 */
export function createSigner({ keyId, secret }: ClientKey): Signer {
  if (!/^[!-~]{1,128}$/.test(keyId))
    throw new ClientUsageError('The key id must be 1 to 128 printable characters without spaces.');
  if (secret === '') throw new ClientUsageError('The secret is empty.');
  let imported: Promise<HmacKey> | undefined;
  const key = (): Promise<HmacKey> =>
    (imported ??= Promise.resolve(
      typeof secret === 'string' ? importHmacKey(utf8(secret), ['sign']) : secret,
    ));
  return async (request, at = {}) => {
    const { timestamp = String(Math.floor(Date.now() / 1000)), nonce = randomHex(16) } = at;
    const text = await canonicalText(request, { timestamp, nonce });
    return {
      'X-SVC-Key-Id': keyId,
      'X-SVC-Timestamp': timestamp,
      'X-SVC-Nonce': nonce,
      'X-SVC-Signature': hex(new Uint8Array(await subtle().sign('HMAC', await key(), utf8(text)))),
    };
  };
}

/** {@link createSigner} for one request. */
export function signatureHeaders(
  key: ClientKey,
  request: RequestToSign,
  at?: SignedAt,
): Promise<Readonly<Record<string, string>>> {
  return createSigner(key)(request, at);
}

/** The six lines: method, path decoded once, query as sent, hash of the body, time, nonce. */
async function canonicalText(
  { method, url, body }: RequestToSign,
  at: Required<SignedAt>,
): Promise<string> {
  const { pathname, search } = new URL(url);
  return [
    method,
    decodeURIComponent(pathname),
    search.slice(1),
    await sha256(bytesOf(body)),
    at.timestamp,
    at.nonce,
  ].join('\n');
}

function bytesOf(body: string | Uint8Array | undefined): Bytes {
  if (body === undefined) return NO_BODY;
  return typeof body === 'string' ? utf8(body) : ownBytes(body);
}
