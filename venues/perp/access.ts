/** The perps venue that this process is bound to. */
import type { VenueBinding } from '../bindings.ts';
import { createPerpClient, type PerpClient } from './client.ts';
import type { PerpVenue } from './config.ts';

export interface PerpAccess {
  readonly venue: PerpVenue;
  readonly client: PerpClient;
}

/** Null where the venues file has no perp entry. Whoever opens it closes its client. */
export function openPerpVenue(bindings: readonly VenueBinding[]): PerpAccess | null {
  const venue = bindings.find((binding) => binding.provider === 'perp');
  return venue === undefined ? null : { venue, client: createPerpClient(venue) };
}
