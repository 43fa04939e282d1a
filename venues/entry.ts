/** The fields of every entry of the venues file. */
import { z } from 'zod';

export const venueKeySchema = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be 1 to 64 of letters, digits and . _ -');

export interface VenueEntry {
  readonly venue_key: string;
  readonly provider: string;
}

/** The place of an entry in the venues file. */
export interface Place {
  /** The place as text, such as `venues[2]`. */
  readonly at: string;
  readonly earlier: readonly VenueEntry[];
  readonly all: readonly VenueEntry[];
}
