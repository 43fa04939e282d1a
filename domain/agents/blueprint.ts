/** From a proposal to the plan that it asks for: a blueprint for each protocol family, as data. */
import { specOf, type SpecOf } from '../actions/built-in.ts';
import { PROTOCOL_FAMILIES, type ActionName, type ProtocolFamily } from '../actions/spec.ts';
import type { CompletionAssurance } from '../executor.ts';
import type { GraphEdge } from '../graph/types.ts';
import type { JsonObject } from '../json.ts';
import { carriedToken, type ChainAssets, type ChainEntry } from '../plan/tokens.ts';
import type { TemplateNode } from '../plan/types.ts';
import { chainNamed } from './authority.ts';
import type { Proposal } from './proposal.ts';

/** The graph of a proposal's template; its amount is the intent's, and drawn once. */
export interface Blueprint {
  readonly nodes: readonly TemplateNode[];
  readonly edges: readonly GraphEdge[];
  readonly completion_assurance: CompletionAssurance;
  /** The ends of the bridge path that has to be ready; null where the way needs none. */
  readonly path: { readonly source: string; readonly destination: string } | null;
}

/** Why there is none, in a sentence. */
export interface NoBlueprint {
  readonly problem: string;
}

/** What is bound here. */
export interface BoundVenues {
  readonly chains: ChainAssets;
  /** Accounts of exchanges. */
  readonly accounts: readonly { readonly venue_key: string; readonly provider: string }[];
}

/** The action types that a family's blueprint may be made with, as their specs say. */
type PartOf<Family extends ProtocolFamily> = {
  [Name in ActionName]: Family extends SpecOf<Name>['blueprints'][number] ? Name : never;
}[ActionName];

type Maker = (proposal: Proposal, bound: BoundVenues) => Blueprint | NoBlueprint;

/** How long a node may take from its start to its send. */
const EXECUTION_SECONDS = 3_600;

const MAKERS = {
  onchain_transfer: transfer,
  cctp: burnAndMint,
  bridge_c: bridgeC,
  cex_withdrawal: withdrawal,
  perp_deposit: perpDeposit,
  perp_withdraw: perpWithdrawal,
} as const satisfies Readonly<Record<ProtocolFamily, Maker>>;

/** The plan of a proposal, or why there is none. */
export function blueprintOf(proposal: Proposal, bound: BoundVenues): Blueprint | NoBlueprint {
  const { protocol_family: family, asset } = proposal;
  const maker = PROTOCOL_FAMILIES.find((known) => known === family);
  if (maker === undefined)
    return none(`there is no blueprint for ${family}; there are ${PROTOCOL_FAMILIES.join(', ')}`);
  // It becomes part of a template's key, and so of a path.
  if (!/^[A-Z0-9][A-Z0-9._-]{0,31}$/.test(asset))
    return none(`${asset} cannot be part of a template's key`);
  return MAKERS[maker](proposal, bound);
}

/** The key of the template that a proposal becomes a version of. */
export function templateKeyOf(namespace: string, proposal: Proposal): string {
  const { protocol_family, asset, source_chain, destination_chain } = proposal;
  return `${namespace}/${protocol_family}-${asset}-${source_chain}-${destination_chain}`;
}

function transfer(proposal: Proposal, { chains }: BoundVenues): Blueprint | NoBlueprint {
  const chain = destinationOf(proposal, chains);
  if ('problem' in chain) return chain;
  if (chainNamed(chains, proposal.source_chain) !== chain)
    return none('a transfer stays on its chain: source_chain and destination_chain differ');
  const { asset, destination_address } = proposal;
  const { chain_id } = chain;
  const native = asset === chain.native_asset;
  const token = tokenOf(chain, asset);
  if (!native && token === null) return none(`${chain.venue_key} lists no token ${asset}`);
  const node = native
    ? signed<'onchain_transfer'>(proposal, 'transfer', 'evm_native_transfer', {
        chain_id,
        destination_address,
      })
    : signed<'onchain_transfer'>(proposal, 'transfer', 'evm_erc20_transfer', {
        ...{ chain_id, token_address: token ?? '', destination_address },
      });
  return inOneLine([node], 'destination_finalized');
}

/** An allowance, a burn and a mint, all of the intent's amount; no fee is paid for haste. */
function burnAndMint(proposal: Proposal, { chains }: BoundVenues): Blueprint | NoBlueprint {
  const ends = endsOf(proposal, chains);
  if ('problem' in ends) return ends;
  const { source, destination } = ends;
  if ([source, destination].some((end) => tokenOf(end, proposal.asset) === null))
    return none(`${proposal.asset} is not listed on both chains`);
  const [carried, there] = [source, destination].map(({ chain_id: chainId }) =>
    carriedToken(chains, 'burn_and_mint', { chainId, asset: proposal.asset }),
  );
  if (carried == null || there == null)
    return none('the burn-and-mint lane does not reach both chains');
  const { token, carrier: spender } = carried;
  const allow = signed<'cctp'>(proposal, 'allow', 'evm_erc20_approve', {
    ...{ chain_id: source.chain_id, token_address: token, spender },
  });
  const burn = signed<'cctp'>(proposal, 'burn', 'cctp_burn', {
    source_chain_id: source.chain_id,
    destination_chain_id: destination.chain_id,
    token_address: token,
    mint_recipient: proposal.destination_address,
    ...{ max_fee: '0', finality: 'standard' },
  });
  // What it brings is what its burn has burnt, so it says no amount.
  const config = { asset: proposal.asset, burn_from: 'burn' };
  const mint = { ...signed<'cctp'>(proposal, 'mint', 'cctp_mint', {}), config };
  return inOneLine([allow, burn, mint], 'destination_finalized');
}

function bridgeC(proposal: Proposal, { chains }: BoundVenues): Blueprint | NoBlueprint {
  const ends = endsOf(proposal, chains);
  if ('problem' in ends) return ends;
  const { source, destination } = ends;
  const [carried, there] = [source, destination].map(({ chain_id: chainId }) =>
    carriedToken(chains, 'bridge_c', { chainId, asset: proposal.asset }),
  );
  const [from, to] = [source, destination].map(
    ({ bridges }) => bridges.bridge_c?.endpoint_identity ?? null,
  );
  if (carried == null || there == null || from == null || to == null)
    return none(`the bridge_c lane does not carry ${proposal.asset} between these chains`);
  const pulls = carried.carrier.toLowerCase() !== carried.token.toLowerCase();
  const allow = signed<'bridge_c'>(proposal, 'allow', 'evm_erc20_approve', {
    ...{ chain_id: source.chain_id, token_address: carried.token, spender: carried.carrier },
  });
  const send = signed<'bridge_c'>(proposal, 'send', 'bridge_c_send', {
    source_chain_id: source.chain_id,
    destination_chain_id: destination.chain_id,
    destination_address: proposal.destination_address,
  });
  const action_type: PartOf<'bridge_c'> = 'bridge_c_observe';
  const arrive: TemplateNode = {
    ...{ node_key: 'arrive', node_kind: 'observe', action_type },
    executor_selector: { action_type },
    has_side_effect: false,
    config: { match_from: 'send', asset: proposal.asset },
  };
  return {
    ...inOneLine([...(pulls ? [allow] : []), send, arrive], 'destination_finalized'),
    path: { source: from, destination: to },
  };
}

/** The exchange pays on the network of this name, which it knows by itself. */
function withdrawal(
  proposal: Proposal,
  { chains, accounts }: BoundVenues,
): Blueprint | NoBlueprint {
  const { asset, source_chain, destination_chain, destination_address } = proposal;
  const account = accounts.find(({ venue_key }) => venue_key === source_chain);
  if (account === undefined) return none(`${source_chain} is no account of an exchange`);
  // Who approves reads the number too: beside the name of a chain of ours it must not be another's.
  if (chainNamed(chains, destination_chain) !== undefined) {
    const chain = destinationOf(proposal, chains);
    if ('problem' in chain) return chain;
  }
  const config = {
    ...{ venue: source_chain, asset, network: destination_chain, destination_address },
    ...{ chain_id: proposal.destination_chain_id, amount_ref: 'intent' },
  };
  const { provider } = account;
  const node = sending<'cex_withdrawal'>('withdraw', 'cex_withdrawal', config, { provider });
  return inOneLine([node], 'provider_completed');
}

function perpDeposit(proposal: Proposal, { chains }: BoundVenues): Blueprint | NoBlueprint {
  const { asset, destination_chain, destination_chain_id, destination_address } = proposal;
  const chain = chainNamed(chains, proposal.source_chain);
  const perp = chain?.deposit_venues.find(({ venue_key }) => venue_key === destination_chain);
  if (chain === undefined || perp === undefined)
    return none(`no perps venue ${destination_chain} is paid into from ${proposal.source_chain}`);
  if (
    chain.chain_id !== destination_chain_id ||
    !sameText(destination_address, perp.deposit_address)
  )
    return none(
      `deposits go to ${perp.deposit_address} on chain ${String(chain.chain_id)}: give these as the destination`,
    );
  const token = tokenOf(chain, asset);
  if (asset !== perp.asset || token === null) return none(`the perps venue holds ${perp.asset}`);
  const node = signed<'perp_deposit'>(
    proposal,
    'deposit',
    'perp_deposit',
    {
      ...{ venue: perp.venue_key, chain_id: chain.chain_id, token_address: token },
      destination_address: perp.deposit_address,
    },
    { provider: 'perp' },
  );
  return inOneLine([node], 'provider_completed');
}

function perpWithdrawal(proposal: Proposal, { chains }: BoundVenues): Blueprint | NoBlueprint {
  const { asset, source_chain, destination_address } = proposal;
  const chain = destinationOf(proposal, chains);
  if ('problem' in chain) return chain;
  const perp = chain.deposit_venues.find(({ venue_key }) => venue_key === source_chain);
  if (perp === undefined)
    return none(`no perps venue ${source_chain} pays out on ${chain.venue_key}`);
  if (asset !== perp.asset) return none(`the perps venue holds ${perp.asset}`);
  const node = signed<'perp_withdraw'>(
    proposal,
    'withdraw',
    'perp_withdraw',
    { venue: perp.venue_key, chain_id: chain.chain_id, destination_address },
    { provider: 'perp' },
  );
  return inOneLine([node], 'provider_completed');
}

/** The bound chain that is both named and numbered. */
function destinationOf(proposal: Proposal, chains: ChainAssets): ChainEntry | NoBlueprint {
  const { destination_chain: name, destination_chain_id: id } = proposal;
  const chain = chainNamed(chains, name);
  if (chain === undefined) return none(`no chain ${name} is bound here`);
  return chain.chain_id === id
    ? chain
    : none(`destination_chain ${name} is chain ${String(chain.chain_id)}, not ${String(id)}`);
}

function endsOf(
  proposal: Proposal,
  chains: ChainAssets,
): { readonly source: ChainEntry; readonly destination: ChainEntry } | NoBlueprint {
  const destination = destinationOf(proposal, chains);
  if ('problem' in destination) return destination;
  const source = chainNamed(chains, proposal.source_chain);
  if (source === undefined) return none(`no chain ${proposal.source_chain} is bound here`);
  return source === destination
    ? none('a bridge leads to another chain: source_chain and destination_chain are one')
    : { source, destination };
}

function tokenOf({ tokens }: ChainEntry, asset: string): string | null {
  return tokens.find((token) => token.asset === asset)?.address ?? null;
}

/**
 * A node that draws the intent's amount and nothing else: what a caller may add to a config stays
 * behind what the template says.
 */
function signed<Family extends ProtocolFamily>(
  { asset, signer_profile: profile }: Proposal,
  node_key: string,
  action_type: PartOf<Family>,
  config: JsonObject,
  by: { readonly provider?: string } = {},
): TemplateNode {
  const chain_family = 'evm';
  const selected = by.provider === undefined ? { chain_family } : by;
  const own = { asset, ...config, amount_ref: 'intent' };
  return {
    ...sending<Family>(node_key, action_type, own, selected),
    signer_selector: { chain_family, profile },
  };
}

function sending<Family extends ProtocolFamily>(
  node_key: string,
  action_type: PartOf<Family>,
  config: JsonObject,
  selected: { readonly provider?: string; readonly chain_family?: string },
): TemplateNode {
  return {
    ...{ node_key, node_kind: 'action', action_type, has_side_effect: true },
    executor_selector: { action_type, ...selected },
    config,
    timeout_policy: { execution_seconds: EXECUTION_SECONDS },
  };
}

/**
 * One after the other; a cancel takes an allowance back, or leads to a node that undoes nothing,
 * and ends the movement.
 */
function inOneLine(
  line: readonly TemplateNode[],
  completion_assurance: CompletionAssurance,
): Blueprint {
  const [first] = line;
  const undo = first !== undefined && specOf(first.action_type).allowance ? resetOf(first) : STOP;
  const edge = (from: string, to: string, edge_type: GraphEdge['edge_type']): GraphEdge => ({
    ...{ from, to, edge_type, condition_expr: null, priority: 0, join_key: null },
  });
  const steps = line
    .slice(1)
    .map((node, before) => edge(line[before]?.node_key ?? '', node.node_key, 'on_success'));
  const edges = [...steps, edge(first?.node_key ?? '', undo.node_key, 'on_cancel')];
  return { nodes: [...line, undo], edges, completion_assurance, path: null };
}

const STOP: TemplateNode = {
  ...{ node_key: 'stop', node_kind: 'compensation', action_type: 'noop' },
  has_side_effect: false,
};

/**
 * Takes an allowance back. Behind a failure it would make what pulls by it unretryable; after a
 * cancel its nonce is above that of what is in flight and pulls.
 */
function resetOf(allow: TemplateNode): TemplateNode {
  const { amount_ref: _drawn, ...config } = allow.config ?? {};
  return {
    ...allow,
    ...{ node_key: 'reset', node_kind: 'compensation', config: { ...config, amount: '0' } },
  };
}

function sameText(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

function none(problem: string): NoBlueprint {
  return { problem };
}
