/** Random small plans of nodes that draw, pass on, observe and wait, over two assets. */
import fc from 'fast-check';
import type { GraphEdge } from '../../../domain/graph/types.ts';
import type { CompiledNode, CompiledPlan } from '../../../domain/plan/types.ts';

const AMOUNTS = ['1', '2.5', '4.000000000000000001', '10', '0.1'] as const;
const TYPES = [
  'on_success',
  'on_success',
  'on_success',
  'on_failure',
  'on_failure',
  'on_timeout',
  'on_manual_resume',
  'on_cancel',
] as const;

interface DrawnNode {
  readonly kind: 'draw' | 'ref' | 'observe' | 'gate' | 'unknown';
  readonly asset: 'USDC' | 'USDT';
  readonly amount: string;
  readonly before: number;
  readonly patch: boolean;
}

const drawnNode: fc.Arbitrary<DrawnNode> = fc.record({
  kind: fc.constantFrom(
    'draw' as const,
    'draw' as const,
    'draw' as const,
    'ref' as const,
    'ref' as const,
    'observe' as const,
    'gate' as const,
    'unknown' as const,
  ),
  asset: fc.constantFrom('USDC' as const, 'USDC' as const, 'USDC' as const, 'USDT' as const),
  amount: fc.constantFrom(...AMOUNTS),
  before: fc.nat(),
  patch: fc.boolean(),
});

const drawnEdge = fc.record({
  edge_type: fc.constantFrom(...TYPES),
  priority: fc.constantFrom(0, 0, 1),
  pick: fc.nat(),
  step: fc.nat(),
});

/**
 * A plan of up to `size` nodes; `tree`: each node but the first has one edge into it, and no edge
 * is on_cancel.
 */
export function plans(size: number, tree = false): fc.Arbitrary<CompiledPlan> {
  return fc
    .tuple(
      fc.array(drawnNode, { minLength: 1, maxLength: size }),
      fc.array(drawnEdge, { minLength: size, maxLength: size }),
      fc.array(drawnEdge, { maxLength: tree ? 0 : size }),
    )
    .map(([nodes, spine, more]) => {
      const edges: GraphEdge[] = [];
      const edge = (
        from: number,
        to: number,
        { edge_type: drawn, priority }: (typeof spine)[number],
      ): void => {
        const edge_type = tree && drawn === 'on_cancel' ? 'on_success' : drawn;
        edges.push({
          from: `n${from}`,
          to: `n${to}`,
          edge_type,
          priority,
          join_key: null,
          condition_expr: null,
        });
      };
      spine
        .slice(0, nodes.length - 1)
        .forEach((each, index) => edge(each.pick % (index + 1), index + 1, each));
      if (nodes.length > 1)
        for (const each of more) {
          const from = each.pick % (nodes.length - 1);
          edge(from, from + 1 + (each.step % (nodes.length - 1 - from)), each);
        }
      return planOfNodes(
        nodes.map((each, index) => compiled(each, index)),
        edges,
      );
    });
}

function compiled({ kind, asset, amount, before, patch }: DrawnNode, index: number): CompiledNode {
  const sends = kind === 'draw' || kind === 'ref' || kind === 'unknown';
  const named = `n${before % Math.max(1, index)}`;
  const config =
    kind === 'draw'
      ? { amount }
      : kind === 'ref'
        ? { amount_ref: `nodes.${named}.output.got`, ...(patch ? { amount } : {}) }
        : kind === 'unknown'
          ? { amount_ref: 'nodes.elsewhere.output.got' }
          : { match_from: named };
  return {
    node_key: `n${index}`,
    node_kind: kind === 'gate' ? 'manual_gate' : kind === 'observe' ? 'observe' : 'action',
    action_type:
      kind === 'gate' ? 'manual_gate' : kind === 'observe' ? 'cex_deposit_observe' : 'acme_payout',
    has_side_effect: sends,
    sends,
    asset,
    config,
    ...(patch && kind === 'unknown' ? { risk_patch: { max_amount: amount } } : {}),
    executor_binding: { executor_key: 'acme.payouts' },
    signer_binding: null,
  };
}

/** The plan of these, of an intent of 3 USDC. */
export function planOfNodes(
  nodes: readonly CompiledNode[],
  edges: readonly GraphEdge[],
): CompiledPlan {
  return {
    template: { template_id: 't', template_key: 't', version: 1 },
    nodes,
    edges,
    risk_controls: {},
    completion_policy: { completion_assurance: 'provider_completed' },
    outflow: [],
    intent: { asset: 'USDC', amount: '3' },
    input_params: {},
  };
}
