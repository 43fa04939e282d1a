/** The clocks of the bound exchanges. */
import type { CallOptions } from '../../domain/executor.ts';
import { createCexAccounts } from './accounts.ts';
import type { CcxtVenue } from './config.ts';

/** Reads an exchange's time in milliseconds. */
export type ReadExchangeTime = (call: CallOptions) => Promise<number>;

/** By venue key; a sub-account without a key of its own is asked for with its master's. */
export function exchangeClocks(
  bindings: readonly CcxtVenue[],
): Readonly<Record<string, ReadExchangeTime>> {
  return Object.fromEntries(
    createCexAccounts(bindings)
      .list()
      .map(({ venue, dialect, own, ofMaster }) => [
        venue.venue_key,
        async (call: CallOptions) =>
          dialect.time(await (venue.credentials_file === undefined ? ofMaster : own)(), call),
      ]),
  );
}
