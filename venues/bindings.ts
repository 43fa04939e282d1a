/** The venues file: which outside worlds this process is bound to. */
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Address } from 'viem';
import { z } from 'zod';
import type { BoundChain, ChainBridge, ChainPerp } from '../domain/plan/tokens.ts';
import { describeIssues } from '../platform/issues.ts';
import { ccxtVenueSchema, type CcxtVenue } from './cex/config.ts';
import { CredentialsError, readCredentials } from './cex/credentials.ts';
import { chainCaps, evmVenueSchema, type EvmVenue } from './evm/config.ts';
import { perpVenueSchema } from './perp/config.ts';

const venueKey = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be 1 to 64 of letters, digits and . _ -');

const paperVenueSchema = z.strictObject({
  venue_key: venueKey,
  provider: z.literal('paper'),
  account_role: z.enum(['master', 'sub']),
  account: z.string().min(1).max(128),
  url: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }),
  fetch_interval_seconds: z.number().positive().max(86_400).optional(),
});

const venueSchema = z.discriminatedUnion(
  'provider',
  [evmVenueSchema, paperVenueSchema, ccxtVenueSchema, perpVenueSchema],
  {
    error: 'must be paper, ccxt, evm or perp',
  },
);

const fileSchema = z.strictObject({ venues: z.array(venueSchema) });

export type PaperVenue = z.output<typeof paperVenueSchema>;
export type VenueBinding = Exclude<z.output<typeof venueSchema>, { provider: 'evm' }> | EvmVenue;

/** Everything wrong with the venues file, one line a place. */
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
export function parseVenueBindings(content: unknown): readonly VenueBinding[] {
  const parsed = fileSchema.safeParse(content);
  if (!parsed.success)
    throw new VenueBindingsError(describeIssues(parsed.error, { whole: 'the file' }));
  const venues = parsed.data.venues.map((venue) => withDeposits(venue, parsed.data.venues));
  const faults = venues.flatMap((venue, index) => [
    ...repeats(venues, venue, index),
    ...masterFaults(venues, venue, index),
    ...perpFaults(venues, venue, index),
  ]);
  if (faults.length > 0) throw new VenueBindingsError(faults);
  return venues;
}

function repeats(
  venues: readonly VenueBinding[],
  venue: VenueBinding,
  index: number,
): readonly string[] {
  const earlier = venues.slice(0, index);
  const faults: string[] = [];
  if (earlier.some((other) => other.venue_key === venue.venue_key)) {
    faults.push(`venues[${index}].venue_key: ${venue.venue_key} is already used above`);
  }
  // A node names its chain by id alone, so two endpoints for one chain would leave the choice to
  // chance.
  if (
    venue.provider === 'evm' &&
    earlier.some((other) => other.provider === 'evm' && other.chain_id === venue.chain_id)
  ) {
    faults.push(`venues[${index}].chain_id: chain ${venue.chain_id} is already bound above`);
  }
  const domain = venue.provider === 'evm' ? venue.cctp?.domain : undefined;
  if (
    domain !== undefined &&
    earlier.some((other) => other.provider === 'evm' && other.cctp?.domain === domain)
  ) {
    faults.push(`venues[${index}].cctp.domain: domain ${domain} is already another chain's above`);
  }
  if (venue.provider === 'evm') {
    faults.push(...tokenRepeats(venue, `venues[${index}].tokens`));
    faults.push(...bridgeFaults(venue, earlier, `venues[${index}].bridge_c`));
  }
  // Two bindings of one account would each count the same funds as theirs.
  if (
    venue.provider === 'ccxt' &&
    earlier.some((other) => other.provider === 'ccxt' && isSameAccount(other, venue))
  ) {
    faults.push(
      `venues[${index}].account: this account of ${venue.exchange} is already bound above`,
    );
  }
  return faults;
}

/**
 * An asset is one token and a token one asset, or limits would not know which of them a plan moves.
 */
function tokenRepeats({ native_asset, tokens }: EvmVenue, path: string): readonly string[] {
  return tokens.flatMap(({ asset, address }, index) => {
    const earlier = tokens.slice(0, index);
    return [
      ...(asset === native_asset
        ? [`${path}[${index}].asset: ${asset} is the chain's own coin`]
        : []),
      ...(earlier.some((other) => other.asset === asset)
        ? [`${path}[${index}].asset: ${asset} is already listed above`]
        : []),
      ...(earlier.some((other) => other.address === address)
        ? [`${path}[${index}].address: this token is already listed above`]
        : []),
    ];
  });
}

/** An endpoint id is one chain's, and a bridge sends each listed asset by one contract. */
function bridgeFaults(
  { bridge_c, tokens }: EvmVenue,
  earlier: readonly VenueBinding[],
  path: string,
): readonly string[] {
  if (bridge_c === undefined) return [];
  const { eid } = bridge_c;
  const taken = earlier.some((other) => other.provider === 'evm' && other.bridge_c?.eid === eid);
  return [
    ...(taken ? [`${path}.eid: ${eid} is already another chain's above`] : []),
    ...bridge_c.tokens.flatMap(({ asset, oft }, index) => {
      const before = bridge_c.tokens.slice(0, index);
      const at = `${path}.tokens[${index}]`;
      return [
        ...(tokens.some((token) => token.asset === asset)
          ? []
          : [`${at}.asset: ${asset} is not among the tokens of this venue`]),
        ...(before.some((other) => other.asset === asset)
          ? [`${at}.asset: ${asset} is already listed above`]
          : []),
        ...(before.some((other) => other.oft === oft)
          ? [`${at}.oft: this contract is already listed above`]
          : []),
      ];
    }),
  ];
}

function isSameAccount(left: CcxtVenue, right: CcxtVenue): boolean {
  return isSameExchange(left, right) && left.account.toLowerCase() === right.account.toLowerCase();
}

function isSameExchange(left: CcxtVenue, right: CcxtVenue): boolean {
  return (
    left.exchange === right.exchange &&
    left.sandbox === right.sandbox &&
    left.base_url === right.base_url
  );
}

/** A sub-account's master is asked in its name, so it must be one, and of the same exchange. */
function masterFaults(
  venues: readonly VenueBinding[],
  venue: VenueBinding,
  index: number,
): readonly string[] {
  if (venue.provider !== 'ccxt' || venue.master === undefined) return [];
  const master = venues.find((other) => other.venue_key === venue.master);
  const fault = (message: string): readonly string[] => [`venues[${index}].master: ${message}`];
  if (master?.provider !== 'ccxt')
    return fault(`${venue.master} is no account of an exchange in this file`);
  if (master.account_role !== 'master') return fault(`${venue.master} is no master account`);
  if (!isSameExchange(master, venue))
    return fault(`${venue.master} has another exchange, sandbox or base_url`);
  return [];
}

/**
 * There is one master account, so one entry; and what is paid in comes from a chain that is bound,
 * in the token that its entry lists.
 */
function perpFaults(
  venues: readonly VenueBinding[],
  venue: VenueBinding,
  index: number,
): readonly string[] {
  if (venue.provider !== 'perp') return [];
  const at = `venues[${index}]`;
  const { chain_id, asset } = venue;
  const chain = venues.find((other) => other.provider === 'evm' && other.chain_id === chain_id);
  const listed = chain?.provider === 'evm' && chain.tokens.some((token) => token.asset === asset);
  return [
    ...(venues.slice(0, index).some(({ provider }) => provider === 'perp')
      ? [`${at}.provider: a perp venue is already bound above`]
      : []),
    ...(chain === undefined ? [`${at}.chain_id: chain ${chain_id} is not bound in this file`] : []),
    ...(chain !== undefined && !listed
      ? [`${at}.asset: ${asset} is not among the tokens of venue ${chain.venue_key}`]
      : []),
  ];
}

/** A chain with where the perps venue's deposits go to on it. */
function withDeposits(venue: VenueBinding, venues: readonly VenueBinding[]): VenueBinding {
  if (venue.provider !== 'evm') return venue;
  const perp = perpOf(venues, venue.chain_id);
  if (perp === null) return venue;
  const address = perp.deposit_address as Address;
  return { ...venue, perp_deposits: { venue_key: perp.venue_key, address } };
}

function bridgeOf({ bridge_c }: EvmVenue): ChainBridge | null {
  if (bridge_c === undefined) return null;
  const { eid, endpoint, tokens } = bridge_c;
  const carriers = tokens.map(({ asset, oft }) => ({ asset, address: oft }));
  return { endpoint_identity: `${eid}:${endpoint}`, carriers };
}

/** The perps venue whose deposits come from this chain. */
function perpOf(venues: readonly VenueBinding[], chainId: number): ChainPerp | null {
  for (const venue of venues)
    if (venue.provider === 'perp' && venue.chain_id === chainId)
      return {
        venue_key: venue.venue_key,
        asset: venue.asset,
        deposit_address: venue.deposit_address,
      };
  return null;
}

/** The chains of the venues file, what may be moved on them and how they become final. */
export function chainAssets(venues: readonly VenueBinding[]): readonly BoundChain[] {
  return venues.flatMap((venue) => {
    if (venue.provider !== 'evm') return [];
    const { venue_key, chain_id, native_asset, finality } = venue;
    return [
      {
        venue_key,
        chain_id,
        native_asset,
        tokens: venue.tokens.map(({ asset, address }) => ({ asset, address })),
        finality,
        caps: chainCaps(venue),
        burns_by: venue.cctp?.token_messenger ?? null,
        bridge: bridgeOf(venue),
        perp: perpOf(venues, chain_id),
      },
    ];
  });
}

/**
 * Paths made absolute from the venues file's folder, and every key file looked at, so that a start
 * tells all that is wrong.
 */
async function withCredentials(
  venues: readonly VenueBinding[],
  folder: string,
): Promise<readonly VenueBinding[]> {
  const faults: string[] = [];
  const located = venues.map((venue) =>
    venue.provider !== 'ccxt' || venue.credentials_file === undefined
      ? venue
      : { ...venue, credentials_file: resolve(folder, venue.credentials_file) },
  );
  for (const [index, venue] of located.entries()) {
    if (venue.provider !== 'ccxt' || venue.credentials_file === undefined) continue;
    await readCredentials(venue.credentials_file).catch((error: unknown) => {
      if (!(error instanceof CredentialsError)) throw error;
      faults.push(`venues[${index}].credentials_file: ${error.message}`);
    });
  }
  if (faults.length > 0) throw new VenueBindingsError(faults);
  return located;
}

/**
 * Reads and checks the venues file at `path` and the key files that it names, unless these are
 * `left`, by a process that asks no exchange. Throws {@link VenueBindingsError}.
 */
export async function loadVenueBindings(
  path: string,
  { secrets }: { readonly secrets: 'checked' | 'left' } = { secrets: 'checked' },
): Promise<readonly VenueBinding[]> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new VenueBindingsError([`${path}: cannot be read (${error.code ?? 'unknown reason'})`]);
  });
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw new VenueBindingsError([`${path}: is not valid JSON`]);
  }
  const bindings = parseVenueBindings(content);
  return secrets === 'left' ? bindings : withCredentials(bindings, dirname(path));
}
