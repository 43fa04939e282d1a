/** Reads and checks the venues file, which lists the venues that this process is bound to. */
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Address } from 'viem';
import { z } from 'zod';
import { describeLosses } from '../domain/json-text.ts';
import type { BoundChain } from '../domain/plan/tokens.ts';
import { describeIssues } from '../platform/issues.ts';
import type { VenueEntry } from './entry.ts';
import { chainCaps, isEvmVenue, type EvmVenue } from './evm/config.ts';
import type { OwnContract } from './evm/part.ts';
import { evm, PARTS, VENUES } from './list.ts';
import type { Deposits } from './venue.ts';

const [first, ...others] = VENUES.flatMap(({ schema }) => schema ?? []);
if (first === undefined) throw new Error('no venue defines entries of the venues file');
const providers = VENUES.flatMap(({ provider }) => provider ?? []);
const fileSchema = z.strictObject({
  venues: z.array(
    z.discriminatedUnion('provider', [first, ...others], {
      error: `must be ${providers.join(', ').replace(/, ([^,]*)$/, ' or $1')}`,
    }),
  ),
});

/** Holds every fault of the venues file, one line for each faulty place. */
export class VenueBindingsError extends Error {
  override readonly name = 'VenueBindingsError';
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(
      `the venues file has ${faults.length} fault(s):\n${faults.map((fault) => `  ${fault}`).join('\n')}`,
    );
    this.faults = faults;
  }
}

/**
 * Checks the file's content, `{venues: […]}`. Throws {@link VenueBindingsError} with every fault,
 * placed as `venues[2].chain_id: …`; values are not repeated, since URLs may hold access keys.
 */
export function parseVenueBindings(content: unknown): readonly VenueEntry[] {
  const parsed = fileSchema.safeParse(content);
  if (!parsed.success)
    throw new VenueBindingsError(describeIssues(parsed.error, { whole: 'the file' }));
  const all = parsed.data.venues as readonly VenueEntry[];
  const faults = all.flatMap((binding, index) => {
    const [at, earlier] = [`venues[${index}]`, all.slice(0, index)];
    return [
      ...(earlier.some(({ venue_key }) => venue_key === binding.venue_key)
        ? [`${at}.venue_key: ${binding.venue_key} is already used above`]
        : []),
      ...VENUES.flatMap((venue) => venue.faults(binding, { at, earlier, all })),
    ];
  });
  if (faults.length > 0) throw new VenueBindingsError(faults);
  const deposits = VENUES.flatMap((venue) => venue.deposits(all));
  return all.map((binding) => (isEvmVenue(binding) ? withDeposits(binding, deposits) : binding));
}

/** Returns the chain's entry with the venues that take deposits from this chain. */
function withDeposits(chain: EvmVenue, deposits: readonly Deposits[]): EvmVenue {
  const here = deposits.filter(({ chain_id }) => chain_id === chain.chain_id);
  if (here.length === 0) return chain;
  return {
    ...chain,
    deposit_venues: here.map(({ chain_id: _, ...venue }) => venue),
    contracts: [
      // The venue credits a deposit to its sender; a bridge contract has no account at the venue.
      ...here.map(({ venue_key, deposit_address }): OwnContract => [
        `the deposit address of ${venue_key}`,
        deposit_address as Address,
      ]),
      ...chain.contracts,
    ],
  };
}

/** Returns the chains of the venues file: their movable assets, finality, caps and bridges. */
export function chainAssets(bindings: readonly VenueEntry[]): readonly BoundChain[] {
  return evm.entries(bindings).map((venue) => {
    const { venue_key, chain_id, native_asset, finality, deposit_venues } = venue;
    const bridges = PARTS.flatMap((part) => {
      const bridge = part.bridge(venue);
      return bridge === undefined ? [] : [[part.lane, bridge]];
    });
    return {
      venue_key,
      chain_id,
      native_asset,
      finality,
      deposit_venues,
      tokens: venue.tokens.map(({ asset, address }) => ({ asset, address })),
      caps: chainCaps(venue),
      bridges: Object.fromEntries(bridges),
    };
  });
}

/**
 * Resolves the paths of secrets against the venues file's folder. Checks every key file, so that a
 * start reports all faults at once.
 */
async function withSecrets(
  bindings: readonly VenueEntry[],
  { folder, isUsed }: { readonly folder: string; readonly isUsed: (entry: VenueEntry) => boolean },
): Promise<readonly VenueEntry[]> {
  const located = bindings.map((binding) =>
    VENUES.reduce((entry, venue) => venue.locate(entry, folder), binding),
  );
  const faults: string[] = [];
  for (const [index, binding] of located.entries())
    for (const venue of isUsed(binding) ? VENUES : [])
      for (const fault of await venue.secretFaults(binding))
        faults.push(`venues[${index}].${fault}`);
  if (faults.length > 0) throw new VenueBindingsError(faults);
  return located.filter(isUsed);
}

/**
 * Reads and checks the venues file at `path`, and its key files unless `secrets` is `left` (for a
 * process that calls no exchange). Throws {@link VenueBindingsError}. With `isUsed`, only the
 * entries that it accepts are returned, and only their key files are read.
 */
export async function loadVenueBindings(
  path: string,
  {
    secrets,
    isUsed = () => true,
  }: {
    readonly secrets: 'checked' | 'left';
    readonly isUsed?: (entry: VenueEntry) => boolean;
  } = { secrets: 'checked' },
): Promise<readonly VenueEntry[]> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new VenueBindingsError([`${path}: cannot be read (${error.code ?? 'unknown reason'})`]);
  });
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw new VenueBindingsError([`${path}: is not valid JSON`]);
  }
  const losses = describeLosses(text, path);
  if (losses.length > 0) throw new VenueBindingsError(losses);
  const bindings = parseVenueBindings(content);
  return secrets === 'left'
    ? bindings.filter(isUsed)
    : withSecrets(bindings, { folder: dirname(path), isUsed });
}
