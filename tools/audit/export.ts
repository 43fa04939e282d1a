/**
 * Writes the audit records of a time range, with their seals, to a signed file that can be checked
 * without the database.
 */
import { sign, type KeyObject } from 'node:crypto';
import { open, rm, type FileHandle } from 'node:fs/promises';
import { eventHash, EMPTY_CHAIN, type ChainHead } from '../../platform/audit-chain.ts';
import type { Database } from '../../prisma/client.ts';
import { readHead, readSealed, readSealedRange, type SealedRow } from '../../store/audit-seals.ts';
import { ToolError } from '../io.ts';
import {
  BUNDLE,
  derOf,
  digest,
  lineOf,
  signedText,
  type HeadLine,
  type SealLine,
} from './bundle.ts';

const PAGE = 1_000;

export interface ExportOptions {
  /** Start of the time range, inclusive; ISO 8601 in UTC. */
  readonly from: string;
  /** End of the time range, exclusive; ISO 8601 in UTC. */
  readonly to: string;
  readonly out: string;
  readonly key: KeyObject;
}

export interface Exported {
  readonly records: number;
  readonly seals: number;
  readonly head: HeadLine['head'];
  readonly sha256: string;
}

/** Writes the file `out`, which must not exist. After an error the file is removed. */
export async function exportAudit(db: Database, options: ExportOptions): Promise<Exported> {
  const { from, to, out } = options;
  const range = await readSealedRange(db, from, to);
  if (range.unsealed > 0) {
    throw new ToolError(
      `${String(range.unsealed)} rows of this time are not sealed yet. Choose an earlier --to, or try again when they are.`,
    );
  }
  const file = await open(out, 'wx', 0o600).catch((error: unknown) => {
    throw new ToolError(
      `${out} cannot be written: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  });
  try {
    const head = placeOf(await readHead(db));
    const before = range.first === null ? 0n : range.first - 1n;
    const previous = placeOf(await headAt(db, before));
    const exported_at = new Date().toISOString();
    const first: HeadLine = { bundle: BUNDLE, version: 1, from, to, exported_at, previous, head };
    return await writeLines(db, file, first, { ...options, last: range.last ?? 0n });
  } catch (error) {
    await rm(out, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

async function writeLines(
  db: Database,
  file: FileHandle,
  first: HeadLine,
  options: ExportOptions & { readonly last: bigint },
): Promise<Exported> {
  const hash = digest();
  const write = async (text: string): Promise<void> => {
    hash.update(text);
    await file.writeFile(text);
  };
  await write(lineOf(first));
  let records = 0;
  let at = BigInt(first.previous.position);
  while (at < options.last) {
    const page = (await readSealed(db, at, PAGE)).filter(
      ({ seal }) => seal.position <= options.last,
    );
    const lines = page.map((pair) => toLine(pair, options));
    records += lines.filter(({ record }) => record !== null).length;
    await write(lines.map(lineOf).join(''));
    const last = page.at(-1)?.seal.position;
    if (last === undefined) throw brokenAt(at + 1n);
    at = last;
  }
  const counted = {
    seals: Number(at) - first.previous.position,
    records,
    sha256: hash.digest('hex'),
  };
  const signature = sign(null, signedText(counted), options.key).toString('base64');
  await file.writeFile(
    lineOf({ ...counted, public_key: derOf(options.key).toString('base64'), signature }),
  );
  await file.sync();
  return { ...counted, head: first.head };
}

/**
 * Returns the line of a seal. A record outside the time range is left out; its seal stays, because
 * the chain of hashes includes it.
 */
function toLine({ seal, row }: SealedRow, { from, to }: ExportOptions): SealLine {
  const { position, event_id, event_hash, chain_hash } = seal;
  if (row === null || eventHash(row.record) !== event_hash) throw brokenAt(position);
  const time = Date.parse(row.record.occurred_at);
  const inside = time >= Date.parse(from) && time < Date.parse(to);
  return {
    seal: { position: Number(position), event_id, event_hash, chain_hash },
    record: inside ? { ...row.record } : null,
  };
}

async function headAt(db: Database, position: bigint): Promise<ChainHead> {
  if (position === 0n) return EMPTY_CHAIN;
  const [found] = await readSealed(db, position - 1n, 1);
  if (found?.seal.position !== position) throw brokenAt(position);
  return found.seal;
}

function placeOf({ position, chain_hash }: ChainHead): HeadLine['head'] {
  return { position: Number(position), chain_hash };
}

function brokenAt(position: bigint): ToolError {
  return new ToolError(
    `The chain is not whole at position ${String(position)}: run fundadmin audit verify.`,
  );
}
