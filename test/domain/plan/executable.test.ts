import { describe, expect, it } from '@jest/globals';
import { nonExecutableReasons } from '../../../domain/plan/executable.ts';
import type { TemplateNode } from '../../../domain/plan/types.ts';
import { edge } from '../graph/build.ts';

const node = (node_key: string, more: Partial<TemplateNode> = {}): TemplateNode => ({
  node_key,
  node_kind: 'action',
  action_type: 'noop',
  has_side_effect: true,
  ...more,
});
const reasons = (nodes: TemplateNode[], ...edges: string[]) => nonExecutableReasons({ nodes, edges: edges.map((each) => edge(each)) });

describe('nonExecutableReasons', () => {
  it('has none for a plain line', () => {
    const second = node('b', { config: { amount_ref: 'nodes.a.output.received' } });
    expect(reasons([node('a'), second, node('c', { node_kind: 'compensation' })], 'a>b', 'b>c:on_failure')).toEqual([]);
  });

  it.each([
    ['signer_selector_missing:a', [node('a', { action_type: 'evm_native_transfer' })], []],
    ['gate_with_side_effect:a', [node('a', { node_kind: 'manual_gate' })], []],
    ['unknown_amount_ref:a', [node('a', { config: { amount_ref: 'nodes.b.output.x' } }), node('b')], ['a>b']],
    ['unknown_amount_ref:a', [node('a', { config: { amount: 5 } })], []],
    ['timeout_edge_without_timeout:a->b', [node('a'), node('b')], ['a>b:on_timeout']],
    ['compensation_on_success_path:a->b', [node('a'), node('b', { node_kind: 'compensation' })], ['a>b']],
    ['compensation_on_success_path:a->b', [node('a'), node('b', { node_kind: 'compensation' })], ['a>b:on_manual_resume']],
    ['graph_runtime_unavailable:a', [node('a'), node('b'), node('c')], ['a>b', 'a>c']],
    ['graph_runtime_unavailable:c', [node('a'), node('b'), node('c')], ['a>c', 'b>c']],
  ])('tells %s', (reason, nodes, edges) => {
    expect(reasons(nodes, ...edges)).toEqual([reason]);
  });

  it('allows an on_timeout edge of a node with a time-out', () => {
    expect(reasons([node('a', { timeout_policy: { observe_seconds: 5 } }), node('b')], 'a>b:on_timeout')).toEqual([]);
  });

  it('tells that a condition is not run yet', () => {
    const edges = [edge('a>b', { condition_expr: 'true' })];
    expect(nonExecutableReasons({ nodes: [node('a'), node('b')], edges })).toEqual(['graph_runtime_unavailable:a->b']);
  });
});
