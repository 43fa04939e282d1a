import { openAppendLog, type AppendLog } from '../kit/append-log.ts';
import type { Hex } from '../kit/hex.ts';

/** A raw transaction as received, recorded before the chain gets it. */
export interface JournalTransaction {
  kind: 'tx';
  seq: number;
  hash: Hex;
  raw: Hex;
  at: string;
}

/** The chain refused transaction `seq`, so a replay must skip it. */
export interface JournalRejection {
  kind: 'rejected';
  seq: number;
  error: string;
}

/** A block, with its transactions. */
export interface JournalBlock {
  kind: 'block';
  number: number;
  time: number;
  txs: Hex[];
}

/** The blocks above `number` were removed, with their transactions. */
export interface JournalRollback {
  kind: 'rollback';
  number: number;
}

export type JournalEntry = JournalTransaction | JournalRejection | JournalBlock | JournalRollback;

/**
 * Every change of the local chain, in order, one JSON object on each line. Anvil keeps the chain in
 * memory only, and each start rebuilds it from this file.
 */
export class Journal {
  readonly entries: JournalEntry[];
  private readonly log: AppendLog<JournalEntry>;
  private readonly byHash = new Map<Hex, JournalTransaction>();
  private readonly rejected = new Set<number>();
  private readonly mined = new Set<Hex>();
  private chain: JournalBlock[] = [];
  private lastSeq = 0;

  constructor(path: string) {
    this.log = openAppendLog(path, { parse: (entry) => entry as JournalEntry });
    this.entries = [...this.log.events];
    for (const entry of this.entries) this.note(entry);
  }

  /** Records a transaction; it is on disk when this returns. */
  appendTransaction(hash: Hex, raw: Hex): JournalTransaction {
    const seq = this.lastSeq + 1;
    const entry: JournalTransaction = { kind: 'tx', seq, hash, raw, at: new Date().toISOString() };
    this.append(entry, true);
    return entry;
  }

  /** Records that the chain refused a transaction. */
  reject(seq: number, error: string): void {
    this.append({ kind: 'rejected', seq, error });
  }

  /** Records a block. */
  appendBlock(block: Omit<JournalBlock, 'kind'>): void {
    this.append({ kind: 'block', ...block });
  }

  /** Records that the blocks above `number` are no longer part of the chain. */
  appendRollback(number: number): void {
    this.append({ kind: 'rollback', number });
  }

  /** Returns the transaction with this hash, unless the chain refused it. */
  accepted(hash: Hex): JournalTransaction | undefined {
    return this.byHash.get(hash);
  }

  /** Returns the accepted transactions that are in no block, in order. */
  pending(): JournalTransaction[] {
    return [...this.byHash.values()]
      .filter((entry) => !this.mined.has(entry.hash))
      .sort((a, b) => a.seq - b.seq);
  }

  blocks(): JournalBlock[] {
    return [...this.chain];
  }

  /** Returns all transactions with their status, for people and tests. */
  view(): (Omit<JournalTransaction, 'kind'> & { status: 'accepted' | 'rejected' | 'mined' })[] {
    return this.entries.flatMap((entry) => {
      if (entry.kind !== 'tx') return [];
      const { kind: _, ...rest } = entry;
      const status = this.rejected.has(entry.seq)
        ? 'rejected'
        : this.mined.has(entry.hash)
          ? 'mined'
          : 'accepted';
      return [{ ...rest, status }];
    });
  }

  close(): void {
    this.log.close();
  }

  private append(entry: JournalEntry, durable = false): void {
    this.log.append(entry, durable);
    this.entries.push(entry);
    this.note(entry);
  }

  private note(entry: JournalEntry): void {
    if (entry.kind === 'tx') {
      this.lastSeq = entry.seq;
      this.byHash.set(entry.hash, entry);
    } else if (entry.kind === 'block') {
      for (const hash of entry.txs) this.mined.add(hash);
      this.chain.push(entry);
    } else if (entry.kind === 'rollback') {
      const dropped = this.chain.filter(({ number }) => number > entry.number);
      for (const hash of dropped.flatMap(({ txs }) => txs)) this.mined.delete(hash);
      this.chain = this.chain.filter(({ number }) => number <= entry.number);
    } else {
      this.rejected.add(entry.seq);
      for (const [hash, transaction] of this.byHash)
        if (transaction.seq === entry.seq) this.byHash.delete(hash);
    }
  }
}
