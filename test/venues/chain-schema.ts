/**
 * The schema of a chain's entry as `venues/list.ts` makes it, for tests of chains and bridges: the
 * other venues of the list are most of what it loads.
 */
import { bridgeC } from '../../venues/bridge-c/index.ts';
import { burnMint } from '../../venues/burn-mint/index.ts';
import { evmVenueSchemaWith } from '../../venues/evm/config.ts';
import type { Venue } from '../../venues/venue.ts';

const BRIDGES: readonly Venue[] = [burnMint, bridgeC];

export const evmVenueSchema = evmVenueSchemaWith(BRIDGES.flatMap(({ part }) => part ?? []));
