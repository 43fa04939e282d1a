/** The venues file: which outside worlds this process is bound to. */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { describeIssues } from '../signers/issues.ts';
import { evmVenueSchema } from './evm/config.ts';

const venueKey = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be 1 to 64 of letters, digits and . _ -');

const paperVenueSchema = z.strictObject({
  venue_key: venueKey,
  provider: z.literal('paper'),
  account_role: z.enum(['master', 'sub']),
  account: z.string().min(1).max(128),
  url: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }),
  fetch_interval_seconds: z.number().positive().max(86_400).optional(),
});

const unavailable = (provider: 'ccxt' | 'perp') =>
  z.looseObject({ venue_key: venueKey, provider: z.literal(provider) }).refine(() => false, {
    path: ['provider'],
    message: `${provider} venues are not available in this release`,
  });

const venueSchema = z.discriminatedUnion('provider', [evmVenueSchema, paperVenueSchema, unavailable('ccxt'), unavailable('perp')], {
  error: 'must be paper, ccxt, evm or perp',
});

const fileSchema = z.strictObject({ venues: z.array(venueSchema) });

export type PaperVenue = z.output<typeof paperVenueSchema>;
type AnyVenue = z.output<typeof venueSchema>;
export type VenueBinding = Extract<AnyVenue, { provider: 'evm' } | { provider: 'paper' }>;

/** Everything wrong with the venues file, one line a place. */
export class VenueBindingsError extends Error {
  override readonly name = 'VenueBindingsError';
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(`the venues file has ${faults.length} fault(s):\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.faults = faults;
  }
}

/**
 * Checks the file's content, `{venues: […]}`. Throws {@link VenueBindingsError} with every fault,
 * placed as `venues[2].chain_id: …`; values are not repeated, since URLs may hold access keys.
 */
export function parseVenueBindings(content: unknown): readonly VenueBinding[] {
  const parsed = fileSchema.safeParse(content);
  if (!parsed.success) throw new VenueBindingsError(describeIssues(parsed.error));
  const venues = parsed.data.venues.filter((venue) => venue.provider === 'evm' || venue.provider === 'paper');
  const faults = venues.flatMap((venue, index) => repeats(venues, venue, index));
  if (faults.length > 0) throw new VenueBindingsError(faults);
  return venues;
}

function repeats(venues: readonly VenueBinding[], venue: VenueBinding, index: number): readonly string[] {
  const earlier = venues.slice(0, index);
  const faults: string[] = [];
  if (earlier.some((other) => other.venue_key === venue.venue_key)) {
    faults.push(`venues[${index}].venue_key: ${venue.venue_key} is already used above`);
  }
  // A node names its chain by id alone, so two endpoints for one chain would leave the choice to chance.
  if (venue.provider === 'evm' && earlier.some((other) => other.provider === 'evm' && other.chain_id === venue.chain_id)) {
    faults.push(`venues[${index}].chain_id: chain ${venue.chain_id} is already bound above`);
  }
  return faults;
}

/** Reads and checks the venues file at `path`. Throws {@link VenueBindingsError}. */
export async function loadVenueBindings(path: string): Promise<readonly VenueBinding[]> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new VenueBindingsError([`${path}: cannot be read (${error.code ?? 'unknown reason'})`]);
  });
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw new VenueBindingsError([`${path}: is not valid JSON`]);
  }
  return parseVenueBindings(content);
}
