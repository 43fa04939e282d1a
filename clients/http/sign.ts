/**
 * Signs requests: HMAC-SHA256 over six lines, sent in four headers. For the dashboard the HMAC is
 * over eight lines, with an operator's own key.
 */
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

/** A key id and its secret: as the text shown when the key was issued, or as a WebCrypto key. */
export interface ClientKey {
  readonly keyId: string;
  readonly secret: string | HmacKey;
}

/** A dashboard operator and the operator's secret. */
export interface DashboardKey {
  readonly operator: string;
  readonly secret: string | HmacKey;
}

export interface RequestToSign {
  readonly method: string;
  /** Absolute URL, as it will be sent. */
  readonly url: string | URL;
  /** The exact bytes that will be sent. */
  readonly body?: string | Uint8Array | undefined;
}

/** Fixed time and nonce for tests. If left out: the current time and a new nonce. */
export interface SignedAt {
  /** Time of the signature, in epoch seconds. */
  readonly timestamp?: string;
  readonly nonce?: string;
}

/** Returns the four headers of one try. Sign every try anew: a nonce is accepted only once. */
export type Signer = (
  request: RequestToSign,
  at?: SignedAt,
) => Promise<Readonly<Record<string, string>>>;

/**
 * Makes hashes, signatures and nonces, all in lowercase hex. The default is WebCrypto, which Node
 * and all browsers have.
 */
export interface Hashing {
  readonly sha256: (bytes: Bytes) => string | Promise<string>;
  /** Returns a function that signs text with the secret: HMAC-SHA256 over both as UTF-8. */
  readonly hmac: (secret: string) => (text: string) => string | Promise<string>;
  /** Returns `count` random bytes. */
  readonly randomHex: (count: number) => string;
}

const WEB_CRYPTO: Hashing = { sha256, hmac: webHmac, randomHex };

/** Header names that only a signer sets. */
export const SIGNED_HEADERS =
  /^x-svc-(key-id|timestamp|nonce|signature|dashboard-(operator|timestamp|nonce|signature))$/i;

const NO_BODY = new Uint8Array();

/**
 * Returns the signer of a key. With WebCrypto the secret is imported once, as a key that cannot be
 * exported; a key of WebCrypto signs there whatever `hashing` is.
 *
 * @throws ClientUsageError for an invalid key id or an empty secret.
 */
export function createSigner({ keyId, secret }: ClientKey, hashing: Hashing = WEB_CRYPTO): Signer {
  if (!/^[!-~]{1,128}$/.test(keyId))
    throw new ClientUsageError('The key id must be 1 to 128 printable characters without spaces.');
  const sign = hmacWith(secret, hashing);
  return async (request, at = {}) => {
    const { timestamp = nowInSeconds(), nonce = hashing.randomHex(16) } = at;
    const text = await canonicalText(request, { timestamp, nonce }, hashing);
    return {
      'X-SVC-Key-Id': keyId,
      'X-SVC-Timestamp': timestamp,
      'X-SVC-Nonce': nonce,
      'X-SVC-Signature': await sign(text),
    };
  };
}

/**
 * Signs an operator's requests under `/dashboard/`. There the service issues the nonces
 * (`GET /dashboard/nonce`), so that no request can be signed in advance; `issuedNonce` fetches one
 * nonce for each signature. Without `issuedNonce` nonces are random; the service takes random
 * nonces only on the allowlist routes, and only from keys in its key file.
 *
 * @throws ClientUsageError for an invalid operator or an empty secret.
 */
export function createDashboardSigner(
  { operator, secret }: DashboardKey,
  issuedNonce: () => Promise<string> = () => Promise.resolve(randomHex(16)),
): Signer {
  if (!/^[!-~]{1,128}$/.test(operator))
    throw new ClientUsageError(
      'The operator must be 1 to 128 printable characters without spaces.',
    );
  const sign = hmacWith(secret);
  return async (request, at = {}) => {
    const nonce = at.nonce ?? (await issuedNonce());
    const { timestamp = nowInSeconds() } = at;
    const lines = await canonicalText(request, { timestamp, nonce });
    return {
      'X-SVC-Dashboard-Operator': operator,
      'X-SVC-Dashboard-Timestamp': timestamp,
      'X-SVC-Dashboard-Nonce': nonce,
      'X-SVC-Dashboard-Signature': `v3=${await sign(`SVC-DASHBOARD-V3\n${lines}\n${operator}`)}`,
    };
  };
}

/** Crockford base32 digits: no two of them look alike. */
const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const FINGERPRINT_BITS = 80;

/**
 * Returns the fingerprint that two people compare before a key becomes valid: the first 80 bits of
 * an HMAC with the secret as its key, as four groups of four digits. The fingerprint does not
 * reveal the secret.
 */
export async function dashboardFingerprint({ operator, secret }: DashboardKey): Promise<string> {
  return groupsOf(await hmacWith(secret)(`SVC-DASHBOARD-FINGERPRINT\n${operator}`));
}

/** Returns the first 80 bits of a hash (256 bits in hex) as four groups of four digits. */
export function groupsOf(hash: string): string {
  const bits = BigInt(`0x${hash}`).toString(2).padStart(256, '0').slice(0, FINGERPRINT_BITS);
  const digits = (bits.match(/.{5}/g) ?? []).map((each) => DIGITS[Number.parseInt(each, 2)]);
  return (digits.join('').match(/.{4}/g) ?? []).join('-');
}

function nowInSeconds(): string {
  return String(Math.floor(Date.now() / 1000));
}

/** @throws ClientUsageError for an empty secret. */
function hmacWith(
  secret: string | HmacKey,
  hashing: Hashing = WEB_CRYPTO,
): (text: string) => string | Promise<string> {
  if (secret === '') throw new ClientUsageError('The secret is empty.');
  return typeof secret === 'string' ? hashing.hmac(secret) : webHmac(secret);
}

function webHmac(secret: string | HmacKey): (text: string) => Promise<string> {
  let imported: Promise<HmacKey> | undefined;
  const key = (): Promise<HmacKey> =>
    (imported ??= Promise.resolve(
      typeof secret === 'string' ? importHmacKey(utf8(secret), ['sign']) : secret,
    ));
  return async (text) => hex(new Uint8Array(await subtle().sign('HMAC', await key(), utf8(text))));
}

/** Returns the headers of {@link createSigner} for one request. */
export function signatureHeaders(
  key: ClientKey,
  request: RequestToSign,
  at?: SignedAt,
): Promise<Readonly<Record<string, string>>> {
  return createSigner(key)(request, at);
}

/** Returns the lines to sign: method, path decoded once, query as sent, body hash, time, nonce. */
async function canonicalText(
  { method, url, body }: RequestToSign,
  at: Required<SignedAt>,
  hashing: Hashing = WEB_CRYPTO,
): Promise<string> {
  const { pathname, search } = new URL(url);
  return [
    method,
    decodeURIComponent(pathname),
    search.slice(1),
    await hashing.sha256(bytesOf(body)),
    at.timestamp,
    at.nonce,
  ].join('\n');
}

function bytesOf(body: string | Uint8Array | undefined): Bytes {
  if (body === undefined) return NO_BODY;
  return typeof body === 'string' ? utf8(body) : ownBytes(body);
}
