/** Deposits from the chain, computed from the journal's events. */
import { SPOT } from './accounts.ts';
import type { EventOf, Posting } from './events.ts';

export type Deposit = Omit<EventOf<'deposited'>, 'type'>;

export interface DepositBook {
  apply(event: EventOf<'deposited'>): void;
  has(depositId: string): boolean;
  all(): readonly Deposit[];
  /** Returns the deposits to an account in one transaction. */
  of(account: string, asset: string, txHash: string): readonly Deposit[];
}

/** Creates an empty book that changes balances through `post`. */
export function createDepositBook(post: (postings: readonly Posting[]) => void): DepositBook {
  const deposits = new Map<string, Deposit>();
  const all = (): readonly Deposit[] => [...deposits.values()];
  return {
    apply: ({ type: _type, ...deposit }) => {
      deposits.set(deposit.deposit_id, deposit);
      const { account, asset, units } = deposit;
      post([{ account, account_type: SPOT, asset, delta: units }]);
    },
    has: (depositId) => deposits.has(depositId),
    all,
    of: (account, asset, txHash) =>
      all().filter(
        (each) =>
          each.account === account && each.asset === asset && each.tx_hash === txHash.toLowerCase(),
      ),
  };
}
