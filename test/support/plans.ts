/** Plans for tests with a stack of their own: nodes, edges and how a template of them is stored. */
import { randomUUID } from 'node:crypto';
import type { ChainInfo } from '../../dev/stack/chain.ts';
import type { MovementApi } from './own-stack.ts';

export interface PlanNode {
  readonly node_key: string;
  readonly [field: string]: unknown;
}

export interface PlanEdge {
  readonly from: string;
  readonly to: string;
  readonly edge_type: string;
}

export function noop(node_key: string, more: object = {}): PlanNode {
  return { node_key, node_kind: 'action', action_type: 'noop', ...more };
}

export function gate(node_key: string): PlanNode {
  return { node_key, node_kind: 'manual_gate', action_type: 'manual_gate' };
}

/** What undoes another node; without an effect of its own. */
export function compensation(node_key: string, more: object = {}): PlanNode {
  return { node_key, node_kind: 'compensation', action_type: 'noop', ...more };
}

/**
 * A withdrawal of USDC from an exchange's main account to the wallet that the treasury signer signs
 * for.
 */
export function withdrawal(
  chain: ChainInfo,
  node_key: string,
  options: { readonly provider?: string; readonly config?: object; readonly more?: object } = {},
): PlanNode {
  const { provider = 'paper', config = {}, more = {} } = options;
  return {
    node_key,
    node_kind: 'action',
    action_type: 'cex_withdrawal',
    executor_selector: { action_type: 'cex_withdrawal', provider },
    has_side_effect: true,
    config: {
      venue: 'paper-main',
      asset: 'USDC',
      network: 'local',
      destination_address: chain.accounts.signer.address,
      ...config,
    },
    ...more,
  };
}

/** A transfer of USDC on the chain, from that wallet to the treasury. */
export function transfer(
  chain: ChainInfo,
  node_key: string,
  options: { readonly config?: object; readonly more?: object } = {},
): PlanNode {
  return {
    node_key,
    node_kind: 'action',
    action_type: 'evm_erc20_transfer',
    executor_selector: { action_type: 'evm_erc20_transfer', chain_family: 'evm' },
    signer_selector: { chain_family: 'evm', profile: 'treasury' },
    has_side_effect: true,
    config: {
      asset: 'USDC',
      chain_id: chain.chainId,
      token_address: chain.tokens.USDC.address,
      destination_address: chain.accounts.treasury.address,
      ...options.config,
    },
    ...options.more,
  };
}

/** What moves on what an earlier node of the plan sent: it draws nothing of its own. */
export function passedOn(node: PlanNode, from: string): PlanNode {
  return {
    ...node,
    config: { ...(node['config'] as object), amount_ref: `nodes.${from}.output.received_amount` },
  };
}

export function edge(from: string, to: string, edge_type = 'on_success'): PlanEdge {
  return { from, to, edge_type };
}

/**
 * Stores version 1 of a template and answers its key; one node follows the other without `edges`.
 */
export async function storeTemplate(
  api: MovementApi,
  nodes: readonly PlanNode[],
  options: { readonly edges?: readonly PlanEdge[]; readonly assurance?: string } = {},
): Promise<string> {
  const template_key = `test/${randomUUID()}`;
  const inARow = nodes
    .slice(1)
    .map((node, index) => edge(nodes[index]?.node_key ?? '', node.node_key));
  await api.expect(201, 'POST', '/plan-templates', {
    template_key,
    version: 1,
    name: 'A template of the tests',
    nodes,
    edges: options.edges ?? inARow,
    completion_policy: { completion_assurance: options.assurance ?? 'destination_credited' },
  });
  return template_key;
}
