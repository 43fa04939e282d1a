/**
 * Checks proposals and plans against the limits of an agent's authority. A limit that is not set
 * allows nothing, except `max_ttl_seconds`.
 */
import { specOf } from '../actions/built-in.ts';
import { compare } from '../money.ts';
import { outflowIn } from '../plan/flow.ts';
import { chainNamed, type ChainAssets } from '../plan/tokens.ts';
import type { CompiledNode, CompiledPlan } from '../plan/types.ts';
import type { Proposal, ProposalReason } from './proposal.ts';

/** The limits of an authority, as the tool that issues its key stored them. */
export interface AuthorityLimits {
  /**
   * Largest amount of one proposal, and of one movement in each asset; null: no amount is allowed.
   */
  readonly max_notional: string | null;
  readonly allowed_assets: readonly string[];
  /** Venue keys, chain ids in decimal, or network names of exchanges. */
  readonly allowed_chains: readonly string[];
  /** Null: any time that the API accepts, since a longer time moves no more money. */
  readonly max_ttl_seconds: number | null;
}

/** Returns the limits that a proposal exceeds. */
export function beyondLimits(
  proposal: Proposal,
  limits: AuthorityLimits,
  chains: ChainAssets,
): readonly ProposalReason[] {
  const { asset, source_chain, destination_chain, requested_notional, ttl_seconds } = proposal;
  const { max_notional: most, max_ttl_seconds: longest } = limits;
  const named = [source_chain, destination_chain];
  const when = (holds: boolean, reason: ProposalReason): readonly ProposalReason[] =>
    holds ? [reason] : [];
  return [
    ...when(!limits.allowed_assets.includes(asset), 'asset_not_allowed'),
    ...when(!named.every((name) => allowsName(name, limits, chains)), 'chain_not_allowed'),
    ...when(most === null || compare(requested_notional, most) > 0, 'notional_exceeded'),
    ...when(longest !== null && ttl_seconds > longest, 'ttl_exceeded'),
  ];
}

/**
 * Returns whether a chain is allowed, by its venue key or by its id; the proposal may use either
 * name.
 */
function allowsName(
  name: string,
  { allowed_chains }: Pick<AuthorityLimits, 'allowed_chains'>,
  chains: ChainAssets,
): boolean {
  return aliasesOf(name, chains).some((each) => allowed_chains.includes(each));
}

function aliasesOf(name: string, chains: ChainAssets): readonly string[] {
  const chain = chainNamed(chains, name);
  return chain === undefined ? [name] : namesOf(chain.chain_id, chains);
}

function namesOf(chainId: number, chains: ChainAssets): readonly string[] {
  const bound = chains.filter(({ chain_id }) => chain_id === chainId);
  return [String(chainId), ...bound.map(({ venue_key }) => venue_key)];
}

/** An administrator's permission to exceed the limits with one template version. */
export interface Grant {
  readonly asset: string;
  /** The largest amount that an administrator promoted. */
  readonly amount: string;
  readonly chains: readonly string[];
}

export const UNCOVERED_CODES = [
  'max_notional_exceeded',
  'asset_not_allowed',
  'chain_not_allowed',
] as const;

/** What a movement of an agent would do beyond the agent's authority. */
export type Uncovered =
  | {
      readonly code: 'max_notional_exceeded';
      readonly max_notional: string | null;
      /** Assets that exceed their limit. A null amount has no upper bound. */
      readonly exceeded: readonly {
        readonly asset: string;
        readonly amount: string | null;
        readonly limit: string;
      }[];
    }
  | { readonly code: 'asset_not_allowed'; readonly assets: readonly string[] }
  | { readonly code: 'chain_not_allowed'; readonly chains: readonly string[] };

/**
 * Returns everything that the compiled plan would do beyond the authority. The plan's outflow
 * decides, not the intent of the request. `grant` is null for a version that no administrator has
 * promoted.
 */
export function uncoveredBy(
  plan: Pick<CompiledPlan, 'nodes' | 'outflow'>,
  limits: AuthorityLimits,
  grant: Grant | null,
  chains: ChainAssets,
): readonly Uncovered[] {
  return [
    ...tooMuch(plan, limits, grant),
    ...otherAssets(plan, limits, grant),
    ...otherChains(plan, limits, grant, chains),
  ];
}

function tooMuch(
  { outflow }: Pick<CompiledPlan, 'outflow'>,
  limits: AuthorityLimits,
  grant: Grant | null,
): readonly Uncovered[] {
  const exceeded = outflow
    .map(({ asset }) => ({ asset, amount: outflowIn(outflow, asset), ...limitOf(asset) }))
    .filter(({ amount, limit }) => amount === null || compare(amount, limit) > 0);
  const { max_notional } = limits;
  return exceeded.length === 0 ? [] : [{ code: 'max_notional_exceeded', max_notional, exceeded }];

  function limitOf(asset: string): { readonly limit: string } {
    const own = limits.max_notional ?? '0';
    const granted = grant?.asset === asset ? grant.amount : '0';
    return { limit: compare(granted, own) > 0 ? granted : own };
  }
}

function otherAssets(
  { nodes, outflow }: Pick<CompiledPlan, 'nodes' | 'outflow'>,
  { allowed_assets }: AuthorityLimits,
  grant: Grant | null,
): readonly Uncovered[] {
  const sending = nodes.filter(({ sends }) => sends).map(({ asset }) => asset);
  const moved = new Set([...sending, ...outflow.map(({ asset }) => asset)]);
  const assets = [...moved]
    .filter((asset) => !allowed_assets.includes(asset) && asset !== grant?.asset)
    .sort();
  return assets.length === 0 ? [] : [{ code: 'asset_not_allowed', assets }];
}

function otherChains(
  { nodes }: Pick<CompiledPlan, 'nodes'>,
  { allowed_chains }: AuthorityLimits,
  grant: Grant | null,
  chains: ChainAssets,
): readonly Uncovered[] {
  const allowed = new Set([...allowed_chains, ...(grant?.chains ?? [])]);
  const outside = nodes
    .filter(({ sends }) => sends)
    .flatMap((node) => placesOf(node, chains))
    .filter((names) => !names.some((name) => allowed.has(name)))
    .map(([name]) => name ?? '');
  const named = [...new Set(outside)].sort();
  return named.length === 0 ? [] : [{ code: 'chain_not_allowed', chains: named }];
}

/**
 * Returns every chain that a node names, each with all its names. An exchange has its own network
 * names.
 */
function placesOf(
  { action_type, config }: Pick<CompiledNode, 'action_type' | 'config'>,
  chains: ChainAssets,
): readonly (readonly string[])[] {
  const { network } = config;
  if (specOf(action_type).payees === 'exchange' && typeof network === 'string')
    return [aliasesOf(network, chains)];
  return [config['chain_id'], config['source_chain_id'], config['destination_chain_id']]
    .filter((id) => id !== undefined)
    .map((id) => (typeof id === 'number' ? namesOf(id, chains) : [JSON.stringify(id)]));
}
