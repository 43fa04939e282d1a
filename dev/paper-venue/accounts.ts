/** The venue's accounts and what they hold at first. */
import { toBaseUnits } from '../../domain/money.ts';
import type { Posting } from './events.ts';
import type { ChainSettings } from './settings.ts';

export const SPOT = 'SPOT';

/** The master account and its sub-accounts. */
export const VENUE_ACCOUNTS = ['paper-main', 'paper-sub-a', 'paper-sub-b'] as const;

const OPENING_AMOUNT = '1000000';

/** Whether the venue has an account of this name. */
export function isVenueAccount(name: string): boolean {
  return VENUE_ACCOUNTS.some((account) => account === name);
}

/** The postings a new ledger begins with: every account holds the same of every listed token. */
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
