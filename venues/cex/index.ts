/** Defines the venue of exchange accounts, which are used through ccxt. */
import { resolve } from 'node:path';
import { CallError, readToken } from '../../platform/outgoing/call.ts';
import type { VenueEntry } from '../entry.ts';
import { defineVenue } from '../venue.ts';
import { createCexAccounts } from './accounts.ts';
import { createCexTransfers } from './account-transfers.ts';
import { createCexBalances } from './balances.ts';
import { exchangeClocks } from './clock.ts';
import { ccxtVenueSchema, type CcxtVenue } from './config.ts';
import { CredentialsError, readCredentials } from './credentials.ts';
import { DIALECTS } from './dialects/index.ts';
import { createCexExecutors } from './executors.ts';
import { accountFaults } from './faults.ts';
import { createDepositReader } from './named-deposits.ts';

function isAccount(entry: VenueEntry): entry is CcxtVenue {
  return entry.provider === 'ccxt';
}

export const cex = defineVenue<CcxtVenue>({
  entry: { provider: 'ccxt', schema: ccxtVenueSchema },
  faults: (entry, { at, all, earlier }) =>
    accountFaults(entry, { at, all: all.filter(isAccount), earlier: earlier.filter(isAccount) }),
  locate: ({ credentials_file, served_at, ...entry }, folder) => ({
    ...entry,
    ...(credentials_file === undefined
      ? {}
      : { credentials_file: resolve(folder, credentials_file) }),
    ...(served_at === undefined
      ? {}
      : {
          served_at: {
            ...served_at,
            auth_token_file: resolve(folder, served_at.auth_token_file),
          },
        }),
  }),
  async secretFaults({ exchange, credentials_file: file, served_at }) {
    if (served_at !== undefined) return tokenFaults(served_at.auth_token_file);
    if (file === undefined) return [];
    try {
      await readCredentials(file, DIALECTS.get(exchange));
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
      claims: [createDepositReader(accounts)],
      fetchers: createCexBalances(accounts),
      transferProviders: createCexTransfers(accounts),
      clocks: exchangeClocks(accounts),
      close: () => accounts.close(),
    };
  },
});

async function tokenFaults(file: string): Promise<readonly string[]> {
  try {
    await readToken(file);
    return [];
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    return [`served_at: ${error.message}: ${file}`];
  }
}
