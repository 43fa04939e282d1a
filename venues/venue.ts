/**
 * An outside world as the service knows it. Each folder of venues has one in its `index.ts`, and
 * `list.ts` lists them; whoever binds, opens or asks venues folds over that list.
 */
import type { Logger } from 'pino';
import type { z } from 'zod';
import type { BalanceFetcher } from '../domain/balances.ts';
import type { MintReader } from '../domain/bridges/named-mint.ts';
import type { BridgeReader } from '../domain/bridges/registry.ts';
import type { TransferProvider } from '../domain/capital-transfers/provider.ts';
import type { Executor } from '../domain/executor.ts';
import type { DepositVenue } from '../domain/plan/tokens.ts';
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

/** What venues are opened over. */
export interface World {
  readonly chains: EvmChains;
  readonly evmVenues: readonly EvmVenue[];
  readonly signers: readonly Signer[];
}

/** What loops of venues work with. */
export interface LoopSources {
  readonly db: Database;
  readonly log: Logger;
  readonly signers: { get(key: string): Signer | undefined };
}

/** What the entries of a venue bring into a process; a member that is absent brings nothing. */
export interface OpenedVenue {
  readonly executors?: readonly Executor[];
  /** What nodes of its own action types may have signed. */
  readonly acts?: ActReader;
  readonly fetchers?: readonly BalanceFetcher[];
  readonly transferProviders?: readonly TransferProvider[];
  /** By the names that `clocksOfNode` gives them. */
  readonly clocks?: Readonly<Record<string, VenueClock>>;
  /** Asks endpoints of the bridge registry what they are. */
  readonly bridge?: BridgeReader;
  /** Reads mints that a person names. */
  readonly mints?: MintReader;
  readonly access?: Partial<VenueAccess>;
  /** What is done behind requests, in each process that takes work. */
  loops?(sources: LoopSources): readonly Loop[];
  close?(): Promise<void>;
}

/** A venue that is paid into from the chain of this id. */
export interface Deposits extends DepositVenue {
  readonly chain_id: number;
}

export interface VenueDefinition<Entry extends VenueEntry> {
  /** What its own entries look like; absent where it only has a part in chains' entries. */
  readonly entry?: {
    readonly provider: Entry['provider'];
    readonly schema: z.core.$ZodTypeDiscriminable & z.ZodType<Entry>;
  };
  readonly part?: ChainPart;
  /** What is wrong with an entry beside the others of the file, as `<place>.<field>: …`. */
  faults?(entry: Entry, place: Place): readonly string[];
  /** The entry with the paths of its secrets made absolute from this folder. */
  locate?(entry: Entry, folder: string): Entry;
  /** What is wrong with the secrets that it names, as `<field>: …`. */
  secretFaults?(entry: Entry): Promise<readonly string[]>;
  deposits?(entry: Entry): Deposits;
  /** Of the API, whether or not the venue is bound. */
  readonly routes?: readonly Route[];
  readonly requirement?: RequirementCheck;
  open(entries: readonly Entry[], world: World): OpenedVenue;
}

/** A venue to whom all entries of the file may be shown: it looks at its own. */
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
