/** What each node of a plan is required to show. */
import {
  requiredAssurances,
  heldTo,
  suffices,
  unsupportedAssurances,
} from '../../../domain/plan/assurance.ts';
import {
  COMPLETION_ASSURANCES,
  type CompletionAssurance,
  type ExecutionResult,
} from '../../../domain/executor.ts';
import type { TemplateNode } from '../../../domain/plan/types.ts';
import { edge } from '../graph/build.ts';

const node = (node_key: string, more: Partial<TemplateNode> = {}): TemplateNode => ({
  node_key,
  node_kind: 'action',
  action_type: 'cex_withdrawal',
  has_side_effect: true,
  ...more,
});
const weaker = (completion_assurance: string) => ({ config: { completion_assurance } });

/** The nodes that must show what the plan promises, and what the others must show. */
function required(nodes: readonly TemplateNode[], ...edges: string[]): readonly string[] {
  const plan = {
    nodes,
    edges: edges.map((each) => edge(each)),
    completion_policy: { completion_assurance: 'destination_finalized' } as const,
  };
  return [...requiredAssurances(plan)].map(([key, rung]) =>
    rung === 'destination_finalized' ? key : `${key} ${rung}`,
  );
}
const LEAST = 'provider_completed';

describe('the plan’s promise is required of', () => {
  test.each<[string, readonly TemplateNode[], readonly string[], readonly string[]]>([
    ['the only node', [node('a')], [], ['a']],
    ['the end of a line', [node('a'), node('b')], ['a>b'], [`a ${LEAST}`, 'b']],
    [
      'the last before a no-op',
      [node('a'), node('b', { action_type: 'noop' })],
      ['a>b'],
      ['a', `b ${LEAST}`],
    ],
    [
      'the last behind a gate',
      [node('a'), node('g', { node_kind: 'manual_gate', action_type: 'manual_gate' }), node('b')],
      ['a>g', 'g>b:on_manual_resume'],
      [`a ${LEAST}`, `g ${LEAST}`, 'b'],
    ],
    [
      'both ends of a split',
      [node('a'), node('b'), node('c')],
      ['a>b', 'a>c'],
      [`a ${LEAST}`, 'b', 'c'],
    ],
    [
      'the join',
      [node('a'), node('b'), node('c')],
      ['a>c', 'b>c'],
      [`a ${LEAST}`, `b ${LEAST}`, 'c'],
    ],
    [
      'who looks',
      [node('a'), node('b', { node_kind: 'observe', action_type: 'evm_balance_observe' })],
      ['a>b'],
      [`a ${LEAST}`, 'b'],
    ],
    ['another way out as well', [node('a'), node('b')], ['a>b:on_failure'], ['a', 'b']],
    [
      'none that only a cancel reaches',
      [node('a'), node('b'), node('c')],
      ['a>b:on_cancel', 'b>c'],
      ['a', `b ${LEAST}`, `c ${LEAST}`],
    ],
    [
      'one that a cancel reaches too',
      [node('a'), node('b')],
      ['a>b:on_cancel', 'a>b'],
      [`a ${LEAST}`, 'b'],
    ],
    [
      'no compensation and no post-action',
      [
        node('a'),
        node('b', { node_kind: 'compensation' }),
        node('c', { node_kind: 'post_action' }),
      ],
      ['a>b:on_failure', 'a>c'],
      ['a', `b ${LEAST}`, `c ${LEAST}`],
    ],
    ['a team’s own type', [node('a', { action_type: 'acme_payout' })], [], ['a']],
    [
      'a node before, for what its template says of it',
      [node('a', weaker('destination_credited')), node('b', weaker(LEAST))],
      ['a>b'],
      ['a destination_credited', 'b'],
    ],
    [
      'no node by an unknown word',
      [node('a', weaker('perhaps')), node('b')],
      ['a>b'],
      [`a ${LEAST}`, 'b'],
    ],
  ])('%s', (_name, nodes, edges, expected) => {
    expect(required(nodes, ...edges)).toEqual(expected);
  });
});

test('a rung suffices for itself and for all below it', () => {
  for (const [above, shown] of COMPLETION_ASSURANCES.entries()) {
    for (const [below, wanted] of COMPLETION_ASSURANCES.entries())
      expect(suffices(shown, wanted)).toBe(above >= below);
  }
});

test('an answer that shows less is still to be observed', () => {
  const answer = (assurance?: CompletionAssurance): ExecutionResult => ({
    next_state: 'COMPLETED',
    external_ref: 'r',
    ...(assurance === undefined ? {} : { assurance }),
  });
  const held = (wanted: CompletionAssurance, result: ExecutionResult) =>
    heldTo(wanted, result).next_state;
  expect(held('provider_completed', answer())).toBe('COMPLETED');
  expect(held('destination_observed', answer())).toBe('OBSERVING');
  expect(held('destination_credited', answer('destination_observed'))).toBe('OBSERVING');
  expect(held('destination_credited', answer('destination_finalized'))).toBe('COMPLETED');
  expect(heldTo('protocol_finalized', { next_state: 'FAILED', error_code: 'X' })).toEqual({
    next_state: 'FAILED',
    error_code: 'X',
  });
});

test('what an executor can never show is reported', () => {
  const bound = (
    node_key: string,
    executor_key: string,
    completion_assurance?: CompletionAssurance,
  ) => ({
    node_key,
    executor_binding: { executor_key },
    ...(completion_assurance === undefined ? {} : { completion_assurance }),
  });
  const supported = (key: string): readonly CompletionAssurance[] =>
    key === 'bank' ? ['provider_completed'] : ['protocol_finalized'];
  const nodes = [
    bound('a', 'bank'),
    bound('b', 'bank', 'destination_observed'),
    bound('c', 'chain', 'destination_credited'),
  ];
  expect(unsupportedAssurances(nodes, supported)).toEqual([
    {
      node_key: 'b',
      executor_key: 'bank',
      asked: 'destination_observed',
      supported: ['provider_completed'],
    },
  ]);
});
