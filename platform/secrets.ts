/**
 * The service's own keys for secrets in the database and for authenticating rows there: reads the
 * setting, seals texts, derives further keys.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  hkdfSync,
  randomBytes,
  type KeyObject,
} from 'node:crypto';

/** A key and its id in sealed texts. A KeyObject prints and serialises without its bytes. */
export interface SecretsKey {
  /** The first 8 hex digits of the SHA-256 of the key's bytes. */
  readonly id: string;
  readonly key: KeyObject;
}

/** The first key seals; every key opens. */
export type SecretsKeys = readonly SecretsKey[];

export type ParsedSecretsKeys =
  | { readonly ok: true; readonly keys: SecretsKeys }
  | { readonly ok: false; readonly faults: readonly string[] };

/** A text that cannot be sealed or opened; the message names the setting and nothing secret. */
export class SecretsError extends Error {
  override readonly name = 'SecretsError';
}

/** 32 bytes in standard base64. */
const KEY_TEXT = /^[A-Za-z0-9+/]{43}=$/;
const CIPHER = 'aes-256-gcm';
/** Version of a sealed text's layout: version, key id, IV, ciphertext, tag. */
const VERSION = 1;
const ID_BYTES = 4;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + ID_BYTES + IV_BYTES;

/**
 * Reads one or several keys, separated by commas. Faults name an entry only by its position: a
 * malformed entry may contain a key.
 */
export function parseSecretsKey(text: string): ParsedSecretsKeys {
  const faults: string[] = [];
  const keys = new Map<string, SecretsKey>();
  for (const [index, entry] of text.split(',').entries()) {
    const place = `entry ${String(index + 1)}`;
    const encoded = entry.trim();
    if (!KEY_TEXT.test(encoded)) {
      faults.push(`${place} must be the base64 of exactly 32 bytes (openssl rand -base64 32)`);
      continue;
    }
    const bytes = Buffer.from(encoded, 'base64');
    const id = createHash('sha256')
      .update(bytes)
      .digest('hex')
      .slice(0, ID_BYTES * 2);
    if (keys.has(id)) faults.push(`${place} is the key of an earlier one`);
    else keys.set(id, { id, key: createSecretKey(bytes) });
    bytes.fill(0);
  }
  return faults.length > 0 ? { ok: false, faults } : { ok: true, keys: [...keys.values()] };
}

/**
 * Encrypts `plaintext` with the first key. Decryption needs the same `associated` text, e.g. the id
 * of the secret's row.
 */
export function sealSecret(keys: SecretsKeys, plaintext: string, associated: string): Buffer {
  const [first] = keys;
  if (first === undefined)
    throw new SecretsError('no key is set to encrypt with; set SVC_SECRETS_KEY');
  const head = Buffer.concat([
    Buffer.of(VERSION),
    Buffer.from(first.id, 'hex'),
    randomBytes(IV_BYTES),
  ]);
  const cipher = createCipheriv(CIPHER, first.key, ivOf(head), { authTagLength: TAG_BYTES });
  cipher.setAAD(bound(head, associated));
  return Buffer.concat([
    head,
    cipher.update(plaintext, 'utf8'),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
}

/** Returns the decrypted text; throws a {@link SecretsError} that says why it cannot be read. */
export function openSecret(keys: SecretsKeys, sealed: Uint8Array, associated: string): string {
  const bytes = Buffer.from(sealed);
  if (bytes.byteLength < HEAD_BYTES + TAG_BYTES)
    throw new SecretsError('the sealed text is cut short');
  if (bytes[0] !== VERSION)
    throw new SecretsError('the sealed text is of a version that this release does not know');
  const id = bytes.toString('hex', 1, 1 + ID_BYTES);
  const known = keys.find((each) => each.id === id);
  if (known === undefined)
    throw new SecretsError(
      `the text is sealed with key ${id}, which SVC_SECRETS_KEY does not hold`,
    );
  const head = bytes.subarray(0, HEAD_BYTES);
  const end = bytes.byteLength - TAG_BYTES;
  try {
    const decipher = createDecipheriv(CIPHER, known.key, ivOf(head), { authTagLength: TAG_BYTES });
    decipher.setAAD(bound(head, associated)).setAuthTag(bytes.subarray(end));
    return Buffer.concat([
      decipher.update(bytes.subarray(HEAD_BYTES, end)),
      decipher.final(),
    ]).toString('utf8');
  } catch {
    throw new SecretsError(
      `the text sealed with key ${id} of SVC_SECRETS_KEY was altered, or was moved from another row`,
    );
  }
}

/**
 * Returns a key for one purpose from each key, in order. A derived key reveals neither its source
 * nor the key of another `info`.
 */
export function deriveKeys(keys: SecretsKeys, info: string): readonly KeyObject[] {
  return keys.map(({ key }) =>
    createSecretKey(Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), info, 32))),
  );
}

function ivOf(head: Buffer): Buffer {
  return head.subarray(1 + ID_BYTES);
}

/**
 * Returns the associated data. It includes version and key id, so that no part of the layout can be
 * changed unnoticed.
 */
function bound(head: Buffer, associated: string): Buffer {
  return Buffer.concat([head.subarray(0, 1 + ID_BYTES), Buffer.from(associated, 'utf8')]);
}
