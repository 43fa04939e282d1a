import fc from 'fast-check';
import type { JsonValue } from '../../../domain/json.ts';
import { canonicalPlan, compilePlan } from '../../../domain/plan/compile.ts';
import { poolOf } from '../../../domain/plan/pools.ts';
import type { ChainAssets } from '../../../domain/plan/tokens.ts';
import type { Intent, PlanTemplate, TemplateNode } from '../../../domain/plan/types.ts';
import { sha256Hex } from '../../../platform/hash.ts';

const node = (node_key: string, more: Partial<TemplateNode> = {}): TemplateNode => ({
  node_key,
  node_kind: 'action',
  action_type: 'noop',
  has_side_effect: true,
  ...more,
});
const template: PlanTemplate = {
  template_id: '01938a5e-7c00-7b3a-9d2f-5b1c7e8a4f10',
  template_key: 'treasury/move',
  version: 3,
  nodes: [node('a', { config: { venue: 'paper', shared: 'template' } }), node('b')],
  edges: [
    {
      from: 'a',
      to: 'b',
      edge_type: 'on_success',
      priority: 0,
      join_key: null,
      condition_expr: null,
    },
  ],
  risk_controls: { max_amount: '100', asset_allowlist: ['USDC'] },
  completion_policy: { completion_assurance: 'provider_completed' },
};
const intent: Intent = { asset: 'USDC', amount: '10' };
const bindings = new Map(
  ['a', 'b'].map((key) => [
    key,
    { executor_binding: { executor_key: 'noop' }, signer_binding: null },
  ]),
);
const compile = (input_params = {}, from = template) =>
  compilePlan(from, { intent, input_params }, bindings);
const hash = (plan: ReturnType<typeof compile>) => sha256Hex(canonicalPlan(plan));

/** The same value with the keys of every object turned round. */
function reversed<T extends JsonValue>(value: T): T;
function reversed(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((each: JsonValue) => reversed(each));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, each]) => [key, reversed(each)]),
  );
}

describe('the hash of a compiled plan', () => {
  it('does not depend on the order of keys', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue() as fc.Arbitrary<JsonValue>),
        (input_params) => {
          const turned: PlanTemplate = {
            ...template,
            risk_controls: reversed(template.risk_controls),
          };
          expect(hash(compile(reversed(input_params), turned))).toBe(hash(compile(input_params)));
        },
      ),
    );
  });

  it.each([
    ['version', { ...template, version: 4 }],
    [
      'risk controls without effect',
      { ...template, risk_controls: { ...template.risk_controls, asset_allowlist: [] } },
    ],
    ['order of nodes', { ...template, nodes: [...template.nodes].reverse() }],
    [
      'completion policy',
      {
        ...template,
        completion_policy: { completion_assurance: 'destination_finalized' } as const,
      },
    ],
  ])('depends on the %s', (_name, changed) => {
    expect(hash(compile({}, changed))).not.toBe(hash(compile()));
  });

  it('depends on the bindings', () => {
    const other = new Map(bindings).set('a', {
      executor_binding: { executor_key: 'else' },
      signer_binding: null,
    });
    expect(hash(compilePlan(template, { intent, input_params: {} }, other))).not.toBe(
      hash(compile()),
    );
  });
});

describe('compilePlan', () => {
  it("adds node_config to every node, and the template's value wins", () => {
    const { nodes } = compile({ node_config: { shared: 'request', more: 1 } });
    expect(nodes.map((each) => each.config)).toEqual([
      { venue: 'paper', shared: 'template', more: 1 },
      { shared: 'request', more: 1 },
    ]);
  });

  it('adds a single key, too', () => {
    expect(compile({}).nodes[1]?.config).toEqual({});
    expect(compile({ node_config: { more: 1 } }).nodes[1]?.config).toEqual({ more: 1 });
  });

  it.each([
    ['text', 'x'],
    ['a list', ['x']],
    ['null', null],
  ])('ignores a node_config that is %s', (_name, node_config) => {
    expect(compile({ node_config }).nodes[1]?.config).toEqual({});
  });

  it('keeps selectors out of the plan: bindings took their place', () => {
    const selecting = {
      ...template,
      nodes: [node('a', { executor_selector: { action_type: 'noop' } }), node('b')],
    };
    const [first] = compile({}, selecting).nodes;
    expect(first).not.toHaveProperty('executor_selector');
    expect(first?.executor_binding).toEqual({ executor_key: 'noop' });
  });
});

describe('a mint', () => {
  it('is of what its burn burnt, whatever a caller says', () => {
    const from = {
      ...template,
      nodes: [
        node('a', { action_type: 'cctp_burn' }),
        node('b', { action_type: 'cctp_mint', config: { burn_from: 'a' } }),
      ],
    };
    expect(
      compile({ node_config: { asset: 'USDT' } }, from).nodes.map(({ asset }) => asset),
    ).toEqual(['USDT', 'USDT']);
    const { nodes, outflow } = compile({ node_config: { amount: '7' } }, from);
    expect(nodes[0]?.config).toEqual({ amount: '7' });
    expect(nodes[1]?.config).toEqual({
      burn_from: 'a',
      amount_ref: 'nodes.a.output.submitted_amount',
    });
    // It is drawn once.
    expect(outflow).toEqual([{ asset: 'USDC', amount: '7' }]);
  });
});

describe('what is observed of a bridge', () => {
  it('is of the asset that was sent, whatever its own config says', () => {
    const alone: PlanTemplate = {
      ...template,
      nodes: [
        node('send', { action_type: 'bridge_c_send', config: { asset: 'OMNI' } }),
        node('look', {
          action_type: 'bridge_c_observe',
          node_kind: 'observe',
          has_side_effect: false,
          config: { match_from: 'send', asset: 'USDT' },
        }),
      ],
      edges: [],
    };
    const bound = { executor_binding: { executor_key: 'e' }, signer_binding: null };
    const bindings = new Map(['send', 'look'].map((key) => [key, bound]));
    const { nodes } = compilePlan(alone, { intent, input_params: {} }, bindings);
    expect(nodes.map(({ asset }) => asset)).toEqual(['OMNI', 'OMNI']);
  });
});

describe('the pool of a burn', () => {
  it('is the signer’s account on the chain that funds leave', () => {
    const chains: ChainAssets = [1, 2].map((chain_id) => ({
      venue_key: `chain-${String(chain_id)}`,
      chain_id,
      native_asset: 'ETH',
      tokens: [],
      finality: {
        read: 'finalized_tag',
        confirmations: null,
        typical_age_seconds: null,
        override_reason: null,
      },
      bridges: {},
      deposit_venues: [],
    }));
    const config = { source_chain_id: 1, destination_chain_id: 2, chain_id: 2, venue: 'other' };
    const signer_binding = { signer_key: 'hot' };
    expect(poolOf({ action_type: 'cctp_burn', config, signer_binding }, chains)).toEqual({
      venue_key: 'chain-1:hot',
      account_type: 'SPOT',
    });
  });
});

describe('what a built-in action sends', () => {
  const compiled = (more: Partial<TemplateNode>, executor_sends?: boolean): boolean | undefined => {
    const bound = {
      executor_binding: { executor_key: 'noop' },
      signer_binding: null,
      ...(executor_sends === undefined ? {} : { executor_sends }),
    };
    const alone = {
      ...template,
      nodes: [node('a', { has_side_effect: false, ...more })],
      edges: [],
    };
    return compilePlan(alone, { intent, input_params: {} }, new Map([['a', bound]])).nodes[0]
      ?.has_side_effect;
  };

  it('is a side effect, whatever the template says: it is held for, and a cancel knows of it', () => {
    for (const action_type of [
      'cex_withdrawal',
      'cex_internal_transfer',
      'evm_erc20_transfer',
      'evm_native_transfer',
      'bridge_c_send',
    ]) {
      expect({ action_type, has_side_effect: compiled({ action_type }) }).toEqual({
        action_type,
        has_side_effect: true,
      });
    }
    expect(compiled({ action_type: 'cex_withdrawal', node_kind: 'compensation' })).toBe(true);
  });

  it('is none where nothing is sent; a custom action sends unless its executor is declared not to', () => {
    expect(compiled({ action_type: 'cex_withdrawal', node_kind: 'observe' })).toBe(false);
    expect(compiled({ action_type: 'cex_deposit_observe', node_kind: 'observe' })).toBe(false);
    expect(compiled({ action_type: 'team_payout' })).toBe(true);
    expect(compiled({ action_type: 'team_payout', node_kind: 'observe' })).toBe(false);
    expect(compiled({ action_type: 'team_payout' }, false)).toBe(false);
    expect(compiled({ action_type: 'team_payout', has_side_effect: true }, false)).toBe(true);
  });
});
