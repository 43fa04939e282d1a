import { keccak256 } from '../kit/viem.ts';
import type { ChainNode } from './node.ts';
import { RpcError } from './node.ts';
import { createTurns } from '../kit/turns.ts';
import type { Hex } from '../kit/hex.ts';
import type { Journal } from './journal.ts';

/**
 * Number of empty blocks after a block with transactions, so that its transactions become final.
 */
const IDLE_BLOCKS = 16;
const IDLE_INTERVAL_MS = 1_000;
/** Transactions that arrive within this time share a block. */
const GATHER_MS = 10;

/** The replay made a chain that differs from the journal. */
export class ReplayError extends Error {
  override name = 'ReplayError';
}

/**
 * The only writer of the chain: records transactions in the journal, then makes the blocks. The
 * engine decides and records each block, so a replay of the journal gives the same transactions in
 * blocks of the same numbers.
 */
export class ChainEngine {
  private readonly node: ChainNode;
  private readonly journal: Journal;
  /** Runs changes of the chain one at a time. */
  private readonly exclusively = createTurns();
  private head = { number: 0, time: 0 };
  private idleLeft = 0;
  private timer: NodeJS.Timeout | null = null;
  private due = 0;
  private mining = true;
  /** Called when anvil no longer works; the process must then restart. */
  onBroken: (error: unknown) => void = () => undefined;

  constructor(node: ChainNode, journal: Journal) {
    this.node = node;
    this.journal = journal;
  }

  /** Rebuilds the chain from the journal. */
  async replay(): Promise<void> {
    for (const block of this.journal.blocks()) {
      for (const hash of block.txs) {
        const entry = this.journal.accepted(hash);
        if (entry !== undefined) await this.node.call('eth_sendRawTransaction', [entry.raw]);
      }
      const made = await this.mineOnNode(block.time);
      if (made.number !== block.number || made.txs.length !== block.txs.length) {
        throw new ReplayError(
          `Block ${block.number} of the journal came out as block ${made.number} with ${made.txs.length} of ` +
            `${block.txs.length} transactions. The chain program may have changed; remove the data folder to start anew.`,
        );
      }
    }
    for (const entry of this.journal.pending()) {
      // Recorded but in no block: never confirmed to its caller, or waiting for an earlier nonce. A
      // replaced transaction is refused again.
      await this.node.call('eth_sendRawTransaction', [entry.raw]).catch((error: unknown) => {
        if (error instanceof RpcError) this.journal.reject(entry.seq, error.message);
        else throw error;
      });
    }
    this.idleLeft = IDLE_BLOCKS;
    this.plan(GATHER_MS);
  }

  /** Sends a raw transaction; returns its hash, or throws the chain's refusal as an RpcError. */
  send(raw: Hex): Promise<Hex> {
    return this.exclusively(async () => {
      const hash = keccak256(raw);
      const known = this.journal.accepted(hash);
      const entry = known ?? this.journal.appendTransaction(hash, raw);
      try {
        await this.node.call<Hex>('eth_sendRawTransaction', [raw]);
      } catch (error) {
        if (!(error instanceof RpcError)) this.onBroken(error);
        else if (known === undefined) this.journal.reject(entry.seq, error.message);
        throw error;
      }
      this.idleLeft = IDLE_BLOCKS;
      this.plan(GATHER_MS);
      return hash;
    });
  }

  /** Makes blocks now, also while mining is paused. */
  mine(count: number): Promise<void> {
    return this.exclusively(async () => {
      for (let made = 0; made < count; made += 1) await this.mineBlock();
    });
  }

  /**
   * Removes the newest blocks, as a reorganisation does. Their transactions are then in no block
   * and in no pool.
   */
  rollback(depth: number): Promise<void> {
    return this.exclusively(async () => {
      if (depth > this.head.number) throw new RpcError(-32_602, 'There are not so many blocks.');
      await this.node.call('anvil_rollback', [depth]);
      const number = this.head.number - depth;
      this.journal.appendRollback(number);
      this.head = { ...this.head, number };
    });
  }

  /** Pauses or resumes block production; transactions wait in the pool meanwhile. */
  setMining(on: boolean): void {
    this.mining = on;
    if (on) this.plan(GATHER_MS);
  }

  private plan(delay: number): void {
    const at = Date.now() + delay;
    if (!this.mining || (this.timer !== null && this.due <= at)) return;
    if (this.timer !== null) clearTimeout(this.timer);
    this.due = at;
    this.timer = setTimeout(() => {
      this.timer = null;
      void this.exclusively(() => this.tick()).catch((error: unknown) => this.onBroken(error));
    }, delay);
  }

  private async tick(): Promise<void> {
    if (!this.mining) return;
    const took = await this.mineBlock();
    this.idleLeft = took > 0 ? IDLE_BLOCKS : this.idleLeft - 1;
    if (this.idleLeft > 0) this.plan(IDLE_INTERVAL_MS);
  }

  private async mineBlock(): Promise<number> {
    const time = Math.max(Math.floor(Date.now() / 1000), this.head.time + 1);
    const block = await this.mineOnNode(time);
    this.journal.appendBlock(block);
    return block.txs.length;
  }

  private async mineOnNode(time: number): Promise<{ number: number; time: number; txs: Hex[] }> {
    const [block] = await this.node.call<{ number: Hex; transactions: ({ hash: Hex } | Hex)[] }[]>(
      'evm_mine_detailed',
      [{ timestamp: time }],
    );
    if (block === undefined) throw new ReplayError('The chain made no block.');
    this.head = { number: Number(block.number), time };
    const txs = block.transactions.map((entry) => (typeof entry === 'string' ? entry : entry.hash));
    return { number: this.head.number, time, txs };
  }
}
