/** Defines the perps venue: its master account, deposits from a chain, and signed actions. */
import { defineVenue } from '../venue.ts';
import type { PerpAccess } from './access.ts';
import { startAgentWalletTender } from './agent-wallets.ts';
import { masterRequirement } from './api/master.ts';
import { perpVenueRoutes } from './api/routes.ts';
import { createPerpBalances } from './balances.ts';
import { createPerpClient } from './client.ts';
import { perpVenueSchema, type PerpVenue } from './config.ts';
import { bindingFaults } from './faults.ts';
import { createPerpExecutors, perpActs } from './lane.ts';
import { createCreditReader } from './named-credit.ts';

declare module '../../domain/venue-access.ts' {
  interface VenueAccess {
    /** The perps venue and its client; absent if no perps venue is bound. */
    readonly perp: PerpAccess;
  }
}

export const perp = defineVenue<PerpVenue>({
  entry: { provider: 'perp', schema: perpVenueSchema },
  faults: bindingFaults,
  deposits: ({ venue_key, chain_id, asset, deposit_address }) => ({
    venue_key,
    chain_id,
    asset,
    deposit_address,
  }),
  routes: perpVenueRoutes,
  requirement: masterRequirement,
  open([venue], { chains, evmVenues }) {
    if (venue === undefined) return {};
    const client = createPerpClient(venue);
    return {
      executors: createPerpExecutors({ venue, client, chains, evmVenues }),
      acts: perpActs(venue, evmVenues),
      claims: [createCreditReader({ client, venue })],
      fetchers: [createPerpBalances(venue, client)],
      // Nodes of the venue require the clock by the name `perp`.
      clocks: { perp: { read: (signal) => client.time({ signal }), counts: 'either' } },
      access: { perp: { venue, client } },
      loops: (sources) => [
        startAgentWalletTender({ ...sources, perp: { venue, client }, pauseMs: 1_000 }),
      ],
      close: () => client.close(),
    };
  },
});
