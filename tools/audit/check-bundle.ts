/**
 * Checks an exported bundle without a database: its signature, its chain and its records.
 */
import { createPublicKey, verify, type KeyObject } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { z } from 'zod';
import type { JsonObject } from '../../domain/json.ts';
import { chainHash, eventHash, EMPTY_CHAIN, type ChainHead } from '../../platform/audit-chain.ts';
import { placeOf } from '../../domain/json.ts';
import {
  digest,
  fingerprint,
  headLine,
  sealLine,
  signatureLine,
  signedText,
  type HeadLine,
  type SealLine,
} from './bundle.ts';

/** Longest line in bytes, far above any record: a file without line ends must not fill memory. */
const LINE_LIMIT = 16 * 1024 * 1024;

export interface BundleCheck {
  readonly ok: boolean;
  readonly from?: string;
  readonly to?: string;
  readonly records: number;
  readonly seals: number;
  readonly head?: HeadLine['head'];
  /** Fingerprint (SHA-256) of the public key that made the signature. */
  readonly signed_by?: string;
  /**
   * True when the signing key is the expected key. False when no key was expected: then anybody may
   * have signed.
   */
  readonly trusted: boolean;
  readonly fault: string | null;
}

class BundleFault extends Error {}

/** Checks the bundle in `file`, which is read once, line by line. */
export async function checkBundle(file: string, expected: KeyObject | null): Promise<BundleCheck> {
  const check = createCheck(expected);
  let number = 0;
  try {
    for await (const line of linesOf(file)) {
      number += 1;
      check.line(line);
    }
    return { ...check.result(), fault: null, ok: true };
  } catch (error) {
    if (!(error instanceof BundleFault)) throw error;
    return {
      ...check.soFar(),
      ok: false,
      trusted: false,
      fault: `line ${String(number)}: ${error.message}`,
    };
  }
}

function createCheck(expected: KeyObject | null) {
  const hash = digest();
  let head: HeadLine | null = null;
  let at: ChainHead = EMPTY_CHAIN;
  let seals = 0;
  let records = 0;
  let signedBy: KeyObject | null = null;

  const begin = (value: unknown): void => {
    head = parsed(headLine, value);
    at = { position: BigInt(head.previous.position), chain_hash: head.previous.chain_hash };
    if (at.position === 0n)
      require(at.chain_hash === EMPTY_CHAIN.chain_hash, 'the header has a wrong previous hash');
  };
  const add = ({ seal, record }: SealLine, { from, to }: HeadLine): void => {
    const position = at.position + 1n;
    require(BigInt(seal.position) === position, 'a seal is missing before this one');
    require(chainHash(at.chain_hash, position, seal.event_hash) ===
      seal.chain_hash, 'the seal does not follow from the seal before it');
    at = { position, chain_hash: seal.chain_hash };
    seals += 1;
    if (record === null) return;
    const details = record.details as JsonObject;
    require(eventHash({ ...record, details }) ===
      seal.event_hash, 'the record is not what was sealed');
    const time = Date.parse(record.occurred_at);
    require(time >= Date.parse(from) &&
      time < Date.parse(to), 'the record is outside the time range of the bundle');
    records += 1;
  };
  const end = (value: unknown, { head: newest }: HeadLine): void => {
    const line = parsed(signatureLine, value);
    const key = publicKey(line.public_key);
    require(line.seals === seals &&
      line.records === records, 'the counts of seals and records are wrong');
    require(line.sha256 === hash.digest('hex'), 'the lines are not those that were signed');
    require(verify(
      null,
      signedText(line),
      key,
      Buffer.from(line.signature, 'base64'),
    ), 'the signature is wrong');
    require(at.position <= BigInt(newest.position), 'the chain is longer than its head says');
    require(at.position < BigInt(newest.position) ||
      at.chain_hash === newest.chain_hash, 'the last seal differs from the head');
    require(expected === null ||
      fingerprint(expected) ===
        fingerprint(key), 'it was signed with another key than --public-key');
    signedBy = key;
  };
  return {
    line(bytes: Buffer): void {
      require(signedBy === null, 'the file continues after the signature');
      const value = parseLine(bytes);
      if (head === null) begin(value);
      else if ('seal' in value) add(parsed(sealLine, value), head);
      else return end(value, head);
      hash.update(bytes).update('\n');
    },
    soFar: () => ({
      records,
      seals,
      ...(head === null ? {} : { from: head.from, to: head.to, head: head.head }),
    }),
    result() {
      if (signedBy === null)
        throw new BundleFault('the signature is missing: the file is cut short');
      return { ...this.soFar(), signed_by: fingerprint(signedBy), trusted: expected !== null };
    },
  };
}

function parseLine(bytes: Buffer): object {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Reported by the error below.
  }
  throw new BundleFault('the line is not a JSON object');
}

function parsed<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new BundleFault(
    `the line is not valid in a bundle (${result.error.issues.map(({ path }) => placeOf(path)).join(', ')})`,
  );
}

function publicKey(base64: string): KeyObject {
  try {
    const key = createPublicKey({
      key: Buffer.from(base64, 'base64'),
      type: 'spki',
      format: 'der',
    });
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // Reported by the error below.
  }
  throw new BundleFault('the public key is no Ed25519 key');
}

function require(holds: boolean, fault: string): void {
  if (!holds) throw new BundleFault(fault);
}

/**
 * Yields the lines of a file as bytes, without their line ends. The last line must have a line end
 * too, or the file was cut short.
 */
async function* linesOf(file: string): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    rest = rest.byteLength === 0 ? chunk : Buffer.concat([rest, chunk]);
    let from = 0;
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10, from)) {
      yield rest.subarray(from, end);
      from = end + 1;
    }
    rest = rest.subarray(from);
    if (rest.byteLength > LINE_LIMIT) throw new BundleFault('the line is too long');
  }
  if (rest.byteLength > 0) throw new BundleFault('the last line is cut short');
}
