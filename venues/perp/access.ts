/** The bound perps venue and its client. */
import type { PerpClient } from './client.ts';
import type { PerpVenue } from './config.ts';

export interface PerpAccess {
  readonly venue: PerpVenue;
  readonly client: PerpClient;
}
