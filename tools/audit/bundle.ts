/**
 * The format of an exported bundle: lines of canonical JSON. A header; then one line per seal with
 * its record (null when the record is outside the requested time range); then a signature over all
 * lines before it.
 */
import { createHash, createPublicKey, type Hash, type KeyObject } from 'node:crypto';
import canonicalize from 'canonicalize';
import { z } from 'zod';

export const BUNDLE = 'fund-movement-audit';

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const position = z.int().min(0);
const nullableText = z.string().nullable();

export const headLine = z.strictObject({
  bundle: z.literal(BUNDLE),
  version: z.literal(1),
  /** Start (inclusive) and end (exclusive) of the time range of the records. */
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  exported_at: z.iso.datetime(),
  /** Position and hash of the seal before the first seal of this bundle. */
  previous: z.strictObject({ position, chain_hash: hash }),
  /** The chain's last seal at export time; for a later `audit verify --expect-head`. */
  head: z.strictObject({ position, chain_hash: hash }),
});
export type HeadLine = z.output<typeof headLine>;

export const sealLine = z.strictObject({
  seal: z.strictObject({ position, event_id: z.string(), event_hash: hash, chain_hash: hash }),
  record: z
    .strictObject({
      event_id: z.string(),
      occurred_at: z.iso.datetime(),
      actor_client_id: nullableText,
      actor_key_id: nullableText,
      actor_role: nullableText,
      namespace: nullableText,
      action: z.string(),
      entity_type: z.string(),
      entity_key: z.string(),
      outcome: z.string(),
      request_id: nullableText,
      reason: nullableText,
      details: z.record(z.string(), z.unknown()),
    })
    .nullable(),
});
export type SealLine = z.output<typeof sealLine>;

export const signatureLine = z.strictObject({
  seals: position,
  records: position,
  /** SHA-256 of all bytes before this line. */
  sha256: hash,
  /**
   * The public key (SPKI, DER) and, in `signature`, its Ed25519 signature over {@link signedText};
   * both in base64.
   */
  public_key: z.string().max(200),
  signature: z.string().max(200),
});
export type SignatureLine = z.output<typeof signatureLine>;

/** Returns one line of the bundle, with its line end. */
export function lineOf(value: HeadLine | SealLine | SignatureLine): string {
  const text = canonicalize(value);
  if (text === undefined) throw new Error('a line of the bundle cannot be canonical JSON');
  return `${text}\n`;
}

/** Returns the text to sign: the format's name, the counts, and the digest of the lines. */
export function signedText(line: Pick<SignatureLine, 'seals' | 'records' | 'sha256'>): Buffer {
  return Buffer.from(`${BUNDLE}/1 ${String(line.seals)} ${String(line.records)} ${line.sha256}`);
}

/** Creates the hash to which the lines are added one by one. */
export function digest(): Hash {
  return createHash('sha256');
}

/** Returns the fingerprint of a public key: SHA-256 of its DER form. */
export function fingerprint(key: KeyObject): string {
  return createHash('sha256').update(derOf(key)).digest('hex');
}

/** Returns a public key, or the public part of a private key, in DER form. */
export function derOf(key: KeyObject): Buffer {
  return (key.type === 'private' ? createPublicKey(key) : key).export({
    type: 'spki',
    format: 'der',
  });
}
