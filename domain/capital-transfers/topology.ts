/** Decides between which accounts of a provider funds may be moved. */

/** The account types that a transfer may name. Balances are also shown for other types. */
export const TRANSFER_ACCOUNT_TYPES = ['SPOT', 'USDT_FUTURE'] as const;
export type TransferAccountType = (typeof TRANSFER_ACCOUNT_TYPES)[number];

/** The fields of a bound account that transfers need. */
export interface TransferAccount {
  readonly venue_key: string;
  readonly provider: string;
  /**
   * Accounts of one scope belong to one customer of one provider. Funds are moved only within a
   * scope.
   */
  readonly scope: string;
  readonly role: 'master' | 'sub';
  /**
   * Which account of the provider it is; absent where the venue key alone says so. The key may mean
   * another account later.
   */
  readonly entry?: string;
}

/** Returns which accounts both ends are; null where the venue keys alone say so. */
export function transferEntries(
  source: Pick<TransferAccount, 'entry'>,
  destination: Pick<TransferAccount, 'entry'>,
): string | null {
  if (source.entry === undefined || destination.entry === undefined) return null;
  const both = new Set([source.entry, destination.entry]);
  return [...both].join('; ');
}

/** The account and account type on one side of a transfer. */
export interface TransferSide {
  readonly account: Pick<TransferAccount, 'venue_key' | 'role'>;
  readonly account_type: TransferAccountType;
}

/** The rules of the interface specification, part 2.7, by number. */
export const TOPOLOGY_RULES = {
  1: 'a master account transfers from and to SPOT only',
  2: 'funds are moved between a master and its sub-accounts, or between SPOT and USDT_FUTURE of one sub-account',
  3: 'funds are not moved between two different sub-accounts: go through the master account',
  4: 'source and destination are the same account with the same account type',
  5: 'funds are not moved between master accounts',
} as const;
export type TopologyRule = keyof typeof TOPOLOGY_RULES;

/**
 * Returns the rule that a transfer between two accounts of one scope breaks; null if the transfer
 * is allowed. Reports the most specific rule: first whether the accounts are the same, then their
 * roles, then their account types. Rule 2 covers only what the other rules leave, so it is never
 * reported.
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
