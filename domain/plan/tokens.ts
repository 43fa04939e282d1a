/**
 * Which asset a node on a chain moves, and in which pool it lies: what the venues file lists, as
 * plain data.
 */
import { specOf } from '../actions/built-in.ts';
import type { BridgeLane } from '../actions/spec.ts';
import type { ChainFinality } from '../chains/finality.ts';
import type { Caps } from '../lanes/caps.ts';
import type { CompiledNode } from './types.ts';

export interface ChainToken {
  /** Upper case, as intents name it. */
  readonly asset: string;
  readonly address: string;
}

/** A chain's part of a bridge. */
export interface ChainBridge {
  /** The chain's key in the bridge registry: `<eid>:<address>`; null: it is not in it. */
  readonly endpoint_identity: string | null;
  /** The contracts that send an asset to other chains, and pull it for that. */
  readonly carriers: readonly ChainToken[];
}

/** A venue that is paid into from a chain. */
export interface DepositVenue {
  readonly venue_key: string;
  /** What it holds. */
  readonly asset: string;
  /** Where deposits are sent to. */
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
  /** Venues that are paid into from it. */
  readonly deposit_venues: readonly DepositVenue[];
}

/** One entry a chain. */
export type ChainAssets = readonly ChainEntry[];

/** With what one transaction may cost on it. */
export interface BoundChain extends ChainEntry {
  readonly caps: Caps;
}

/** Of a service without chains. */
export const NO_CHAINS: readonly BoundChain[] = [];

/**
 * The asset of a token, or of the chain's own coin for null; null for a chain or token that is not
 * listed. Addresses are compared without regard to case, since a checksum changes nothing.
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

/** The bound chain of this venue key or decimal id. */
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
 * Key of what one signer holds on one chain. Venue keys have no colon, so it names no other venue.
 */
export function onChainVenueKey(venueKey: string, signerKey: string): string {
  return `${venueKey}:${signerKey}`;
}

/** The pool out of which a signer pays on a chain; null for a chain that is not bound. */
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
 * The token of an asset that a bridge sends from a chain, and the contract that sends it; null
 * where it does not send that asset.
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

/** The contract of a bridge that sends an asset from a chain; undefined where there is none. */
export function carrierOf(
  chain: Pick<ChainEntry, 'bridges'> | undefined,
  lane: BridgeLane,
  asset: string,
): string | undefined {
  return chain?.bridges[lane]?.carriers.find((each) => each.asset === asset)?.address;
}

/** The venue of this key that is paid into from a bound chain; null where there is none. */
export function depositVenueOf(chains: ChainAssets, venueKey: unknown): DepositVenue | null {
  const all = chains.flatMap(({ deposit_venues }) => deposit_venues);
  return all.find(({ venue_key }) => venue_key === venueKey) ?? null;
}

type MovingNode = Pick<CompiledNode, 'node_key' | 'action_type' | 'config' | 'asset'>;

/** An on-chain node that would move another asset than it says. */
export interface TokenMismatch {
  readonly node_key: string;
  readonly chain_id: number | null;
  readonly token_address: string | null;
  /** What the node's asset is. */
  readonly asset: string;
  /** What its token is by the venue's list; null: it is not listed. */
  readonly token_asset: string | null;
}

/**
 * Whether a built-in node on a chain moves what it says: null, or what is wrong. The config is the
 * one that its executor receives.
 */
export function tokenMismatch(node: MovingNode, chains: ChainAssets): TokenMismatch | null {
  const { token: spec } = specOf(node.action_type);
  // The second leg of a bridge has the asset of its first, whatever its config says.
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

/** A venue that is paid into holds one asset, which its entry says. */
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

/** The venue entry says which token a bridge sends, so the plan names none. */
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
