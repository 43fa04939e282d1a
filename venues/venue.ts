/**
 * Defines the interface of a venue. Each folder of venues exports one venue from its
 * `index.ts`, and `list.ts` lists them all. Code that uses venues goes through that list.
 */
import type { Logger } from 'pino';
import type { z } from 'zod';
import type { BalanceFetcher } from '../domain/balances.ts';
import type { MintReader } from '../domain/bridges/named-mint.ts';
import type { BridgeReader } from '../domain/bridges/registry.ts';
import type { TransferProvider } from '../domain/capital-transfers/provider.ts';
import type { ClaimReader } from '../domain/claim-reader.ts';
import type { Executor } from '../domain/executor.ts';
import type { DepositVenue } from '../domain/plan/tokens.ts';
import type { RequestDesk } from '../domain/request-desk.ts';
import type { VenueClock } from '../domain/send/clocks.ts';
import type { Signer } from '../domain/signer.ts';
import type { VenueAccess } from '../domain/venue-access.ts';
import type { Loop } from '../platform/loop.ts';
import type { Database } from '../prisma/client.ts';
import type { RequirementCheck } from '../api/dependencies.ts';
import type { Route } from '../api/http/route.ts';
import type { Place, VenueEntry } from './entry.ts';
import type { EvmChains } from './evm/client.ts';
import type { EvmVenue } from './evm/config.ts';
import type { ChainPart } from './evm/part.ts';
import type { ActReader } from './evm/signing.ts';

/** The chains, signers and shared requests that venues are opened with. */
export interface World {
  readonly chains: EvmChains;
  readonly evmVenues: readonly EvmVenue[];
  readonly signers: readonly Signer[];
  readonly requests: RequestDesk;
}

/** What the background loops of venues need. */
export interface LoopSources {
  readonly db: Database;
  readonly log: Logger;
  readonly signers: { get(key: string): Signer | undefined };
}

/** What the entries of a venue add to a process; an absent member adds nothing. */
export interface OpenedVenue {
  readonly executors?: readonly Executor[];
  /** Reads from a node's plan which transaction or message its signer may have signed. */
  readonly acts?: ActReader;
  readonly fetchers?: readonly BalanceFetcher[];
  readonly transferProviders?: readonly TransferProvider[];
  /** Clocks, keyed by the clock names that `clocksOfNode` returns. */
  readonly clocks?: Readonly<Record<string, VenueClock>>;
  /** Reads the chain, id and code hash of an endpoint in the bridge registry. */
  readonly bridge?: BridgeReader;
  /** Reads mints that an operator names by their transaction. */
  readonly mints?: MintReader;
  /** Read at their source what an operator names as a node's claim. */
  readonly claims?: readonly ClaimReader[];
  readonly access?: Partial<VenueAccess>;
  /** Returns the background loops, which run in each process that takes work. */
  loops?(sources: LoopSources): readonly Loop[];
  close?(): Promise<void>;
}

/** A venue that takes deposits from the chain `chain_id`. */
export interface Deposits extends DepositVenue {
  readonly chain_id: number;
}

export interface VenueDefinition<Entry extends VenueEntry> {
  /** Schema of the venue's own entries; absent if it only adds fields to the entries of chains. */
  readonly entry?: {
    readonly provider: Entry['provider'];
    readonly schema: z.core.$ZodTypeDiscriminable & z.ZodType<Entry>;
  };
  readonly part?: ChainPart;
  /**
   * Returns the faults of an entry, compared with the file's other entries too, as
   * `<place>.<field>: …`.
   */
  faults?(entry: Entry, place: Place): readonly string[];
  /** Returns the entry with the paths of its secrets made absolute, relative to this folder. */
  locate?(entry: Entry, folder: string): Entry;
  /** Returns the faults of the secrets that the entry names, as `<field>: …`. */
  secretFaults?(entry: Entry): Promise<readonly string[]>;
  deposits?(entry: Entry): Deposits;
  /** Routes of the API, served even if the venue is not bound. */
  readonly routes?: readonly Route[];
  readonly requirement?: RequirementCheck;
  open(entries: readonly Entry[], world: World): OpenedVenue;
}

/** A venue that accepts all entries of the file and uses only its own. */
export interface Venue<Entry extends VenueEntry = VenueEntry> {
  readonly schema: z.core.$ZodTypeDiscriminable | null;
  readonly provider: string | null;
  readonly part: ChainPart | null;
  entries(bindings: readonly VenueEntry[]): readonly Entry[];
  faults(binding: VenueEntry, place: Place): readonly string[];
  locate(binding: VenueEntry, folder: string): VenueEntry;
  secretFaults(binding: VenueEntry): Promise<readonly string[]>;
  deposits(bindings: readonly VenueEntry[]): readonly Deposits[];
  readonly routes: readonly Route[];
  readonly requirement: RequirementCheck | null;
  open(bindings: readonly VenueEntry[], world: World): OpenedVenue;
}

export function defineVenue<Entry extends VenueEntry = never>(
  definition: VenueDefinition<Entry>,
): Venue<Entry> {
  const { entry, part = null } = definition;
  const isOwn = (binding: VenueEntry): binding is Entry => binding.provider === entry?.provider;
  const entries = (bindings: readonly VenueEntry[]) => bindings.filter(isOwn);
  return {
    schema: entry?.schema ?? null,
    provider: entry?.provider ?? null,
    part,
    routes: definition.routes ?? [],
    requirement: definition.requirement ?? null,
    entries,
    faults: (binding, place) => (isOwn(binding) ? (definition.faults?.(binding, place) ?? []) : []),
    locate: (binding, folder) =>
      isOwn(binding) ? (definition.locate?.(binding, folder) ?? binding) : binding,
    secretFaults: async (binding) =>
      isOwn(binding) ? ((await definition.secretFaults?.(binding)) ?? []) : [],
    deposits: (bindings) =>
      entries(bindings).flatMap((binding) => definition.deposits?.(binding) ?? []),
    open: (bindings, world) => definition.open(entries(bindings), world),
  };
}
