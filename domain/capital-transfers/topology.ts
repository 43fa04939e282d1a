/** Between which accounts of a provider funds may be moved. */

/** The pools of an account that a transfer may name. Other pools only show balances. */
export const TRANSFER_ACCOUNT_TYPES = ['SPOT', 'USDT_FUTURE'] as const;
export type TransferAccountType = (typeof TRANSFER_ACCOUNT_TYPES)[number];

/** A bound account as transfers see it. */
export interface TransferAccount {
  readonly venue_key: string;
  readonly provider: string;
  /**
   * Accounts of one scope belong to one customer of one provider; funds are only moved within a
   * scope.
   */
  readonly scope: string;
  readonly role: 'master' | 'sub';
}

/** One side of a transfer. */
export interface TransferSide {
  readonly account: Pick<TransferAccount, 'venue_key' | 'role'>;
  readonly account_type: TransferAccountType;
}

/** The rules by their numbers in the interface specification, part 2.7, with what each says. */
export const TOPOLOGY_RULES = {
  1: 'a master account transfers from and to SPOT only',
  2: 'funds are moved between a master and its sub-accounts, or between SPOT and USDT_FUTURE of one sub-account',
  3: 'funds are not moved between two different sub-accounts: go through the master account',
  4: 'source and destination are the same account with the same account type',
  5: 'funds are not moved between master accounts',
} as const;
export type TopologyRule = keyof typeof TOPOLOGY_RULES;

/**
 * The rule that a transfer between two accounts of one scope breaks; null when it may be made.
 * Reports the most specific rule: first whether the accounts are the same, then how their roles
 * meet, then which pools they use. Rule 2 lists what is left, so nothing can break it alone.
 */
export function brokenRule(source: TransferSide, destination: TransferSide): TopologyRule | null {
  const [from, to] = [source.account, destination.account];
  const same = from.venue_key === to.venue_key;
  if (same && source.account_type === destination.account_type) return 4;
  if (from.role === 'master' && to.role === 'master') return same ? 1 : 5;
  if (from.role === 'sub' && to.role === 'sub' && !same) return 3;
  const leavesSpot = (side: TransferSide): boolean =>
    side.account.role === 'master' && side.account_type !== 'SPOT';
  return leavesSpot(source) || leavesSpot(destination) ? 1 : null;
}
