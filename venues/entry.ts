/** What every entry of the venues file has. */
import { z } from 'zod';

export const venueKeySchema = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be 1 to 64 of letters, digits and . _ -');

export interface VenueEntry {
  readonly venue_key: string;
  readonly provider: string;
}

/** An entry's place in the file. */
export interface Place {
  /** Such as `venues[2]`. */
  readonly at: string;
  readonly earlier: readonly VenueEntry[];
  readonly all: readonly VenueEntry[];
}
