/** The fields of every entry of the venues file. */
import { z } from 'zod';

export const venueKeySchema = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be 1 to 64 of letters, digits and . _ -');

/** A task queue of the venue's own, which bounds how fast the venue is called. */
export const venueQueueSchema = z.strictObject({
  /** Activities that start in a second, over all workers together. */
  per_second: z.number().min(0.01).max(10_000),
  /** Activities that each worker runs at once. */
  slots: z.number().int().min(1).max(1_000),
});
export type VenueQueue = z.output<typeof venueQueueSchema>;

export interface VenueEntry {
  readonly venue_key: string;
  readonly provider: string;
  /** For venues that nodes name in `config.venue`. */
  readonly queue?: VenueQueue | undefined;
}

/** The place of an entry in the venues file. */
export interface Place {
  /** The place as text, such as `venues[2]`. */
  readonly at: string;
  readonly earlier: readonly VenueEntry[];
  readonly all: readonly VenueEntry[];
}
