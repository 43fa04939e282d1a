/**
 * Computes which asset an on-chain node moves and from which pool, using the entries of the venues
 * file.
 */
import { specOf } from '../actions/built-in.ts';
import type { BridgeLane } from '../actions/spec.ts';
import type { ChainFinality } from '../chains/finality.ts';
import type { Caps } from '../lanes/caps.ts';
import type { CompiledNode } from './types.ts';

export interface ChainToken {
  /** In upper case, as in intents. */
  readonly asset: string;
  readonly address: string;
}

/** A chain's end of a bridge. */
export interface ChainBridge {
  /**
   * The chain's key in the bridge registry: `<eid>:<address>`; null: the chain is not in that
   * registry.
   */
  readonly endpoint_identity: string | null;
  /** For each asset, the contract that sends it to other chains, and pulls it for that. */
  readonly carriers: readonly ChainToken[];
}

/** A venue that takes deposits from a chain. */
export interface DepositVenue {
  readonly venue_key: string;
  /** The asset that the venue holds. */
  readonly asset: string;
  /** The address to which deposits are sent. */
  readonly deposit_address: string;
}

/** One chain that this service is bound to. */
export interface ChainEntry {
  readonly venue_key: string;
  readonly chain_id: number;
  readonly native_asset: string;
  readonly tokens: readonly ChainToken[];
  readonly finality: ChainFinality;
  /** By bridge; a bridge that does not reach the chain is absent. */
  readonly bridges: Readonly<Partial<Record<BridgeLane, ChainBridge>>>;
  /** Venues that take deposits from this chain. */
  readonly deposit_venues: readonly DepositVenue[];
}

/** One entry for each chain. */
export type ChainAssets = readonly ChainEntry[];

/** A chain with the caps on the cost of one transaction. */
export interface BoundChain extends ChainEntry {
  readonly caps: Caps;
}

/** The chains of a service that is bound to none. */
export const NO_CHAINS: readonly BoundChain[] = [];

/**
 * Returns the asset of a token (the chain's native coin if the token is null); null for a chain or
 * token that is not listed. Addresses are compared in any case, since only a checksum depends on
 * it.
 */
export function assetOf(
  chains: readonly Pick<ChainEntry, 'chain_id' | 'native_asset' | 'tokens'>[],
  chainId: number,
  tokenAddress: string | null,
): string | null {
  const chain = chains.find((entry) => entry.chain_id === chainId);
  if (chain === undefined) return null;
  if (tokenAddress === null) return chain.native_asset;
  const wanted = tokenAddress.toLowerCase();
  return chain.tokens.find((token) => token.address.toLowerCase() === wanted)?.asset ?? null;
}

/** Returns the bound chain with this venue key or decimal chain id. */
export function chainNamed(chains: ChainAssets, name: string): ChainEntry | undefined {
  return (
    chains.find(({ venue_key }) => venue_key === name) ??
    chains.find(({ chain_id }) => String(chain_id) === name)
  );
}

export interface OnChainPool {
  readonly venue_key: string;
  readonly account_type: 'SPOT';
}

/**
 * Returns the venue key for what one signer holds on one chain. Other venue keys have no colon, so
 * the result equals none of them.
 */
export function onChainVenueKey(venueKey: string, signerKey: string): string {
  return `${venueKey}:${signerKey}`;
}

/** Returns the pool from which a signer pays on a chain; null for a chain that is not bound. */
export function onChainPool(
  chains: ChainAssets,
  chainId: number,
  signerKey: string,
): OnChainPool | null {
  const chain = chains.find((entry) => entry.chain_id === chainId);
  return chain === undefined
    ? null
    : { venue_key: onChainVenueKey(chain.venue_key, signerKey), account_type: 'SPOT' };
}

/**
 * Returns the token of an asset that a bridge sends from a chain, and the contract that sends it;
 * null when the bridge does not send that asset from there.
 */
export function carriedToken(
  chains: readonly Pick<ChainEntry, 'chain_id' | 'tokens' | 'bridges'>[],
  lane: BridgeLane,
  { chainId, asset }: { readonly chainId: unknown; readonly asset: string },
): { readonly token: string; readonly carrier: string } | null {
  const chain = chains.find(({ chain_id }) => chain_id === chainId);
  const token = chain?.tokens.find((each) => each.asset === asset)?.address;
  const carrier = carrierOf(chain, lane, asset);
  return token === undefined || carrier === undefined ? null : { token, carrier };
}

/**
 * Returns the contract of a bridge that sends an asset from a chain; undefined when there is no
 * such contract.
 */
export function carrierOf(
  chain: Pick<ChainEntry, 'bridges'> | undefined,
  lane: BridgeLane,
  asset: string,
): string | undefined {
  return chain?.bridges[lane]?.carriers.find((each) => each.asset === asset)?.address;
}

/** Returns the venue with this key if it takes deposits from a bound chain; else null. */
export function depositVenueOf(chains: ChainAssets, venueKey: unknown): DepositVenue | null {
  const all = chains.flatMap(({ deposit_venues }) => deposit_venues);
  return all.find(({ venue_key }) => venue_key === venueKey) ?? null;
}

type MovingNode = Pick<CompiledNode, 'node_key' | 'action_type' | 'config' | 'asset'>;

/** An on-chain node whose token is not of the node's asset. */
export interface TokenMismatch {
  readonly node_key: string;
  readonly chain_id: number | null;
  readonly token_address: string | null;
  /** The asset that the plan gives the node. */
  readonly asset: string;
  /** The asset of the node's token by the venue's list; null: the token is not listed. */
  readonly token_asset: string | null;
}

/**
 * Returns null if the token of a built-in on-chain node is of the node's asset, else the mismatch.
 * The config is the one that the node's executor receives.
 */
export function tokenMismatch(node: MovingNode, chains: ChainAssets): TokenMismatch | null {
  const { token: spec } = specOf(node.action_type);
  // The second leg of a bridge has the asset of its first leg, whatever its config contains.
  if (spec === null || spec === 'first_leg') return null;
  if (spec === 'bridge') return notCarried(node, chains);
  if (spec === 'deposit_venue') return notHeld(node, chains);
  const { [spec.chain]: chain, token_address: token } = node.config;
  const chain_id = typeof chain === 'number' ? chain : null;
  const native = spec.named === 'native' || (spec.named === 'optional' && token === undefined);
  const token_address = native || typeof token !== 'string' ? null : token;
  const known = chain_id !== null && (native || token_address !== null);
  const token_asset = known ? assetOf(chains, chain_id, token_address) : null;
  return token_asset === node.asset
    ? null
    : { node_key: node.node_key, chain_id, token_address, asset: node.asset, token_asset };
}

/**
 * Returns the mismatch of a deposit. The venue holds one asset, which its entry in the venues file
 * names.
 */
function notHeld(
  { node_key, config, asset }: MovingNode,
  chains: ChainAssets,
): TokenMismatch | null {
  const { venue, chain_id: chain } = config;
  const token_asset = depositVenueOf(chains, venue)?.asset ?? null;
  if (token_asset === asset) return null;
  const chain_id = typeof chain === 'number' ? chain : null;
  return { node_key, chain_id, token_address: null, asset, token_asset };
}

/**
 * Returns the mismatch of a bridge's first leg. The venues file names the token that a bridge
 * sends, so the plan names none.
 */
function notCarried(
  { node_key, action_type, config, asset }: MovingNode,
  chains: ChainAssets,
): TokenMismatch | null {
  const { source_chain_id: chain } = config;
  const lane = specOf(action_type).crossing?.lane;
  if (lane !== undefined && carriedToken(chains, lane, { chainId: chain, asset }) !== null)
    return null;
  const chain_id = typeof chain === 'number' ? chain : null;
  return { node_key, chain_id, token_address: null, asset, token_asset: null };
}
