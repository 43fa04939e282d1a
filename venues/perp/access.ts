/** The perps venue that this process is bound to. */
import type { PerpClient } from './client.ts';
import type { PerpVenue } from './config.ts';

export interface PerpAccess {
  readonly venue: PerpVenue;
  readonly client: PerpClient;
}
