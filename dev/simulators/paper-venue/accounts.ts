/** The venue's accounts, their pools and what they hold at first. */
import {
  TRANSFER_ACCOUNT_TYPES,
  type TransferAccountType,
} from '../../../domain/capital-transfers/topology.ts';
import { toBaseUnits } from '../../../domain/money.ts';
import type { Posting } from './events.ts';
import type { ChainSettings } from './settings.ts';

export const SPOT = 'SPOT';

/** The pools of every account. */
export const VENUE_ACCOUNT_TYPES = TRANSFER_ACCOUNT_TYPES;

const MASTER = 'paper-main';

/** The master account and its sub-accounts. */
export const VENUE_ACCOUNTS = [MASTER, 'paper-sub-a', 'paper-sub-b'] as const;

const OPENING_AMOUNT = '1000000';

/** Whether the venue has an account of this name. */
export function isVenueAccount(name: string): boolean {
  return VENUE_ACCOUNTS.some((account) => account === name);
}

/** Whether the venue's accounts have a pool of this name. */
export function isAccountType(name: string): name is TransferAccountType {
  return VENUE_ACCOUNT_TYPES.some((type) => type === name);
}

export function roleOf(account: string): 'master' | 'sub' {
  return account === MASTER ? 'master' : 'sub';
}

/**
 * The first postings of a ledger: every account holds the same of every listed token in SPOT, and
 * nothing elsewhere.
 */
export function openingPostings(chain: ChainSettings): Posting[] {
  return VENUE_ACCOUNTS.flatMap((account) =>
    Object.entries(chain.tokens).map(([asset, { decimals }]) => ({
      account,
      account_type: SPOT,
      asset,
      delta: String(toBaseUnits(OPENING_AMOUNT, decimals)),
    })),
  );
}
