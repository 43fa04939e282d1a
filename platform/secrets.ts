/**
 * The service's own key for what it keeps secret in the database, and for what it vouches for
 * there:
 * reading the setting, sealing texts, deriving further keys.
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

/**
 * A key and the name that sealed texts carry for it. A KeyObject prints and serialises without its
 * bytes.
 */
export interface SecretsKey {
  /** The first 8 hex digits of the SHA-256 of the key's bytes. */
  readonly id: string;
  readonly key: KeyObject;
}

/** The first seals; all open. */
export type SecretsKeys = readonly SecretsKey[];

export type ParsedSecretsKeys =
  | { readonly ok: true; readonly keys: SecretsKeys }
  | { readonly ok: false; readonly faults: readonly string[] };

/**
 * A sealed text that cannot be made or read; the message names the setting to look at and nothing
 * secret.
 */
export class SecretsError extends Error {
  override readonly name = 'SecretsError';
}

/** 32 bytes in standard base64. */
const KEY_TEXT = /^[A-Za-z0-9+/]{43}=$/;
const CIPHER = 'aes-256-gcm';
/** The layout of a sealed text: version, key id, IV, ciphertext, tag. */
const VERSION = 1;
const ID_BYTES = 4;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + ID_BYTES + IV_BYTES;

/**
 * Reads one or several keys, separated by commas. Faults name an entry by its place alone: what
 * stands in a malformed one may be a key.
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
 * Encrypts `plaintext` with the first key. It opens only together with the same `associated`, e.g.
 * the id of its row.
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

/** What was sealed, or a {@link SecretsError} that says why it cannot be read. */
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
      `the text sealed with key ${id} of SVC_SECRETS_KEY was altered, or belongs to something else`,
    );
  }
}

/**
 * A key for one purpose from each key, in their order. Nothing leads from it back, or to that of
 * another `info`.
 */
export function deriveKeys(keys: SecretsKeys, info: string): readonly KeyObject[] {
  return keys.map(({ key }) =>
    createSecretKey(Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), info, 32))),
  );
}

function ivOf(head: Buffer): Buffer {
  return head.subarray(1 + ID_BYTES);
}

/** The tag covers version and key id too, so nothing of the layout can be exchanged unnoticed. */
function bound(head: Buffer, associated: string): Buffer {
  return Buffer.concat([head.subarray(0, 1 + ID_BYTES), Buffer.from(associated, 'utf8')]);
}
