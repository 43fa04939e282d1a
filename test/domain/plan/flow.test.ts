/** What a plan can move at most: which nodes draw, and how draws add up. */
import type { JsonObject } from '../../../domain/json.ts';
import type { EdgeType, GraphEdge } from '../../../domain/graph/types.ts';
import { compilePlan } from '../../../domain/plan/compile.ts';
import { flowsOf, limitAmount } from '../../../domain/plan/flow.ts';
import type { ChainAssets } from '../../../domain/plan/tokens.ts';
import type { OutflowEntry, CompiledPlan, TemplateNode } from '../../../domain/plan/types.ts';

interface Parts {
  readonly edges?: readonly GraphEdge[];
  readonly node_config?: JsonObject;
  readonly risk_controls?: JsonObject;
  readonly amount?: string;
  /** The keys of nodes whose executor is declared not to send. */
  readonly silent?: readonly string[];
}

const pays = (
  node_key: string,
  config: JsonObject = {},
  more: Partial<TemplateNode> = {},
): TemplateNode => ({
  node_key,
  node_kind: 'action',
  action_type: 'cex_withdrawal',
  has_side_effect: true,
  config,
  ...more,
});
const sees = (node_key: string, match_from: string): TemplateNode =>
  pays(
    node_key,
    { match_from },
    { node_kind: 'observe', action_type: 'cex_deposit_observe', has_side_effect: false },
  );

/** `a>b` is on_success. */
const way = (text: string, edge_type: EdgeType = 'on_success', priority = 0): GraphEdge => {
  const [from = '', to = ''] = text.split('>');
  return { from, to, edge_type, priority, join_key: null, condition_expr: null };
};

function compiled(
  nodes: readonly TemplateNode[],
  { edges = [], node_config, risk_controls = {}, amount = '10', silent = [] }: Parts = {},
): CompiledPlan {
  return compilePlan(
    {
      template_id: 't',
      template_key: 't',
      version: 1,
      nodes,
      edges,
      risk_controls,
      completion_policy: { completion_assurance: 'provider_completed' },
    },
    {
      intent: { asset: 'USDC', amount },
      input_params: node_config === undefined ? {} : { node_config },
    },
    new Map(
      nodes.map(({ node_key }) => [
        node_key,
        {
          executor_binding: { executor_key: 'e' },
          signer_binding: null,
          executor_sends: !silent.includes(node_key),
        },
      ]),
    ),
  );
}
const outflow = (nodes: readonly TemplateNode[], parts: Parts = {}): readonly OutflowEntry[] =>
  compiled(nodes, parts).outflow;
const usdc = (amount: string | null): readonly OutflowEntry[] => [{ asset: 'USDC', amount }];

describe('a node that passes on draws nothing of its own', () => {
  const sent = (key: string): JsonObject => ({
    amount_ref: `nodes.${key}.output.submitted_amount`,
  });

  it.each([
    ['what an earlier node sent', [pays('a'), pays('b', sent('a'))], ['a>b'], '10'],
    [
      'what an observing node saw of it arrive',
      [pays('a'), sees('o', 'a'), pays('b', sent('o'))],
      ['a>o', 'o>b'],
      '10',
    ],
    [
      'a fixed amount, where the template says both',
      [pays('a'), pays('b', { ...sent('a'), amount: '4' })],
      ['a>b'],
      '10',
    ],
    [
      'what was passed on before',
      [pays('a'), pays('b', sent('a')), pays('c', sent('b'))],
      ['a>b', 'b>c'],
      '10',
    ],
  ])('%s', (_what, nodes, ends, expected) => {
    expect(outflow(nodes, { edges: ends.map((each) => way(each)) })).toEqual(usdc(expected));
  });

  it('whoever else passes on the same: what they may send together is for the fence', () => {
    const nodes = [
      pays('a'),
      pays('b', sent('a')),
      pays('c', sent('a')),
      pays('d', { ...sent('a'), amount: '7' }),
    ];
    const plan = compiled(nodes, { edges: [way('a>b'), way('a>c'), way('a>d')] });
    expect(plan.outflow).toEqual(usdc('10'));
    expect([...flowsOf(plan).values()].map(({ from }) => from)).toEqual([null, 'a', 'a', 'a']);
  });

  it.each([
    [
      'of another asset',
      [
        pays('a', { asset: 'USDT', amount: '1' }),
        pays('b', sent('a'), { risk_patch: { max_amount: '6' } }),
      ],
      ['a>b'],
      '6',
    ],
    [
      'of a node that does not come before',
      [pays('a'), pays('b', sent('a'), { risk_patch: { max_amount: '6' } })],
      ['b>a'],
      '16',
    ],
    [
      'of a node that sends nothing and saw nothing',
      [
        pays('g', {}, { action_type: 'noop' }),
        pays('b', sent('g'), { risk_patch: { max_amount: '6' } }),
      ],
      ['g>b'],
      '6',
    ],
    ['of the intent', [pays('a'), pays('b', { amount_ref: 'intent' })], ['a>b'], '20'],
  ])('but draws where the output is %s', (_what, nodes, ends, expected) => {
    const plan = compiled(nodes, { edges: ends.map((each) => way(each)) });
    expect(plan.outflow.find(({ asset }) => asset === 'USDC')).toEqual({
      asset: 'USDC',
      amount: expected,
    });
  });

  it('a mint passes on what its burn sent', () => {
    const signed = { signer_selector: { chain_family: 'evm' } };
    const burn = pays('burn', {}, { action_type: 'cctp_burn', ...signed });
    const mint = pays('mint', { burn_from: 'burn' }, { action_type: 'cctp_mint', ...signed });
    expect(outflow([burn, mint], { edges: [way('burn>mint')] })).toEqual(usdc('10'));
  });
});

describe('what is paid in the place of what a bridge has not brought', () => {
  const ref = { amount_ref: 'nodes.burn.output.submitted_amount' };
  const legs = [
    pays('burn', {}, { action_type: 'cctp_burn' }),
    pays('mint', { burn_from: 'burn' }, { action_type: 'cctp_mint' }),
  ];
  const gate = pays('gate', {}, { action_type: 'manual_gate', node_kind: 'manual_gate' });
  const paid = pays('paid', ref);
  const bounded = { risk_controls: { max_amount: '10' } };

  it.each(['on_failure', 'on_timeout'] as const)('is drawn, also behind a person (%s)', (edge) => {
    const edges = [way('burn>mint'), way('mint>gate', edge), way('gate>paid', 'on_manual_resume')];
    // By its output alone, which nothing bounds; and with a bound.
    expect(outflow([...legs, gate, paid], { edges })).toEqual(usdc(null));
    expect(outflow([...legs, gate, paid], { edges, ...bounded })).toEqual(usdc('20'));
  });

  it('and what goes on with what was brought is not', () => {
    const edges = [way('burn>mint'), way('mint>paid')];
    expect(outflow([...legs, paid], { edges })).toEqual(usdc('10'));
  });

  it('nor is there a difference between the bridges', () => {
    const send = pays('burn', {}, { action_type: 'bridge_c_send' });
    const look = pays(
      'look',
      { match_from: 'burn' },
      { node_kind: 'observe', action_type: 'bridge_c_observe', has_side_effect: false },
    );
    const edges = [way('burn>look'), way('look>gate', 'on_failure')];
    const resumed = way('gate>paid', 'on_manual_resume');
    const gated = [...edges, resumed];
    expect(outflow([send, look, gate, paid], { edges: gated, ...bounded })).toEqual(usdc('20'));
    expect(outflow([send, look, paid], { edges: [way('burn>look'), way('look>paid')] })).toEqual(
      usdc('10'),
    );
  });
});

describe('what a bridge took may be passed on once it has brought it', () => {
  const send = pays('send', {}, { action_type: 'bridge_c_send' });
  const burn = pays('send', {}, { action_type: 'cctp_burn' });
  const looks = (key: string, action_type: string): TemplateNode =>
    pays(key, { match_from: 'send' }, { node_kind: 'observe', action_type });
  const arrive = looks('arrive', 'bridge_c_observe');
  const look = looks('look', 'evm_balance_observe');
  const mint = pays('mint', { burn_from: 'send' }, { action_type: 'cctp_mint' });
  const idle = (key: string) => pays(key, {}, { action_type: 'noop', has_side_effect: false });
  const gate = pays('gate', {}, { action_type: 'manual_gate', node_kind: 'manual_gate' });
  const spends = (key: string, node = 'paid', more: JsonObject = {}): TemplateNode =>
    pays(node, { amount_ref: `nodes.${key}.output.submitted_amount`, ...more });
  const drawn = (nodes: readonly TemplateNode[], edges: readonly GraphEdge[], amount = '20') =>
    expect(outflow(nodes, { edges, risk_controls: { max_amount: '10' } })).toEqual(usdc(amount));

  it.each<[string, readonly TemplateNode[], readonly GraphEdge[]]>([
    [
      'another look that is late',
      [send, look, spends('send')],
      [way('send>look'), way('look>paid', 'on_timeout')],
    ],
    ['another look', [send, look, spends('look')], [way('send>look'), way('look>paid')]],
    ['nothing', [send, spends('send')], [way('send>paid')]],
    [
      'a cancel at the gate between',
      [burn, gate, mint, spends('send')],
      [way('send>gate'), way('gate>mint', 'on_manual_resume'), way('send>paid', 'on_cancel')],
    ],
    [
      'a node between that fails',
      [send, idle('hop'), arrive, spends('arrive')],
      [way('send>hop'), way('hop>arrive'), way('arrive>paid'), way('hop>paid', 'on_failure')],
    ],
    [
      'a branch beside it',
      [send, arrive, idle('hop'), spends('arrive')],
      [way('send>arrive'), way('send>hop'), way('arrive>paid'), way('hop>paid')],
    ],
    [
      'a branch around both',
      [idle('start'), send, arrive, idle('hop'), spends('arrive')],
      [
        way('start>send'),
        way('send>arrive'),
        way('start>hop'),
        way('arrive>paid'),
        way('hop>paid'),
      ],
    ],
    [
      'the arrival of another send',
      [send, pays('other', { amount: '0' }, { action_type: 'bridge_c_send' })].concat(
        pays(
          'far',
          { match_from: 'other' },
          { node_kind: 'observe', action_type: 'bridge_c_observe' },
        ),
        spends('send'),
      ),
      [way('send>other'), way('other>far'), way('far>paid')],
    ],
    [
      'a mint that failed, by its own output',
      [burn, mint, gate, spends('mint', 'paid', { amount: '10' })],
      [way('send>mint'), way('mint>gate', 'on_failure'), way('gate>paid', 'on_manual_resume')],
    ],
  ])('and is drawn behind %s', (_what, nodes, edges) => {
    drawn(nodes, edges);
  });

  it('and in place of a first leg that failed, which has sent nothing', () => {
    drawn([send, spends('send')], [way('send>paid', 'on_failure')], '10');
  });

  it.each<[string, readonly TemplateNode[], readonly GraphEdge[]]>([
    ['its arrival', [send, arrive, spends('arrive')], [way('send>arrive'), way('arrive>paid')]],
    ['its mint', [burn, mint, spends('mint')], [way('send>mint'), way('mint>paid')]],
    ['what it sent', [burn, mint, spends('send')], [way('send>mint'), way('mint>paid')]],
    [
      'a gate on either side',
      [send, gate, arrive, { ...gate, node_key: 'late' }, spends('arrive')],
      [
        way('send>gate'),
        way('gate>arrive', 'on_manual_resume'),
        way('arrive>late'),
        way('late>paid', 'on_manual_resume'),
      ],
    ],
    [
      'a diamond behind it',
      [send, arrive, idle('b'), idle('c'), spends('arrive')],
      [way('send>arrive'), way('arrive>b'), way('arrive>c'), way('b>paid'), way('c>paid')],
    ],
    [
      'a cancel of what has arrived',
      [send, arrive, spends('arrive')],
      [way('send>arrive'), way('arrive>paid', 'on_cancel')],
    ],
    [
      'one of two arrivals, whichever comes',
      [send, gate, arrive, { ...arrive, node_key: 'again' }, spends('send')],
      [
        way('send>arrive'),
        way('arrive>gate', 'on_failure'),
        way('arrive>paid'),
        way('gate>again', 'on_manual_resume'),
        way('again>paid'),
      ],
    ],
  ])('and is passed on behind %s', (_what, nodes, edges) => {
    drawn(nodes, edges, '10');
  });
});

describe('what a node may move', () => {
  it("is its config's amount and asset, whoever gave them", () => {
    expect(outflow([pays('a')], { node_config: { amount: '90000', asset: 'usdt' } })).toEqual([
      { asset: 'USDT', amount: '90000' },
    ]);
    expect(outflow([pays('a', { amount: '5' })], { node_config: { amount: '90000' } })).toEqual(
      usdc('5'),
    );
  });

  it("is not the caller's where the template says what is passed on: the caller's amount is not even there", () => {
    const nodes = [
      pays('a', { amount: '5' }),
      pays('b', { amount_ref: 'nodes.a.output.submitted_amount' }),
    ];
    const plan = compiled(nodes, { edges: [way('a>b')], node_config: { amount: '90000' } });
    expect(plan.outflow).toEqual(usdc('5'));
    expect(plan.nodes[1]?.config).not.toHaveProperty('amount');
  });

  it('counts two nodes that both take the amount of the intent twice', () => {
    expect(outflow([pays('a'), pays('b')], { edges: [way('a>b')] })).toEqual(usdc('20'));
  });

  it('counts compensations, post-actions, and what only a cancel leads to', () => {
    const nodes = [
      pays('a'),
      pays('c', { amount: '1' }, { node_kind: 'compensation' }),
      pays('p', { amount: '2' }, { node_kind: 'post_action' }),
    ];
    expect(outflow(nodes, { edges: [way('a>c', 'on_cancel'), way('a>p')] })).toEqual(usdc('13'));
  });

  it('counts a node that says it has no side effect, and none whose executor is declared not to send', () => {
    const custom = pays('x', {}, { action_type: 'acme_payout', has_side_effect: false });
    expect(outflow([custom])).toEqual(usdc('10'));
    expect(outflow([custom], { silent: ['x'] })).toEqual([]);
    expect(outflow([pays('a', {}, { has_side_effect: false })], { silent: ['a'] })).toEqual(
      usdc('10'),
    );
    expect(outflow([pays('a', {}, { node_kind: 'observe' })])).toEqual([]);
  });

  it("is unknown where only an output decides it, unless the tighter limit bounds it; a limit is in the intent's asset", () => {
    const later = pays('b', { amount_ref: 'nodes.g.output.x' });
    const gate = pays('g', {}, { node_kind: 'manual_gate', action_type: 'manual_gate' });
    const edges = [way('g>b')];
    expect(outflow([gate, later], { edges })).toEqual(usdc(null));
    expect(outflow([gate, later], { edges, risk_controls: { max_amount: '7' } })).toEqual(
      usdc('7'),
    );
    expect(
      outflow([gate, { ...later, risk_patch: { max_amount: '3' } }], {
        edges,
        risk_controls: { max_amount: '7' },
      }),
    ).toEqual(usdc('3'));
    const other = { ...later, config: { ...later.config, asset: 'USDT' } };
    expect(outflow([gate, other], { edges, risk_controls: { max_amount: '7' } })).toEqual([
      { asset: 'USDT', amount: null },
    ]);
  });

  it('is nothing of what is not sent, and limits count at least the intent', () => {
    const gate = pays('g', {}, { node_kind: 'manual_gate', action_type: 'manual_gate' });
    expect(outflow([gate])).toEqual([]);
    expect(limitAmount(compiled([gate]))).toBe('10');
    expect(limitAmount(compiled([pays('a', { amount: '4' })]))).toBe('10');
    expect(limitAmount(compiled([pays('a'), pays('b', { amount: '1' })]))).toBe('11');
    expect(limitAmount(compiled([pays('a', { amount_ref: 'nodes.x.output.y' })]))).toBeNull();
  });
});

describe('of ways that exclude each other the dearest counts', () => {
  const of = (...amounts: readonly (readonly [string, string])[]): TemplateNode[] =>
    amounts.map(([key, amount]) => pays(key, { amount }));

  it.each<[string, TemplateNode[], GraphEdge[], string]>([
    [
      'success with its own amount',
      of(['a', '5'], ['b', '3'], ['f', '7']),
      [way('a>b'), way('a>f', 'on_failure')],
      '8',
    ],
    [
      'a dear failure',
      of(['a', '5'], ['b', '3'], ['f', '9']),
      [way('a>b'), way('a>f', 'on_failure')],
      '9',
    ],
    [
      'a dear time-out',
      of(['a', '5'], ['f', '7'], ['t', '8']),
      [way('a>f', 'on_failure'), way('a>t', 'on_timeout')],
      '8',
    ],
    [
      'priorities of one type',
      of(['a', '1'], ['x', '6'], ['y', '4']),
      [way('a>x', 'on_success', 1), way('a>y')],
      '7',
    ],
    [
      'priorities of a failure',
      of(['a', '1'], ['x', '6'], ['y', '4']),
      [way('a>x', 'on_failure', 1), way('a>y', 'on_failure')],
      '6',
    ],
    [
      'one priority: they fire together',
      of(['a', '1'], ['x', '6'], ['y', '4']),
      [way('a>x'), way('a>y')],
      '11',
    ],
    [
      'what both ways reach is reached by either',
      of(['a', '5'], ['f', '1'], ['z', '9']),
      [way('a>z'), way('a>f', 'on_failure'), way('f>z')],
      '14',
    ],
    [
      'ways within ways',
      of(['a', '1'], ['b', '2'], ['c', '9'], ['d', '4'], ['f', '10']),
      [way('a>b'), way('b>c', 'on_failure'), way('b>d'), way('a>f', 'on_failure')],
      '10',
    ],
    [
      'a cancel beside a failure',
      of(['a', '5'], ['u', '5'], ['f', '4']),
      [way('a>u', 'on_cancel'), way('a>u', 'on_failure'), way('a>f', 'on_failure')],
      '10',
    ],
  ])('%s', (_what, nodes, edges, expected) => {
    expect(outflow(nodes, { edges })).toEqual(usdc(expected));
  });

  it('and unknown is dearer than anything', () => {
    const nodes = [...of(['a', '5']), pays('f', { amount_ref: 'nodes.x.output.y' })];
    expect(outflow(nodes, { edges: [way('a>f', 'on_failure')] })).toEqual(usdc(null));
  });

  it('in each asset by itself', () => {
    const nodes = [
      pays('a', { amount: '1' }),
      pays('x', { amount: '6', asset: 'USDT' }),
      pays('y', { amount: '4' }),
    ];
    const edges = [way('a>x', 'on_success', 1), way('a>y')];
    expect(outflow(nodes, { edges })).toEqual([
      { asset: 'USDC', amount: '5' },
      { asset: 'USDT', amount: '6' },
    ]);
  });
});

describe('an allowance draws what it allows beyond what is surely pulled by it', () => {
  const messenger = '0x00000000000000000000000000000000000000AA';
  const token = '0x00000000000000000000000000000000000000bb';
  const carrier = '0x00000000000000000000000000000000000000Cc';
  const chains: ChainAssets = [1, 2, 3].map((chain_id) => ({
    venue_key: `chain-${String(chain_id)}`,
    chain_id,
    native_asset: 'ETH',
    deposit_venues: [],
    tokens: [{ asset: 'USDC', address: token }],
    finality: {
      read: 'finalized_tag',
      confirmations: null,
      typical_age_seconds: null,
      override_reason: null,
    },
    bridges: {
      burn_and_mint: {
        endpoint_identity: null,
        carriers: [{ asset: 'USDC', address: messenger }],
      },
      bridge_c: {
        endpoint_identity: `${String(chain_id)}:${token}`,
        carriers: [{ asset: 'USDC', address: chain_id === 3 ? token : carrier }],
      },
    },
  }));
  const allow = (amount: string, config: JsonObject = {}): TemplateNode =>
    pays(
      'allow',
      { amount, chain_id: 1, token_address: token, spender: messenger.toLowerCase(), ...config },
      { action_type: 'evm_erc20_approve' },
    );
  const burn = (key: string, amount: string, config: JsonObject = {}): TemplateNode =>
    pays(
      key,
      {
        amount,
        source_chain_id: 1,
        token_address: token.toUpperCase().replace('0X', '0x'),
        ...config,
      },
      { action_type: 'cctp_burn' },
    );
  const drawn = (
    nodes: readonly TemplateNode[],
    edges: readonly GraphEdge[],
    signers: Readonly<Record<string, string>> = {},
  ): string | null => {
    const plan = compilePlan(
      {
        template_id: 't',
        template_key: 't',
        version: 1,
        nodes,
        edges,
        risk_controls: {},
        completion_policy: { completion_assurance: 'provider_completed' },
      },
      { intent: { asset: 'USDC', amount: '10' }, input_params: {} },
      new Map(
        nodes.map(({ node_key }) => [
          node_key,
          {
            executor_binding: { executor_key: 'e' },
            signer_binding: { signer_key: signers[node_key] ?? 'hot' },
          },
        ]),
      ),
      chains,
    );
    return plan.outflow[0]?.amount ?? null;
  };
  const behind = [way('allow>burn')];
  const sends = [way('allow>send')];
  /** On chain 2 a contract beside the token sends it, on chain 3 the token itself. */
  const adapter = { chain_id: 2, spender: carrier };
  const own = { chain_id: 3, spender: token };
  const sent = (amount: string, source_chain_id = 2): TemplateNode =>
    pays('send', { amount, source_chain_id }, { action_type: 'bridge_c_send' });

  it.each<[string, string, readonly TemplateNode[], readonly GraphEdge[]]>([
    ['alone: all of it', '10', [allow('10')], []],
    ['all of it is burnt', '10', [allow('10'), burn('burn', '10')], behind],
    ['more than is burnt', '12', [allow('12'), burn('burn', '10')], behind],
    ['less than is burnt', '10', [allow('3'), burn('burn', '10')], behind],
    [
      'two burns, one behind the other',
      '10',
      [allow('10'), burn('burn', '4'), burn('b', '6')],
      [...behind, way('burn>b')],
    ],
    [
      'of two burns only one: neither is sure',
      '19',
      [allow('10'), burn('burn', '4'), burn('b', '9')],
      [way('allow>burn', 'on_success', 1), way('allow>b', 'on_success', 2)],
    ],
    [
      'a burn that a condition may leave out',
      '20',
      [allow('10'), burn('burn', '10')],
      [{ ...way('allow>burn'), condition_expr: 'true' }],
    ],
    [
      'a burn or nothing',
      '20',
      [allow('10'), burn('burn', '10'), pays('b', { amount: '1' })],
      [way('allow>burn', 'on_success', 1), way('allow>b', 'on_success', 2)],
    ],
    ['what a bridge sends from a token beside it', '10', [allow('10', adapter), sent('10')], sends],
    ['a send of a token that sends itself', '20', [allow('10', own), sent('10', 3)], sends],
    [
      'a send by another contract than it allows',
      '20',
      [allow('10', { ...adapter, spender: messenger }), sent('10')],
      sends,
    ],
    ['another spender', '20', [allow('10', { spender: token }), burn('burn', '10')], behind],
    [
      'another token',
      '20',
      [allow('10'), burn('burn', '10', { token_address: messenger })],
      behind,
    ],
    ['another chain', '20', [allow('10'), burn('burn', '10', { source_chain_id: 2 })], behind],
    ['a burn before it', '20', [allow('10'), burn('burn', '10')], [way('burn>allow')]],
    [
      'a burn that only a failure of it leads to',
      '10',
      [allow('10'), burn('burn', '10')],
      [way('allow>burn', 'on_failure')],
    ],
  ])('%s', (_what, expected, nodes, edges) => {
    expect(drawn(nodes, edges)).toBe(expected);
  });

  it('of another signer', () => {
    expect(drawn([allow('10'), burn('burn', '10')], behind, { burn: 'cold' })).toBe('20');
  });
});
