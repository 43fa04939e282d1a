/** Defines the paper venue: accounts for tests and trials, without an exchange behind them. */
import { defineVenue } from '../venue.ts';
import { createPaperTransfers } from './account-transfers.ts';
import { createPaperBalances } from './balances.ts';
import { paperVenueSchema, type PaperVenue } from './config.ts';

export const paper = defineVenue<PaperVenue>({
  entry: { provider: 'paper', schema: paperVenueSchema },
  open: (entries) => ({
    fetchers: entries.map(createPaperBalances),
    transferProviders: createPaperTransfers(entries),
  }),
});
