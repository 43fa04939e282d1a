/** Templates of both lanes between the two local chains. */
import type { BridgeSide } from '../../dev/stack/bridges.ts';

export interface BridgePlan {
  readonly key: string;
  readonly from: BridgeSide;
  readonly to: BridgeSide;
  readonly payee: string;
  /** `fast` costs a fee, and is signed for as soon as the burn is in a block. */
  readonly finality: 'fast' | 'standard';
  /** Burns what was allowed before, and sets no allowance. */
  readonly allowed?: boolean;
  /** Somebody has to resume it between the burn and the mint. */
  readonly gated?: boolean;
}

const SECONDS = 3_600;
const signer_selector = { chain_family: 'evm', profile: 'treasury' };
const action = (node_key: string, action_type: string, config: object) => ({
  node_key,
  action_type,
  config,
  signer_selector,
  node_kind: 'action',
  has_side_effect: true,
  timeout_policy: { execution_seconds: SECONDS, observe_seconds: SECONDS },
});
const gate = (node_key: string) => ({
  node_key,
  node_kind: 'manual_gate',
  action_type: 'manual_gate',
});
const allowance = ({ chainId, contracts }: BridgeSide) =>
  action('allow', 'evm_erc20_approve', {
    chain_id: chainId,
    token_address: contracts.burnToken,
    spender: contracts.tokenMessenger,
  });
const template = (template_key: string, nodes: object[], edges: object[]) => ({
  template_key,
  version: 1,
  name: template_key,
  nodes,
  edges,
  approval_policy: {},
  risk_controls: {},
  completion_policy: { completion_assurance: 'destination_finalized' },
});

/** allow → burn → mint, as the plan says. */
export function burnAndMint(plan: BridgePlan): object {
  const { from, to, payee, finality, allowed = false, gated = false } = plan;
  const burn = action('burn', 'cctp_burn', {
    source_chain_id: from.chainId,
    destination_chain_id: to.chainId,
    token_address: from.contracts.burnToken,
    mint_recipient: payee,
    finality,
    max_fee: finality === 'fast' ? '0.5' : '0',
  });
  const edge = (of: string, leads: string, edge_type = 'on_success') => ({
    from: of,
    to: leads,
    edge_type,
  });
  return template(
    plan.key,
    [
      ...(allowed ? [] : [allowance(from)]),
      burn,
      ...(gated ? [gate('wait')] : []),
      action('mint', 'cctp_mint', { burn_from: 'burn' }),
    ],
    [
      ...(allowed ? [] : [edge('allow', 'burn')]),
      ...(gated
        ? [edge('burn', 'wait'), edge('wait', 'mint', 'on_manual_resume')]
        : [edge('burn', 'mint')]),
    ],
  );
}

/** An allowance alone, which many burns may draw on. */
export function standingAllowance(key: string, side: BridgeSide): object {
  return template(key, [allowance(side)], []);
}

export interface SendPlan {
  readonly key: string;
  readonly from: BridgeSide;
  readonly to: BridgeSide;
  readonly payee: string;
}

/** send → arrive over the `bridge_c` lane. */
export function sendAndArrive({ key, from, to, payee }: SendPlan): object {
  return template(
    key,
    [
      action('send', 'bridge_c_send', {
        source_chain_id: from.chainId,
        destination_chain_id: to.chainId,
        destination_address: payee,
      }),
      {
        node_key: 'arrive',
        node_kind: 'observe',
        action_type: 'bridge_c_observe',
        has_side_effect: false,
        config: { match_from: 'send' },
      },
    ],
    [{ from: 'send', to: 'arrive', edge_type: 'on_success' }],
  );
}
