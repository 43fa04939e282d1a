/** The venue's accounts, their pools and their initial balances. */
import {
  TRANSFER_ACCOUNT_TYPES,
  type TransferAccountType,
} from '../../../domain/capital-transfers/topology.ts';
import { toBaseUnits } from '../../../domain/money.ts';
import type { Posting } from './events.ts';
import type { ChainSettings } from './settings.ts';

export const SPOT = 'SPOT';

/** Names of the pools that every account has. */
export const VENUE_ACCOUNT_TYPES = TRANSFER_ACCOUNT_TYPES;

const MASTER = 'paper-main';

/** The master account and its sub-accounts. */
export const VENUE_ACCOUNTS = [MASTER, 'paper-sub-a', 'paper-sub-b'] as const;

const OPENING_AMOUNT = '1000000';

/** Returns whether the venue has an account of this name. */
export function isVenueAccount(name: string): boolean {
  return VENUE_ACCOUNTS.some((account) => account === name);
}

/** Returns whether the venue's accounts have a pool of this name. */
export function isAccountType(name: string): name is TransferAccountType {
  return VENUE_ACCOUNT_TYPES.some((type) => type === name);
}

export function roleOf(account: string): 'master' | 'sub' {
  return account === MASTER ? 'master' : 'sub';
}

/**
 * Returns the first postings of a ledger: every account gets the same amount of every listed token
 * in SPOT, and nothing in other pools.
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
