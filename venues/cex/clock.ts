/** Returns the clocks of the bound exchanges. */
import type { VenueClock } from '../../domain/send/clocks.ts';
import { createCexAccounts } from './accounts.ts';
import type { CcxtVenue } from './config.ts';

/** Returns clocks by venue key; a sub-account without its own key uses its master's key. */
export function exchangeClocks(
  bindings: readonly CcxtVenue[],
): Readonly<Record<string, VenueClock>> {
  return Object.fromEntries(
    createCexAccounts(bindings)
      .list()
      .map(({ venue, dialect, own, ofMaster }) => [
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
