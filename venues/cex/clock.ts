/** Returns the clocks of the bound exchanges. */
import type { VenueClock } from '../../domain/send/clocks.ts';
import type { CexAccounts } from './accounts.ts';

/** Returns clocks by venue key; a sub-account without its own key uses its master's key. */
export function exchangeClocks(accounts: CexAccounts): Readonly<Record<string, VenueClock>> {
  return Object.fromEntries(
    accounts.list().map(({ venue, dialect, own, ofMaster }) => [
      venue.venue_key,
      {
        read: async (signal) =>
          dialect.time(await (venue.credentials_file === undefined ? ofMaster : own)(), {
            signal,
            requestId: 'clocks',
          }),
        counts: 'either',
      } satisfies VenueClock,
    ]),
  );
}
