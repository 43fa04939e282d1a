/**
 * Says which account a venue key means. It is recorded with what is prepared and sent: the venues
 * file may call another account by the same key later
 * (docs/decisions/0151-which-account-a-key-means.md).
 */
import type { CexAccount } from './accounts.ts';
import type { CcxtVenue } from './config.ts';

/** Returns which account the entry names: nothing of how it is reached, and no secret. */
export function accountEntry({
  venue_key,
  exchange,
  sandbox,
  account_role,
  account,
}: Pick<CcxtVenue, 'venue_key' | 'exchange' | 'sandbox' | 'account_role' | 'account'>): string {
  const kind = account_role === 'master' ? 'account' : 'sub-account';
  return `${venue_key}: ${exchange}${sandbox ? ' sandbox' : ''} ${kind} ${account}`;
}

/** As {@link accountEntry}, with the master, whose key moves funds between its accounts. */
export function memberEntry({ venue, master }: Pick<CexAccount, 'venue' | 'master'>): string {
  const own = accountEntry(venue);
  return venue.account_role === 'master' || master === null ? own : `${own} of ${master.account}`;
}
