/** Opens every bound venue and joins their executors, fetchers, clocks and loops. */
import { NO_BRIDGE_CHAINS, type BridgeReader } from '../domain/bridges/registry.ts';
import type { MintReader } from '../domain/bridges/named-mint.ts';
import type { RequestDesk } from '../domain/request-desk.ts';
import type { Signer } from '../domain/signer.ts';
import { chainAssets } from './bindings.ts';
import type { VenueEntry } from './entry.ts';
import { createEvmChains } from './evm/client.ts';
import { evm, VENUES } from './list.ts';
import type { LoopSources, OpenedVenue } from './venue.ts';

/** Opens the bound venues. The caller must close them. */
export function openVenues(
  bindings: readonly VenueEntry[],
  signers: readonly Signer[],
  requests: RequestDesk,
) {
  const evmVenues = evm.entries(bindings);
  const chains = createEvmChains(evmVenues);
  const world = { chains, evmVenues, signers, requests };
  const opened: readonly OpenedVenue[] = VENUES.map((venue) => venue.open(bindings, world));
  return {
    chains,
    evmVenues,
    chainAssets: chainAssets(bindings),
    queues: bindings.flatMap(({ venue_key, queue }) =>
      queue === undefined ? [] : [{ venue_key, ...queue }],
    ),
    requirements: VENUES.flatMap(({ requirement }) => requirement ?? []),
    executors: opened.flatMap(({ executors = [] }) => executors),
    /** Readers of the transaction or message that a node's plan lets its signer sign. */
    acts: opened.flatMap(({ acts }) => acts ?? []),
    fetchers: opened.flatMap(({ fetchers = [] }) => fetchers),
    transferProviders: opened.flatMap(({ transferProviders = [] }) => transferProviders),
    // If two clocks have one name, the clock of the earlier venue in the list wins. So a venue key
    // cannot replace a venue's own clock.
    clocks: Object.assign({}, ...opened.map(({ clocks }) => clocks).reverse()) as OpenedClocks,
    bridge: firstThatKnows(opened.flatMap(({ bridge }) => bridge ?? [])),
    claims: opened.flatMap(({ claims = [] }) => claims),
    mints: opened.flatMap(({ mints }) => mints ?? [])[0] satisfies MintReader | undefined,
    loops: (sources: LoopSources) => opened.flatMap((venue) => venue.loops?.(sources) ?? []),
    access: Object.assign({}, ...opened.map(({ access }) => access)) as OpenedAccess,
    close: async () => {
      await Promise.all(opened.map(async (venue) => venue.close?.()));
    },
  };
}

type OpenedClocks = NonNullable<OpenedVenue['clocks']>;
type OpenedAccess = NonNullable<OpenedVenue['access']>;

/** Returns the first successful answer: only the endpoint's own bridge can read the endpoint. */
function firstThatKnows(readers: readonly BridgeReader[]): BridgeReader {
  return {
    async read(chain, options) {
      for (const reader of readers) {
        const answer = await reader.read(chain, options);
        if (answer.ok) return answer;
      }
      return NO_BRIDGE_CHAINS.read(chain, options);
    },
  };
}
