import { nonExecutableReasons } from '../../domain/executable.ts';
import type { TemplateNode } from '../../domain/plan/types.ts';
import { edge } from './graph/build.ts';

const node = (node_key: string, more: Partial<TemplateNode> = {}): TemplateNode => ({
  node_key,
  node_kind: 'action',
  action_type: 'noop',
  has_side_effect: true,
  ...more,
});
const signed = { signer_selector: { chain_family: 'evm' } } as const;
const burn = (node_key: string) => node(node_key, { action_type: 'cctp_burn', ...signed });
const mint = (node_key: string, config: TemplateNode['config']) =>
  node(node_key, { action_type: 'cctp_mint', ...signed, config: { ...config } });
const reasons = (nodes: TemplateNode[], ...edges: string[]) =>
  nonExecutableReasons({ nodes, edges: edges.map((each) => edge(each)) });

describe('nonExecutableReasons', () => {
  it('has none for a plain line', () => {
    const second = node('b', { config: { amount_ref: 'nodes.a.output.received' } });
    expect(
      reasons(
        [node('a'), second, node('c', { node_kind: 'compensation' })],
        'a>b',
        'b>c:on_failure',
      ),
    ).toEqual([]);
  });

  it.each([
    ['signer_selector_missing:a', [node('a', { action_type: 'evm_native_transfer' })], []],
    [
      'selector_action_mismatch:a',
      [node('a', { executor_selector: { action_type: 'acme_payout' } })],
      [],
    ],
    [
      'selector_action_mismatch:a',
      [node('a', { action_type: 'acme_payout', executor_selector: { action_type: 'noop' } })],
      [],
    ],
    ['gate_with_side_effect:a', [node('a', { node_kind: 'manual_gate' })], []],
    [
      'unknown_amount_ref:a',
      [node('a', { config: { amount_ref: 'nodes.b.output.x' } }), node('b')],
      ['a>b'],
    ],
    ['unknown_amount_ref:a', [node('a', { config: { amount: 5 } })], []],
    ['unknown_match_from:b', [node('a'), node('b', { config: { match_from: 'c' } })], ['a>b']],
    ['unknown_match_from:a', [node('a', { config: { match_from: 'b' } }), node('b')], ['a>b']],
    ['unknown_match_from:a', [node('a', { config: { match_from: 'a' } })], []],
    ['unknown_match_from:b', [node('a'), node('b', { config: { match_from: ['a'] } })], ['a>b']],
    ['unknown_burn_from:b', [burn('a'), mint('b', {})], ['a>b']],
    ['unknown_burn_from:b', [burn('a'), mint('b', { burn_from: 5 })], ['a>b']],
    ['unknown_burn_from:b', [burn('a'), node('c'), mint('b', { burn_from: 'c' })], ['a>c', 'c>b']],
    ['unknown_burn_from:a', [mint('a', { burn_from: 'b' }), burn('b')], ['a>b']],
    ['mint_with_amount:b', [burn('a'), mint('b', { burn_from: 'a', amount: '1' })], ['a>b']],
    [
      'mint_with_amount:b',
      [burn('a'), mint('b', { burn_from: 'a', amount_ref: 'intent' })],
      ['a>b'],
    ],
    ['timeout_edge_without_timeout:a->b', [node('a'), node('b')], ['a>b:on_timeout']],
    [
      'compensation_on_success_path:a->b',
      [node('a'), node('b', { node_kind: 'compensation' })],
      ['a>b'],
    ],
    [
      'compensation_on_success_path:a->b',
      [node('a'), node('b', { node_kind: 'compensation' })],
      ['a>b:on_manual_resume'],
    ],
  ])('tells %s', (reason, nodes, edges) => {
    expect(reasons(nodes, ...edges)).toEqual([reason]);
  });

  it('lets only a person pay in the place of a mint', () => {
    const plan = [burn('a'), mint('b', { burn_from: 'a' })];
    const pays = node('c', { action_type: 'cex_withdrawal', node_kind: 'compensation' });
    expect(reasons([...plan, pays], 'a>b', 'b>c:on_failure')).toEqual(['mint_failure_pays:b->c']);
    const gate = node('c', {
      action_type: 'manual_gate',
      node_kind: 'manual_gate',
      has_side_effect: false,
    });
    expect(reasons([...plan, gate], 'a>b', 'b>c:on_failure')).toEqual([]);
  });

  it('lets only a person pay in the place of what a bridge has not brought', () => {
    const send = node('a', {
      action_type: 'bridge_c_send',
      signer_selector: { chain_family: 'evm' },
    });
    const look = (match_from: string) =>
      node('b', {
        action_type: 'bridge_c_observe',
        node_kind: 'observe',
        has_side_effect: false,
        config: { match_from },
      });
    const pays = node('c', { action_type: 'cex_withdrawal', node_kind: 'compensation' });
    expect(reasons([send, look('a')], 'a>b')).toEqual([]);
    expect(reasons([send, look('a'), pays], 'a>b', 'b>c:on_failure')).toEqual([
      'delivery_failure_pays:b->c',
    ]);
    expect(reasons([node('a'), look('a')], 'a>b')).toEqual(['unknown_match_from:b']);
    // What would say of funds on their way that they did not arrive.
    const late = { ...look('a'), timeout_policy: { observe_seconds: 60 } };
    expect(reasons([send, late], 'a>b')).toEqual(['delivery_times_out:b']);
  });

  it.each([
    ['another look', { node_kind: 'observe', action_type: 'evm_balance_observe' }, 'on_success'],
    ['nothing', { action_type: 'noop' }, 'on_success'],
    ['a failed nothing', { action_type: 'noop' }, 'on_failure'],
  ] as const)('lets nothing pay for a mint behind %s', (_what, hop, edge) => {
    const idle = node('c', { ...hop, has_side_effect: false });
    const pays = node('d', { action_type: 'cex_withdrawal' });
    const plan = [burn('a'), mint('b', { burn_from: 'a' }), idle, pays];
    expect(reasons(plan, 'a>b', 'b>c:on_failure', `c>d:${edge}`)).toEqual([
      'mint_failure_pays:b->c',
    ]);
    const gate = node('c', {
      action_type: 'manual_gate',
      node_kind: 'manual_gate',
      has_side_effect: false,
    });
    const gated = [...plan.slice(0, 2), gate, pays];
    expect(reasons(gated, 'a>b', 'b>c:on_failure', 'c>d:on_manual_resume')).toEqual([]);
  });

  describe('between the legs of a bridge', () => {
    const send = node('a', { action_type: 'bridge_c_send', ...signed });
    const arrive = node('b', {
      action_type: 'bridge_c_observe',
      node_kind: 'observe',
      has_side_effect: false,
      config: { match_from: 'a' },
    });
    const own = mint('b', { burn_from: 'a' });
    const look = node('o', {
      action_type: 'evm_balance_observe',
      node_kind: 'observe',
      has_side_effect: false,
      timeout_policy: { observe_seconds: 3 },
    });
    const pays = node('p', { action_type: 'cex_withdrawal' });
    const gate = (key = 'g') =>
      node(key, {
        action_type: 'manual_gate',
        node_kind: 'manual_gate',
        has_side_effect: false,
      });

    it.each<[string, TemplateNode[], string[]]>([
      ['delivery_failure_pays:o->p', [send, look, pays], ['a>o', 'o>p:on_timeout']],
      ['mint_failure_pays:o->p', [burn('a'), look, pays], ['a>o', 'o>p:on_failure']],
      ['delivery_failure_pays:o->p', [send, look, arrive, pays], ['a>o', 'o>b', 'o>p:on_timeout']],
      [
        'mint_failure_pays:o->p',
        [burn('a'), gate(), look, own, pays],
        ['a>g', 'g>o:on_manual_resume', 'o>b', 'o>p:on_timeout'],
      ],
      ['mint_failure_pays:o->p', [burn('a'), own, look, pays], ['a>b', 'a>o', 'o>p:on_timeout']],
      // A mint that only a person has gone on to is held to it all the same.
      [
        'mint_failure_pays:b->p',
        [burn('a'), look, gate(), own, pays],
        ['a>o', 'o>g:on_failure', 'g>b:on_manual_resume', 'b>p:on_failure'],
      ],
      // Over a second leg that did not come either.
      [
        'delivery_failure_pays:o->b',
        [send, look, arrive, node('n', { has_side_effect: false }), pays],
        ['a>o', 'o>b:on_timeout', 'b>n:on_failure', 'n>p'],
      ],
    ])('nothing that is late or fails pays: %s', (reason, nodes, edges) => {
      expect(reasons(nodes, ...edges)).toContain(reason);
    });

    it.each<[string, TemplateNode[], string[]]>([
      ['a burn alone', [burn('a')], []],
      ['a failed send, which sent nothing', [send, pays], ['a>p:on_failure']],
      [
        'a send that was not sent in time',
        [{ ...send, timeout_policy: { execution_seconds: 9 } }, arrive, pays],
        ['a>b', 'a>p:on_timeout'],
      ],
      ['a cancel, which a person asks for', [burn('a'), own, pays], ['a>b', 'a>p:on_cancel']],
      ['a person', [send, look, gate(), pays], ['a>o', 'o>g:on_timeout', 'g>p:on_manual_resume']],
      [
        'what a person has decided already',
        [send, arrive, gate(), pays, node('q', { action_type: 'cex_withdrawal' })],
        ['a>b', 'b>g:on_failure', 'g>p:on_manual_resume', 'p>q:on_failure'],
      ],
      [
        'the mint itself, after a look that failed',
        [burn('a'), look, own],
        ['a>o', 'o>b', 'o>b:on_timeout'],
      ],
      [
        'what goes on with what was brought, and fails',
        [burn('a'), own, pays, node('q', { action_type: 'cex_withdrawal' })],
        ['a>b', 'b>p', 'p>q:on_failure'],
      ],
      [
        'a branch that has nothing to do with it',
        [node('r'), send, arrive, look, pays],
        ['r>a', 'a>b', 'r>o', 'o>p:on_timeout'],
      ],
    ])('is allowed %s', (_what, nodes, edges) => {
      expect(reasons(nodes, ...edges)).toEqual([]);
    });
  });

  it('lets no burn be for one account where the plan has no mint of it', () => {
    const caller = { destination_caller: '0x00000000000000000000000000000000000000EE' };
    const only = { ...burn('a'), config: caller };
    expect(reasons([only])).toEqual(['caller_without_mint:a']);
    const other = [only, burn('c'), mint('b', { burn_from: 'c' })];
    expect(reasons(other, 'a>c', 'c>b')).toEqual(['caller_without_mint:a']);
    expect(reasons([only, mint('b', { burn_from: 'a' })], 'a>b')).toEqual([]);
  });

  it('allows a mint of any burn before it', () => {
    expect(reasons([burn('a'), node('b'), mint('c', { burn_from: 'a' })], 'a>b', 'b>c')).toEqual(
      [],
    );
  });

  it('allows a node to look for what any node before it sent', () => {
    const last = node('c', { config: { match_from: 'a' } });
    expect(reasons([node('a'), node('b'), last], 'a>b', 'b>c')).toEqual([]);
  });

  it('allows an on_timeout edge of a node with a time-out', () => {
    expect(
      reasons([node('a', { timeout_policy: { observe_seconds: 5 } }), node('b')], 'a>b:on_timeout'),
    ).toEqual([]);
  });

  it.each([
    ['a line', ['a>b', 'b>c']],
    ['a split', ['a>b', 'a>c']],
    ['a branch', ['a>b', 'a>c:on_failure']],
    ['a join', ['a>c', 'b>c']],
    ['a diamond', ['a>b', 'a>c', 'b>d', 'c>d']],
  ])('has none for %s', (_name, edges) => {
    expect(reasons([node('a'), node('b'), node('c'), node('d')], ...edges)).toEqual([]);
  });

  it.each([
    ['is not CEL', 'intent.asset =='],
    ['gives no boolean', '1 + 1'],
    ['compares a raw amount', 'intent.amount > "9"'],
    ['reads the target', "nodes['b'].state == 'COMPLETED'"],
    ['reads a node of another branch', "nodes['c'].state == 'COMPLETED'"],
    ['searches by pattern', "intent.asset.matches('U+')"],
    ['is too long', `intent.asset == "${'x'.repeat(1_024)}"`],
  ])('tells a condition that %s', (_name, condition_expr) => {
    const nodes = [node('r'), node('a'), node('b'), node('c')];
    const edges = [edge('r>a'), edge('r>c'), edge('a>b', { condition_expr })];
    expect(nonExecutableReasons({ nodes, edges })).toEqual(['condition_invalid:a->b']);
  });

  it('allows conditions over the source and what lies before it', () => {
    const nodes = [node('r'), node('a'), node('b')];
    const condition_expr =
      "nodes['a'].state == 'COMPLETED' && dec(nodes['r'].output.received) >= dec(intent.amount)";
    expect(
      nonExecutableReasons({ nodes, edges: [edge('r>a'), edge('a>b', { condition_expr })] }),
    ).toEqual([]);
  });

  it('tells a reason once, and every other beside it', () => {
    const edges = [
      edge('a>b:on_timeout', { condition_expr: 'x' }),
      edge('a>b:on_failure', { condition_expr: 'y' }),
      edge('a>c', { condition_expr: 'z' }),
    ];
    const nodes = [node('a'), node('b'), node('c', { node_kind: 'manual_gate' })];
    expect(nonExecutableReasons({ nodes, edges })).toEqual([
      'gate_with_side_effect:c',
      'timeout_edge_without_timeout:a->b',
      'condition_invalid:a->b',
      'condition_invalid:a->c',
    ]);
  });

  it('judges the largest plan in a moment', () => {
    const nodes = Array.from({ length: 200 }, (_, index) => node(`n${index}`));
    const conditioned = (from: number, to: number, extra: number) =>
      edge(`n${from}>n${to}`, {
        condition_expr: `nodes['n0'].output.k${extra} == ${to} && nodes['n${from}'].state == 'COMPLETED'`,
      });
    const edges = Array.from({ length: 1_000 }, (_, index) =>
      conditioned(index % 199, (index % 199) + 1, index),
    );
    const before = process.cpuUsage();
    expect(nonExecutableReasons({ nodes, edges })).toEqual([]);
    expect(process.cpuUsage(before).user).toBeLessThan(5_000_000);
  });
});
