import type { JsonObject } from '../../../domain/json.ts';
import type { NodeKind } from '../../../domain/graph/types.ts';
import { amountLimits } from '../../../domain/plan/limits.ts';
import type { CompiledNode, CompiledPlan } from '../../../domain/plan/types.ts';

function node(
  node_key: string,
  config: JsonObject,
  risk_patch?: JsonObject,
  node_kind: NodeKind = 'action',
): CompiledNode {
  const bound = { executor_binding: { executor_key: 'e' }, signer_binding: null };
  const patch = risk_patch === undefined ? {} : { risk_patch };
  const moves = { asset: 'USDC', sends: true };
  return {
    node_key,
    node_kind,
    action_type: 'acme_payout',
    has_side_effect: true,
    config,
    ...moves,
    ...bound,
    ...patch,
  };
}

function plan(nodes: readonly CompiledNode[], risk_controls: JsonObject = {}): CompiledPlan {
  return {
    template: { template_id: 't', template_key: 't', version: 1 },
    nodes,
    edges: [],
    risk_controls,
    completion_policy: { completion_assurance: 'provider_completed' },
    outflow: [],
    intent: { asset: 'USDC', amount: '10' },
    input_params: {},
  };
}

describe('amountLimits', () => {
  it('has nothing to say where no limit is set', () => {
    expect(amountLimits(plan([node('a', {})], { other: 1 }))).toEqual([]);
  });

  it("holds the largest amount against the plan's limit, and each node against its own", () => {
    const nodes = [
      node('a', { amount: '9' }, { max_amount: '8.5' }),
      node('b', {}),
      node('c', { amount: '2' }, { max_amount: '2.0' }),
    ];
    expect(amountLimits(plan(nodes, { max_amount: '10.0' }))).toEqual([
      { control: 'max_amount', limit: '10.0', after: '10', ok: true },
      { control: 'nodes.a.max_amount', limit: '8.5', after: '9', ok: false },
      { control: 'nodes.c.max_amount', limit: '2.0', after: '2', ok: true },
    ]);
    expect(amountLimits(plan(nodes, { max_amount: '9.999999999999999999' }))[0]).toMatchObject({
      after: '10',
      ok: false,
    });
  });

  it('compares as decimals: 9 is not more than 10', () => {
    expect(
      amountLimits(plan([node('a', { amount: '9' }), node('b', {})], { max_amount: '10' }))[0],
    ).toMatchObject({
      after: '10',
      ok: true,
    });
  });

  it("leaves open what depends on an earlier node's output, unless a known amount is too much already", () => {
    const later = node('b', { amount_ref: 'nodes.a.output.x' }, { max_amount: '5' });
    expect(amountLimits(plan([node('a', {}), later], { max_amount: '10' }))).toEqual([
      { control: 'max_amount', limit: '10', after: '10', ok: null },
      { control: 'nodes.b.max_amount', limit: '5', after: null, ok: null },
    ]);
    expect(amountLimits(plan([node('a', {}), later], { max_amount: '9' }))[0]).toMatchObject({
      ok: false,
    });
  });

  it('passes gates over, which never look at an amount', () => {
    const gate = node('g', { amount: '99' }, { max_amount: '1' }, 'manual_gate');
    expect(amountLimits(plan([node('a', {}), gate], { max_amount: '10' }))).toEqual([
      { control: 'max_amount', limit: '10', after: '10', ok: true },
    ]);
  });
});
