/** Schema of an entry of the paper venue. */
import { z } from 'zod';
import { venueKeySchema, venueQueueSchema } from '../entry.ts';

export const paperVenueSchema = z.strictObject({
  venue_key: venueKeySchema,
  provider: z.literal('paper'),
  account_role: z.enum(['master', 'sub']),
  account: z.string().min(1).max(128),
  url: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }),
  fetch_interval_seconds: z.number().positive().max(86_400).optional(),
  queue: venueQueueSchema.optional(),
});
export type PaperVenue = z.output<typeof paperVenueSchema>;
