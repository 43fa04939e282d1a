/** The plans that movements of a run follow. What the service does not execute yet is left out by itself. */
import type { ChainInfo } from '../../dev/chain.ts';
import { starterTemplates } from '../../dev/starter-templates.ts';
import type { Caller } from './caller.ts';

export interface MixedTemplate {
  readonly key: string;
  readonly weight: number;
  /** Has a gate, so that somebody must resume it. */
  readonly gated: boolean;
  /** Has an on_cancel edge. */
  readonly cancellable: boolean;
}

interface Candidate extends Omit<MixedTemplate, 'key'> {
  readonly body: { readonly template_key: string } & Readonly<Record<string, unknown>>;
}

/** Registers every plan of the mix; answers those that the service says it executes, and names the others. */
export async function registerTemplates(
  caller: Caller,
  chain: ChainInfo,
): Promise<{ readonly mix: readonly MixedTemplate[]; readonly leftOut: readonly string[] }> {
  const mix: MixedTemplate[] = [];
  const leftOut: string[] = [];
  for (const { body, ...traits } of candidates(chain)) {
    const { status, body: answer } = await caller.call('POST', '/plan-templates', { body });
    if (status === 201 && answer['executable_in_v3_0'] === true) mix.push({ key: body.template_key, ...traits });
    else leftOut.push(`${body.template_key} (${JSON.stringify(answer['non_executable_reasons'] ?? answer['detail'])})`);
  }
  return { mix, leftOut };
}

function candidates(chain: ChainInfo): readonly Candidate[] {
  const [sweepPlan, gatePlan] = starterTemplates(chain);
  if (sweepPlan === undefined || gatePlan === undefined) throw new Error('the starter templates have changed');
  const { signer, treasury, venueHotWallet } = chain.accounts;
  const withdraw = (node_key = 'withdraw') => ({
    node_key,
    node_kind: 'action',
    action_type: 'cex_withdrawal',
    executor_selector: { action_type: 'cex_withdrawal', provider: 'paper' },
    has_side_effect: true,
    config: { venue: 'paper-main', asset: 'USDC', network: 'local', destination_address: signer.address },
  });
  const send = (node_key: string, to: string, node_kind = 'action') => ({
    node_key,
    node_kind,
    action_type: 'evm_erc20_transfer',
    executor_selector: { action_type: 'evm_erc20_transfer', chain_family: 'evm' },
    signer_selector: { chain_family: 'evm', profile: 'treasury' },
    has_side_effect: true,
    config: { asset: 'USDC', chain_id: chain.chainId, token_address: chain.tokens.USDC.address, destination_address: to },
  });
  const noop = (node_key: string) => ({ node_key, node_kind: 'action', action_type: 'noop' });
  const edge = (from: string, to: string, more: object = {}) => ({ from, to, edge_type: 'on_success', ...more });
  const plan = (name: string, nodes: readonly object[], edges: readonly object[], completion_assurance = 'destination_credited') => ({
    template_key: `fault-run/${name}`,
    version: 1,
    name: `Fault run: ${name}`,
    nodes,
    edges,
    completion_policy: { completion_assurance },
  });
  const sweep = send('sweep', treasury.address);
  const refund = send('refund', venueHotWallet.address, 'compensation');
  const onCancel = edge('withdraw', 'refund', { edge_type: 'on_cancel' });
  const common = { gated: false, cancellable: false };
  return [
    { ...common, weight: 2, body: plan('withdrawal', [withdraw()], [], 'destination_finalized') },
    { ...common, weight: 4, body: sweepPlan },
    { ...common, weight: 2, gated: true, body: gatePlan },
    { ...common, weight: 2, cancellable: true, body: plan('cancellable', [withdraw(), refund], [onCancel]) },
    {
      ...common,
      weight: 2,
      cancellable: true,
      body: plan('branching', [withdraw(), sweep, refund], [edge('withdraw', 'sweep'), onCancel]),
    },
    {
      ...common,
      weight: 2,
      body: plan(
        'parallel',
        [withdraw('left'), withdraw('right'), send('left-sweep', treasury.address), send('right-sweep', treasury.address), noop('done')],
        [edge('left', 'left-sweep'), edge('right', 'right-sweep'), edge('left-sweep', 'done'), edge('right-sweep', 'done')],
      ),
    },
    {
      ...common,
      weight: 2,
      body: plan(
        'conditional',
        [withdraw(), sweep, noop('keep')],
        [
          edge('withdraw', 'sweep', { condition_expr: 'input_params.route == "sweep"' }),
          edge('withdraw', 'keep', { condition_expr: 'input_params.route != "sweep"' }),
        ],
      ),
    },
  ];
}
