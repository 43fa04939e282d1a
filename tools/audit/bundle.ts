/**
 * The exported bundle: lines of canonical JSON. A header, then a line for each seal with its record
 * (null when the record lies outside the requested time), then a signature over all of them.
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
  /** Records from here on, inclusive, and before `to`. */
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  exported_at: z.iso.datetime(),
  /** Of the seal before the first one of this bundle. */
  previous: z.strictObject({ position, chain_hash: hash }),
  /**
   * Where the chain ended at the time of the export; `audit verify --expect-head` takes it later.
   */
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
  /** Of every byte before this line. */
  sha256: hash,
  /** Base64 of the public key (SPKI, DER) and of its Ed25519 signature over {@link signedText}. */
  public_key: z.string().max(200),
  signature: z.string().max(200),
});
export type SignatureLine = z.output<typeof signatureLine>;

/** One line with its end. */
export function lineOf(value: HeadLine | SealLine | SignatureLine): string {
  const text = canonicalize(value);
  if (text === undefined) throw new Error('a line of a bundle has no canonical form');
  return `${text}\n`;
}

/** What is signed: the digest of the lines, and that it is one of such a bundle. */
export function signedText(line: Pick<SignatureLine, 'seals' | 'records' | 'sha256'>): Buffer {
  return Buffer.from(`${BUNDLE}/1 ${String(line.seals)} ${String(line.records)} ${line.sha256}`);
}

/** A digest of lines as they come. */
export function digest(): Hash {
  return createHash('sha256');
}

/** The short name of a public key: SHA-256 of its DER. */
export function fingerprint(key: KeyObject): string {
  return createHash('sha256').update(derOf(key)).digest('hex');
}

/** The public key, of a pair too, in DER. */
export function derOf(key: KeyObject): Buffer {
  return (key.type === 'private' ? createPublicKey(key) : key).export({
    type: 'spki',
    format: 'der',
  });
}
