import type { Hex } from '../kit/hex.ts';
import type { ChainEngine } from './engine.ts';
import type { Journal } from './journal.ts';

/**
 * Sends the signed transactions that the journal does not contain. Signatures are deterministic, so
 * an earlier deployment consists of exactly the same transactions.
 */
export async function deployOnce(
  engine: ChainEngine,
  journal: Journal,
  transactions: readonly Hex[],
): Promise<void> {
  for (const raw of transactions) {
    if (journal.view().some((entry) => entry.raw === raw && entry.status !== 'rejected')) continue;
    await engine.send(raw);
  }
  if (journal.pending().length > 0) await engine.mine(1);
}
