/** Plan templates to begin with on the embedded stack. */
import type { ChainInfo } from './chain.ts';

/** Bodies for `POST plan-templates`. */
export function starterTemplates(chain: ChainInfo) {
  const withdraw = {
    node_key: 'withdraw',
    node_kind: 'action',
    action_type: 'cex_withdrawal',
    executor_selector: { action_type: 'cex_withdrawal', provider: 'paper' },
    has_side_effect: true,
    config: {
      venue: 'paper-main',
      asset: 'USDC',
      network: 'local',
      destination_address: chain.accounts.signer.address,
    },
    timeout_policy: { execution_seconds: 300 },
  };
  const sweep = {
    node_key: 'sweep',
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
    },
  };
  // What is moved on is what arrived: a node with an amount of its own would draw from the wallet a
  // second time.
  const passOn = {
    ...sweep,
    config: { ...sweep.config, amount_ref: 'nodes.withdraw.output.received_amount' },
  };
  // Where a cancel leads: it undoes nothing, what has arrived by then stays where it is.
  const stop = { node_key: 'stop', node_kind: 'compensation', action_type: 'noop' };
  const gate = { node_key: 'check', node_kind: 'manual_gate', action_type: 'manual_gate' };
  const common = {
    version: 1,
    owner: 'treasury',
    risk_controls: { max_amount: '100000', min_amount: '1' },
  };
  return [
    {
      ...common,
      template_key: 'starter/withdraw-to-treasury',
      name: 'Withdraw USDC from the paper venue and move it to the treasury',
      nodes: [withdraw, passOn, stop],
      edges: [
        { from: 'withdraw', to: 'sweep', edge_type: 'on_success' },
        { from: 'withdraw', to: 'stop', edge_type: 'on_cancel' },
      ],
      completion_policy: { completion_assurance: 'destination_finalized' },
    },
    {
      ...common,
      template_key: 'starter/withdraw-with-gate',
      name: 'Withdraw USDC, wait for a person, then move it to the treasury',
      nodes: [withdraw, gate, passOn, stop],
      edges: [
        { from: 'withdraw', to: 'check', edge_type: 'on_success' },
        { from: 'check', to: 'sweep', edge_type: 'on_success' },
        { from: 'withdraw', to: 'stop', edge_type: 'on_cancel' },
      ],
      completion_policy: { completion_assurance: 'destination_credited' },
    },
    {
      ...common,
      template_key: 'starter/treasury-transfer',
      name: 'Move USDC from the wallet to the treasury',
      nodes: [sweep, stop],
      edges: [{ from: 'sweep', to: 'stop', edge_type: 'on_cancel' }],
      completion_policy: { completion_assurance: 'destination_finalized' },
    },
  ];
}
