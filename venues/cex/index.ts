/** Defines the venue of exchange accounts, which are used through ccxt. */
import { resolve } from 'node:path';
import type { VenueEntry } from '../entry.ts';
import { defineVenue } from '../venue.ts';
import { createCexAccounts } from './accounts.ts';
import { createCexTransfers } from './account-transfers.ts';
import { createCexBalances } from './balances.ts';
import { exchangeClocks } from './clock.ts';
import { ccxtVenueSchema, type CcxtVenue } from './config.ts';
import { CredentialsError, readCredentials } from './credentials.ts';
import { createCexExecutors } from './executors.ts';
import { accountFaults } from './faults.ts';

function isAccount(entry: VenueEntry): entry is CcxtVenue {
  return entry.provider === 'ccxt';
}

export const cex = defineVenue<CcxtVenue>({
  entry: { provider: 'ccxt', schema: ccxtVenueSchema },
  faults: (entry, { at, all, earlier }) =>
    accountFaults(entry, { at, all: all.filter(isAccount), earlier: earlier.filter(isAccount) }),
  locate: (entry, folder) =>
    entry.credentials_file === undefined
      ? entry
      : { ...entry, credentials_file: resolve(folder, entry.credentials_file) },
  async secretFaults({ credentials_file: file }) {
    if (file === undefined) return [];
    try {
      await readCredentials(file);
      return [];
    } catch (error) {
      if (!(error instanceof CredentialsError)) throw error;
      return [`credentials_file: ${error.message}`];
    }
  },
  open(entries, { requests }) {
    const accounts = createCexAccounts(entries, requests);
    return {
      executors: createCexExecutors(accounts),
      fetchers: createCexBalances(accounts),
      transferProviders: createCexTransfers(accounts),
      clocks: exchangeClocks(accounts),
    };
  },
});
