/**
 * Credits transfers to the bridge. Source: DOC:for-developers/api/usdc: a plain transfer of the
 * token, credited to its sender; less than 5 USDC is lost.
 */
import type { PerpChain } from './chain.ts';
import { venueNow, type PerpFaults } from './faults.ts';
import { LEAST_DEPOSIT, writeUsd } from './money.ts';
import { record, type Store } from './store.ts';

/** Number of blocks that are read again, since a reorganisation may have changed them. */
const OVERLAP = 32n;

export interface DepositParts {
  readonly store: Store;
  readonly chain: PerpChain;
  readonly faults: () => PerpFaults;
}

/**
 * Returns a function that reads the blocks that are deep enough and credits new transfers, so a
 * transfer that a reorganisation removes earlier is never credited. The first call reads the whole
 * chain.
 */
export function createDepositWatch({ store, chain, faults }: DepositParts): () => Promise<void> {
  let next = 0n;
  return async () => {
    const deepest = (await chain.head()) - BigInt(faults().confirmations) + 1n;
    if (deepest < 0n) return;
    const from = next > OVERLAP ? next - OVERLAP : 0n;
    const arrivals = await chain.arrivals(from > deepest ? deepest : from, deepest);
    for (const { transaction, key, from: sender, units } of arrivals) {
      if (store.book.deposits.has(key) || sender === chain.bridge) continue;
      const at = venueNow(faults());
      const credited = units >= LEAST_DEPOSIT && !faults().swallow_deposits;
      const by = units.toString();
      const delta = { type: 'deposit', usdc: writeUsd(units) };
      record(
        store,
        'chain',
        [
          { does: 'deposit', key, from: sender, units: by, credited },
          ...(credited
            ? [
                { does: 'change' as const, user: sender, pool: 'perp' as const, by },
                // The row has the hash of the transfer's transaction (facts, part 4).
                {
                  does: 'row' as const,
                  row: { users: [sender], time: at, hash: transaction, delta },
                },
              ]
            : []),
        ],
        at,
      );
    }
    next = deepest;
  };
}
