/** Parts that all blueprints use: finding chains by name, making nodes, putting nodes in order. */
import type { Proposal } from '../../agents/proposal.ts';
import type { CompletionAssurance } from '../../executor.ts';
import type { GraphEdge } from '../../graph/types.ts';
import type { JsonObject } from '../../json.ts';
import { chainNamed, type ChainAssets, type ChainEntry } from '../../plan/tokens.ts';
import type { TemplateNode } from '../../plan/types.ts';
import { specOf } from '../built-in.ts';
import type { ActionName } from '../spec.ts';

/** The plan graph of a proposal's template. Together its nodes send the intent's amount once. */
export interface Blueprint {
  readonly nodes: readonly TemplateNode[];
  readonly edges: readonly GraphEdge[];
  readonly completion_assurance: CompletionAssurance;
  /** The bridge path that must be ready; null: the plan uses no path of the bridge registry. */
  readonly path: { readonly source: string; readonly destination: string } | null;
}

/** Returned if a proposal has no blueprint; `problem` is the reason in a sentence. */
export interface NoBlueprint {
  readonly problem: string;
}

/** The chains and exchange accounts that this service is bound to. */
export interface BoundVenues {
  readonly chains: ChainAssets;
  /** Accounts at exchanges. */
  readonly accounts: readonly { readonly venue_key: string; readonly provider: string }[];
}

/** Makes the blueprint of a proposal of one protocol family, or returns why there is none. */
export type BlueprintMaker = (proposal: Proposal, bound: BoundVenues) => Blueprint | NoBlueprint;

/** Longest time from the start of a plan node to its send. */
const EXECUTION_SECONDS = 3_600;

export function none(problem: string): NoBlueprint {
  return { problem };
}

/**
 * Returns the destination: the bound chain whose name and chain id are both those of the proposal.
 */
export function destinationOf(proposal: Proposal, chains: ChainAssets): ChainEntry | NoBlueprint {
  const { destination_chain: name, destination_chain_id: id } = proposal;
  const chain = chainNamed(chains, name);
  if (chain === undefined) return none(`destination_chain ${name} is not set up`);
  return chain.chain_id === id
    ? chain
    : none(`destination_chain ${name} is chain ${String(chain.chain_id)}, not ${String(id)}`);
}

/** Returns the source and the destination of a bridge transfer: two different bound chains. */
export function endsOf(
  proposal: Proposal,
  chains: ChainAssets,
): { readonly source: ChainEntry; readonly destination: ChainEntry } | NoBlueprint {
  const destination = destinationOf(proposal, chains);
  if ('problem' in destination) return destination;
  const source = chainNamed(chains, proposal.source_chain);
  if (source === undefined) return none(`source_chain ${proposal.source_chain} is not set up`);
  return source === destination
    ? none('a bridge leads to another chain: source_chain and destination_chain are the same')
    : { source, destination };
}

/** Returns the token address of an asset on a chain; null if the chain lists no such token. */
export function tokenOf({ tokens }: ChainEntry, asset: string): string | null {
  return tokens.find((token) => token.asset === asset)?.address ?? null;
}

/** Returns a plan node that allows a contract to pull the intent's amount of a token. */
export function allowing(
  proposal: Proposal,
  { chain_id }: ChainEntry,
  { token: token_address, carrier: spender }: { readonly token: string; readonly carrier: string },
): TemplateNode {
  return signed(proposal, 'allow', 'evm_erc20_approve', { chain_id, token_address, spender });
}

/**
 * Returns a plan node that the proposal's signer signs and that moves only the intent's amount. The
 * template sets every field that decides amount, asset or payee, so a caller's config cannot change
 * them.
 */
export function signed(
  { asset, signer_profile: profile }: Proposal,
  node_key: string,
  action_type: ActionName,
  config: JsonObject,
  selected: { readonly provider?: string; readonly chain_family?: string } = {
    chain_family: 'evm',
  },
): TemplateNode {
  return {
    ...sending(node_key, action_type, { asset, ...config, amount_ref: 'intent' }, selected),
    signer_selector: { chain_family: 'evm', profile },
  };
}

/** Returns a plan node that sends, with the rule that selects its executor. */
export function sending(
  node_key: string,
  action_type: ActionName,
  config: JsonObject,
  selected: { readonly provider?: string; readonly chain_family?: string },
): TemplateNode {
  return {
    node_key,
    node_kind: 'action',
    action_type,
    has_side_effect: true,
    executor_selector: { action_type, ...selected },
    config,
    timeout_policy: { execution_seconds: EXECUTION_SECONDS },
  };
}

/**
 * Returns a graph that runs the nodes one after the other. A cancel leads to a compensation node
 * that ends the movement. If the first node grants an allowance, the compensation sets it to zero;
 * otherwise it does nothing.
 */
export function inOneLine(
  line: readonly TemplateNode[],
  completion_assurance: CompletionAssurance,
  path: Blueprint['path'] = null,
): Blueprint {
  const [first] = line;
  const undo = first !== undefined && specOf(first.action_type).allowance ? resetOf(first) : STOP;
  const edge = (from: string, to: string, edge_type: GraphEdge['edge_type']): GraphEdge => ({
    from,
    to,
    edge_type,
    condition_expr: null,
    priority: 0,
    join_key: null,
  });
  const steps = line
    .slice(1)
    .map((node, before) => edge(line[before]?.node_key ?? '', node.node_key, 'on_success'));
  const edges = [...steps, edge(first?.node_key ?? '', undo.node_key, 'on_cancel')];
  return { nodes: [...line, undo], edges, completion_assurance, path };
}

const STOP: TemplateNode = {
  node_key: 'stop',
  node_kind: 'compensation',
  action_type: 'noop',
  has_side_effect: false,
};

/**
 * Returns a node that sets an allowance to zero after a cancel. Its transaction nonce is then
 * higher than all nonces in flight. The node must not run after a failure: a retry of the node that
 * pulls the funds needs the allowance.
 */
function resetOf(allow: TemplateNode): TemplateNode {
  const { amount_ref: _drawn, ...config } = allow.config ?? {};
  return {
    ...allow,
    node_key: 'reset',
    node_kind: 'compensation',
    config: { ...config, amount: '0' },
  };
}
