/**
 * The hash chain over audit records: hash of a record, sequence of seals, and the MACs that
 * authenticate both.
 */
import { createHash, createHmac, timingSafeEqual, type KeyObject } from 'node:crypto';
import {
  canonicalRecord,
  vouchedText,
  type AuditRecord,
  type VouchedRow,
} from '../domain/audit.ts';
import { deriveKeys, type SecretsKeys } from './secrets.ts';

/** One link of the chain; hashes are in lower-case hex. */
export interface AuditSeal {
  /** Position in the chain, from 1, without gaps. */
  readonly position: bigint;
  readonly event_id: string;
  readonly event_hash: string;
  readonly chain_hash: string;
  /** Null if the sealing process had no key. */
  readonly mac: string | null;
}

/** Position and hash of a chain's last link. */
export type ChainHead = Pick<AuditSeal, 'position' | 'chain_hash'>;

/** The head of a chain without seals. */
export const EMPTY_CHAIN: ChainHead = { position: 0n, chain_hash: '00'.repeat(32) };

/** Returns the SHA-256 of the record's canonical JSON. */
export function eventHash(record: AuditRecord): string {
  return createHash('sha256').update(canonicalRecord(record), 'utf8').digest('hex');
}

/**
 * Returns the SHA-256 over the previous chain hash, the position as 8 bytes big-endian, and the
 * event hash.
 */
export function chainHash(previous: string, position: bigint, event: string): string {
  const place = Buffer.alloc(8);
  place.writeBigUInt64BE(position);
  return createHash('sha256')
    .update(previous, 'hex')
    .update(place)
    .update(event, 'hex')
    .digest('hex');
}

/** Returns the seals for `records`, in order, that follow `head`. */
export function sealRecords(
  head: ChainHead,
  records: readonly AuditRecord[],
  macs: AuditMacs,
): readonly AuditSeal[] {
  let at = head;
  return records.map((record) => {
    const event_hash = eventHash(record);
    const position = at.position + 1n;
    const chain_hash = chainHash(at.chain_hash, position, event_hash);
    at = { position, chain_hash };
    return {
      position,
      event_id: record.event_id,
      event_hash,
      chain_hash,
      mac: macs.ofSeal(chain_hash),
    };
  });
}

/** Makes and checks MACs in lower-case hex. Without a key it makes no MAC and accepts none. */
export interface AuditMacs {
  readonly keyed: boolean;
  ofRow(row: VouchedRow): string | null;
  ofSeal(chainHash: string): string | null;
  isOfRow(row: VouchedRow, mac: string | null): boolean;
  isOfSeal(chainHash: string, mac: string | null): boolean;
}

/**
 * Returns the keys for audit rows, derived from `secrets`: they can authenticate rows, but decrypt
 * no caller's secret.
 */
export function auditKeys(secrets: SecretsKeys): readonly KeyObject[] {
  return deriveKeys(secrets, 'audit');
}

/**
 * Creates the MACs. The first key makes them and every key is accepted, so that a key can be
 * changed. `own` are keys for audit rows only; without them the keys are derived from `secrets`.
 */
export function createAuditMacs(secrets: SecretsKeys, own: SecretsKeys = []): AuditMacs {
  const keys = own.length > 0 ? own.map(({ key }) => key) : auditKeys(secrets);
  const [first] = keys;
  const make = (key: KeyObject, data: string | Buffer): Buffer =>
    createHmac('sha256', key).update(data).digest();
  const made = (data: string | Buffer): string | null =>
    first === undefined ? null : make(first, data).toString('hex');
  const believed = (data: string | Buffer, mac: string | null): boolean => {
    const bytes = Buffer.from(mac ?? '', 'hex');
    return keys.some((key) => {
      const right = make(key, data);
      return right.byteLength === bytes.byteLength && timingSafeEqual(right, bytes);
    });
  };
  return {
    keyed: first !== undefined,
    ofRow: (row) => made(vouchedText(row)),
    ofSeal: (hash) => made(Buffer.from(hash, 'hex')),
    isOfRow: (row, mac) => believed(vouchedText(row), mac),
    isOfSeal: (hash, mac) => believed(Buffer.from(hash, 'hex'), mac),
  };
}
