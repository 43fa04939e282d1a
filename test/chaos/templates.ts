/**
 * The plans that movements of a run follow. What the service does not execute yet is left out by
 * itself.
 */
import type { ChainInfo } from '../../dev/stack/chain.ts';
import { starterTemplates } from '../../dev/stack/starter-templates.ts';
import type { TemplateText } from '../support/movement-model.ts';
import type { Caller } from './caller.ts';

export interface MixedTemplate {
  readonly key: string;
  readonly weight: number;
  /** Has a gate, so that somebody must resume it. */
  readonly gated: boolean;
  /** Has an on_cancel edge. */
  readonly cancellable: boolean;
  /** Leaves to the caller's `node_config` how much is sent. */
  readonly configured: boolean;
  /**
   * How often the caller says whom the team's desk pays; without that its node fails before it
   * sends.
   */
  readonly payee: number;
  readonly body: TemplateText;
}

interface Candidate extends Omit<MixedTemplate, 'key' | 'body'> {
  readonly body: TemplateText & { readonly template_key: string };
}

/**
 * Registers every plan of the mix; answers those that the service says it executes, and names the
 * others.
 */
export async function registerTemplates(
  caller: Caller,
  chain: ChainInfo,
): Promise<{ readonly mix: readonly MixedTemplate[]; readonly leftOut: readonly string[] }> {
  const mix: MixedTemplate[] = [];
  const leftOut: string[] = [];
  for (const { body, ...traits } of candidates(chain)) {
    const { status, body: answer } = await caller.call('POST', '/plan-templates', { body });
    if (status === 201 && answer['executable_in_v3_0'] === true)
      mix.push({ key: body.template_key, body, ...traits });
    else
      leftOut.push(
        `${body.template_key} (${JSON.stringify(answer['non_executable_reasons'] ?? answer['detail'])})`,
      );
  }
  return { mix, leftOut };
}

function candidates(chain: ChainInfo): readonly Candidate[] {
  const [sweepPlan, gatePlan] = starterTemplates(chain);
  if (sweepPlan === undefined || gatePlan === undefined)
    throw new Error('the starter templates have changed');
  const { signer, treasury, venueHotWallet } = chain.accounts;
  const withdraw = (node_key = 'withdraw', more: object = {}) => ({
    node_key,
    node_kind: 'action',
    action_type: 'cex_withdrawal',
    executor_selector: { action_type: 'cex_withdrawal', provider: 'paper' },
    has_side_effect: true,
    config: {
      venue: 'paper-main',
      asset: 'USDC',
      network: 'local',
      destination_address: signer.address,
      ...more,
    },
  });
  /** An order of the team's desk: draws, or passes on what an earlier order paid. */
  const order = (node_key: string, from: string | null = null, node_kind = 'action') => ({
    node_key,
    node_kind,
    action_type: 'team_payout',
    executor_selector: { action_type: 'team_payout' },
    has_side_effect: true,
    config: from === null ? {} : { amount_ref: `nodes.${from}.output.received_amount` },
    retry_policy: { max_attempts: 40, initial_interval_seconds: 0.2 },
  });
  const gate = (node_key: string) => ({
    node_key,
    node_kind: 'manual_gate',
    action_type: 'manual_gate',
  });
  /** Moves on what a withdrawal brought. */
  const send = (node_key: string, to: string, from = 'withdraw', node_kind = 'action') => ({
    node_key,
    node_kind,
    action_type: 'evm_erc20_transfer',
    executor_selector: { action_type: 'evm_erc20_transfer', chain_family: 'evm' },
    signer_selector: { chain_family: 'evm', profile: 'treasury' },
    has_side_effect: true,
    config: {
      asset: 'USDC',
      chain_id: chain.chainId,
      token_address: chain.tokens.USDC.address,
      destination_address: to,
      amount_ref: `nodes.${from}.output.received_amount`,
    },
  });
  const noop = (node_key: string) => ({ node_key, node_kind: 'action', action_type: 'noop' });
  const edge = (from: string, to: string, more: object = {}) => ({
    from,
    to,
    edge_type: 'on_success',
    ...more,
  });
  const plan = (
    name: string,
    nodes: TemplateText['nodes'],
    edges: TemplateText['edges'],
    completion_assurance = 'destination_credited',
  ) => ({
    template_key: `fault-run/${name}`,
    version: 1,
    name: `Fault run: ${name}`,
    nodes,
    edges,
    completion_policy: { completion_assurance },
  });
  const sweep = send('sweep', treasury.address);
  const refund = send('refund', venueHotWallet.address, 'withdraw', 'compensation');
  const onCancel = edge('withdraw', 'refund', { edge_type: 'on_cancel' });
  const common = { gated: false, cancellable: false, configured: false, payee: 0 };
  return [
    { ...common, weight: 2, body: plan('withdrawal', [withdraw()], [], 'destination_finalized') },
    { ...common, weight: 4, body: sweepPlan },
    { ...common, weight: 2, gated: true, body: gatePlan },
    {
      ...common,
      weight: 2,
      cancellable: true,
      body: plan('cancellable', [withdraw(), refund], [onCancel]),
    },
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
        [
          withdraw('left'),
          withdraw('right'),
          send('left-sweep', treasury.address, 'left'),
          send('right-sweep', treasury.address, 'right'),
          noop('done'),
        ],
        [
          edge('left', 'left-sweep'),
          edge('right', 'right-sweep'),
          edge('left-sweep', 'done'),
          edge('right-sweep', 'done'),
        ],
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
    {
      ...common,
      weight: 3,
      configured: true,
      body: plan('configured', [withdraw(), sweep], [edge('withdraw', 'sweep')]),
    },
    {
      // What is drawn behind the gate is held while somebody makes up their mind.
      ...common,
      weight: 4,
      gated: true,
      cancellable: true,
      configured: true,
      body: plan(
        'gated-twice',
        [withdraw(), gate('check'), withdraw('more'), refund],
        [edge('withdraw', 'check'), edge('check', 'more'), onCancel],
      ),
    },
    {
      ...common,
      weight: 3,
      configured: true,
      body: plan(
        'priorities',
        [noop('choose'), withdraw('dear'), withdraw('cheap', { amount_ref: 'intent' })],
        [
          edge('choose', 'dear', { priority: 1, condition_expr: 'input_params.route == "sweep"' }),
          edge('choose', 'cheap', { priority: 0 }),
        ],
      ),
    },
    {
      ...common,
      weight: 3,
      configured: true,
      payee: 0.5,
      body: plan(
        'either',
        [order('pay'), withdraw('after', { amount_ref: 'intent' }), withdraw('instead')],
        [edge('pay', 'after'), edge('pay', 'instead', { edge_type: 'on_failure' })],
        'provider_completed',
      ),
    },
    {
      ...common,
      weight: 3,
      cancellable: true,
      configured: true,
      payee: 1,
      body: plan(
        'team',
        [order('pay'), order('forward', 'pay'), order('undo', 'pay', 'compensation')],
        [edge('pay', 'forward'), edge('pay', 'undo', { edge_type: 'on_cancel' })],
        'provider_completed',
      ),
    },
    {
      ...common,
      weight: 2,
      gated: true,
      cancellable: true,
      payee: 1,
      body: plan(
        'team-gated',
        [
          order('pay'),
          gate('check'),
          order('forward', 'pay'),
          withdraw('also'),
          order('undo', 'pay', 'compensation'),
        ],
        [
          edge('pay', 'check'),
          edge('check', 'forward', { edge_type: 'on_manual_resume' }),
          edge('check', 'also'),
          edge('pay', 'undo', { edge_type: 'on_cancel' }),
        ],
        'provider_completed',
      ),
    },
    {
      // Nothing leads on from the order that fails: what was withdrawn before it stays sent, the
      // rest is released.
      ...common,
      weight: 2,
      configured: true,
      payee: 0.3,
      body: plan(
        'failing',
        [withdraw('first', { amount_ref: 'intent' }), order('pay'), withdraw('last')],
        [edge('first', 'pay'), edge('pay', 'last')],
        'provider_completed',
      ),
    },
  ];
}
