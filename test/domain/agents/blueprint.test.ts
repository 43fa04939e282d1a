/** What is made of proposals, and what callers can make of that. */
import fc from 'fast-check';
import { PROTOCOL_FAMILIES } from '../../../domain/actions/spec.ts';
import { uncoveredBy, type AuthorityLimits } from '../../../domain/agents/authority.ts';
import { blueprintOf, type Blueprint } from '../../../domain/actions/blueprints/index.ts';
import { templateKeyOf, type Proposal } from '../../../domain/agents/proposal.ts';
import { validateGraph } from '../../../domain/graph/validate.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { unsupportedAssurances } from '../../../domain/plan/assurance.ts';
import { resolveBindings } from '../../../domain/plan/bindings.ts';
import { foreignKeys } from '../../../domain/plan/bounds.ts';
import { compilePlan } from '../../../domain/plan/compile.ts';
import { nonExecutableReasons } from '../../../domain/executable.ts';
import { tokenMismatch } from '../../../domain/plan/tokens.ts';
import type { CompiledPlan } from '../../../domain/plan/types.ts';
import { templateKey } from '../../../api/templates/schema.ts';
import { add, compare } from '../../support/amounts.ts';
import { address, BOUND, EXECUTORS, FAR, NEAR, PROPOSALS, SIGNERS } from './world.ts';

function made(proposal: Proposal): Blueprint {
  const blueprint = blueprintOf(proposal, BOUND);
  if ('problem' in blueprint) throw new Error(blueprint.problem);
  return blueprint;
}

function compiled(
  proposal: Proposal,
  amount: string,
  input_params: JsonObject = {},
  asset = proposal.asset,
): CompiledPlan {
  const { nodes, edges, completion_assurance } = made(proposal);
  const { bindings, unresolved } = resolveBindings(nodes, {
    executors: EXECUTORS,
    signers: SIGNERS,
  });
  expect(unresolved).toEqual([]);
  const template = {
    template_id: 't',
    template_key: 'agent/a/x',
    version: 1,
    nodes,
    edges,
    risk_controls: { max_amount: proposal.requested_notional },
    completion_policy: { completion_assurance },
  };
  return compilePlan(template, { intent: { asset, amount }, input_params }, bindings, BOUND.chains);
}

const named = PROPOSALS.map((proposal) => [proposal.protocol_family, proposal] as const);

test('every family that there is a blueprint for is among them', () => {
  expect(new Set(named.map(([family]) => family))).toEqual(new Set(PROTOCOL_FAMILIES));
});

describe.each(named)('the blueprint of %s', (_family, proposal) => {
  it('is held to what every template is held to, and draws the notional once', () => {
    const blueprint = made(proposal);
    expect(validateGraph(blueprint)).toEqual([]);
    expect(nonExecutableReasons(blueprint)).toEqual([]);
    const plan = compiled(proposal, '5');
    expect(plan.outflow).toEqual([{ asset: proposal.asset, amount: '5' }]);
    expect(plan.nodes.map((node) => tokenMismatch(node, BOUND.chains))).toEqual(
      plan.nodes.map(() => null),
    );
    const shows = (key: string) =>
      EXECUTORS.find(({ executor_key }) => executor_key === key)?.completion_assurances ?? [];
    expect(unsupportedAssurances(plan.nodes, shows)).toEqual([]);
    expect(plan.edges.some(({ edge_type }) => edge_type === 'on_cancel')).toBe(true);
    // What it allows is taken back after a cancel, and by no failure.
    const allows = plan.nodes.filter(({ action_type }) => action_type === 'evm_erc20_approve');
    const [allow, reset] = allows;
    expect(allows).toHaveLength(allow === undefined ? 0 : 2);
    if (allow !== undefined && reset !== undefined) {
      const { amount_ref: _drawn, ...config } = allow.config;
      expect(reset).toMatchObject({
        node_kind: 'compensation',
        config: { ...config, amount: '0' },
      });
      expect(plan.edges.filter(({ to }) => to === reset.node_key)).toMatchObject([
        { from: allow.node_key, edge_type: 'on_cancel' },
      ]);
    }
    const key = templateKeyOf('agent/a', proposal);
    expect(templateKey.safeParse(key).success).toBe(true);
  });

  it('keeps its amount, assets, chains and payees, whatever a caller adds', () => {
    const own = compiled(proposal, '5');
    fc.assert(
      fc.property(attacks, (node_config) => {
        fc.pre(foreignKeys({ node_config }).length === 0);
        const plan = compiled(proposal, '5', { node_config });
        expect(plan.outflow).toEqual(own.outflow);
        for (const [index, node] of plan.nodes.entries()) {
          const before = own.nodes[index];
          expect(node.asset).toBe(node.sends ? proposal.asset : node.asset);
          for (const [field, value] of Object.entries(before?.config ?? {}))
            expect(node.config[field]).toEqual(value);
        }
      }),
    );
  });
});

describe('there is no blueprint', () => {
  const of = (family: string): Proposal =>
    PROPOSALS.find(({ protocol_family }) => protocol_family === family) as Proposal;

  test.each<[string, string, Partial<Proposal>, RegExp]>([
    ['an asset that a path has no place for', 'cctp', { asset: 'US/DC' }, /part of a template/],
    ['an asset of hidden levels', 'cctp', { asset: '..' }, /part of a template/],
    ['a number that is another chain’s', 'cctp', { destination_chain_id: 11 }, /is chain 22/],
    [
      'a network that is a chain of ours, with the number of another',
      ...(['cex_withdrawal', { destination_chain: 'far' }, /is chain 22, not 11/] as const),
    ],
    [
      'a deposit to anybody else',
      ...(['perp_deposit', { destination_address: address('a') }, /deposits go to/] as const),
    ],
    ['a deposit by another number', 'perp_deposit', { destination_chain_id: 22 }, /on chain 11/],
    ['a deposit from elsewhere', 'perp_deposit', { source_chain: 'far' }, /paid into from far/],
    ['a deposit of what it does not hold', 'perp_deposit', { asset: 'ETH' }, /holds USDC/],
    [
      'a withdrawal to where the venue does not pay',
      ...(['perp_withdraw', { destination_chain: 'far', destination_chain_id: 22 }] as const),
      /pays out on far/,
    ],
    [
      'a withdrawal from elsewhere',
      'perp_withdraw',
      { source_chain: 'exchange' },
      /venue exchange/,
    ],
    ['a bridge that does not carry it', 'bridge_c', { asset: 'USDC' }, /does not carry USDC/],
    ['a burn of what is not listed', 'cctp', { asset: 'ETH' }, /not listed on both/],
    [
      'a transfer to another chain',
      'onchain_transfer',
      { source_chain: 'far' },
      /stays on its chain/,
    ],
  ])('for %s', (_, family, more, problem) => {
    expect(blueprintOf({ ...of(family), ...more }, BOUND)).toEqual({
      problem: expect.stringMatching(problem),
    });
  });
});

/** Fields that executors read, with values that would send more, or elsewhere. */
const attacks = fc
  .record(
    {
      amount: fc.constantFrom('0', '1', '4.999', '1000000', -5, null, 'all', { a: '1' }),
      asset: fc.constantFrom('USDT', 'ETH', '', 'usdc', 7),
      chain_id: fc.constantFrom(1, 22, '11', null),
      source_chain_id: fc.constantFrom(1, 22),
      destination_chain_id: fc.constantFrom(1, 11),
      token_address: fc.constant(`0x${'9'.repeat(40)}`),
      destination_address: fc.constant(`0x${'9'.repeat(40)}`),
      mint_recipient: fc.constant(`0x${'9'.repeat(40)}`),
      spender: fc.constant(`0x${'9'.repeat(40)}`),
      max_fee: fc.constantFrom('4', '5'),
      venue: fc.constantFrom('other', 'exchange'),
      network: fc.constant('tron'),
    },
    { requiredKeys: [] },
  )
  .map((config): JsonObject => JSON.parse(JSON.stringify(config)) as JsonObject);

const LIMITS: AuthorityLimits = {
  max_notional: '10',
  allowed_assets: ['USDC', 'ETH'],
  allowed_chains: ['near', '22', 'erc20'],
  max_ttl_seconds: null,
};

describe('what is covered', () => {
  const node = (node_key: string, action_type: string, config: JsonObject) => ({
    node_key,
    action_type,
    config,
    node_kind: 'action' as const,
    has_side_effect: true,
  });
  /** What would never be registered for an agent: every value is left to whoever creates. */
  const open = (nodes: ReturnType<typeof node>[], input: JsonObject, amount: string) => {
    const bindings = new Map(
      nodes.map(({ node_key }) => [
        node_key,
        { executor_binding: { executor_key: 'x' }, signer_binding: null, executor_sends: true },
      ]),
    );
    const template = {
      template_id: 't',
      template_key: 'agent/a/x',
      version: 1,
      nodes,
      edges: [],
      risk_controls: {},
      completion_policy: { completion_assurance: 'provider_completed' as const },
    };
    const request = { intent: { asset: 'USDC', amount }, input_params: { node_config: input } };
    return compilePlan(template, request, bindings, BOUND.chains);
  };
  const amounts = fc.constantFrom('0.000000000000000001', '3', '5', '9.999', '10', '10.001', '1e3');

  it('never draws more of any asset than the limit, by a sum of its own', () => {
    const nodes = fc.array(
      fc.record({
        config: fc.record(
          {
            amount: amounts,
            asset: fc.constantFrom('USDC', 'USDC', 'USDC', 'ETH', 'ETH', 'usdc', 'EURC'),
            amount_ref: fc.constantFrom('intent', 'intent', 'intent', 'nodes.n0.output.sent'),
          },
          { requiredKeys: [] },
        ),
        // Mostly where an agent may act, so that what it adds up to is what decides.
        action: fc.constantFrom<readonly [string, JsonObject]>(
          ['acme_payout', { chain_id: 11 }],
          ['evm_native_transfer', { chain_id: 11 }],
          ['cex_withdrawal', { network: 'erc20' }],
          ['cex_withdrawal', {}],
        ),
      }),
      { minLength: 1, maxLength: 3 },
    );
    const added = fc.oneof(
      { weight: 3, arbitrary: fc.constant({}) },
      { weight: 1, arbitrary: attacks },
    );
    let judged = 0;
    fc.assert(
      fc.property(nodes, added, amounts, (drawn, input, amount) => {
        fc.pre(amount !== '1e3');
        const plan = open(
          drawn.map(({ action: [action_type, place], config }, n) =>
            node(`n${String(n)}`, action_type, { ...place, ...config }),
          ),
          input,
          amount,
        );
        if (uncoveredBy(plan, LIMITS, null, BOUND.chains).length > 0) return;
        judged += 1;
        // Without edges every node draws what its config says, else what the intent does.
        const sums = new Map<string, string>();
        for (const { asset, config } of plan.nodes) {
          const spent = config['amount'] ?? amount;
          expect(typeof spent).toBe('string');
          sums.set(asset, add(sums.get(asset) ?? '0', String(spent)));
        }
        for (const [asset, sum] of sums) {
          expect(LIMITS.allowed_assets).toContain(asset);
          expect(compare(sum, '10')).toBeLessThanOrEqual(0);
        }
      }),
      { numRuns: 500 },
    );
    // Else it would only say that nothing is covered.
    expect(judged).toBeGreaterThan(60);
  });

  it('is nothing where no limit is set', () => {
    const none = { ...LIMITS, max_notional: null, allowed_assets: [], allowed_chains: [] };
    const plan = compiled(PROPOSALS[0] as Proposal, '0.000001');
    expect(uncoveredBy(plan, none, null, BOUND.chains).map(({ code }) => code)).toEqual([
      'max_notional_exceeded',
      'asset_not_allowed',
      'chain_not_allowed',
    ]);
  });

  it('is what an administrator has promoted too, of that asset and on those chains alone', () => {
    const none = { ...LIMITS, max_notional: '1', allowed_assets: [], allowed_chains: [] };
    const plan = compiled(PROPOSALS[2] as Proposal, '5');
    const grant = { asset: 'USDC', amount: '5', chains: [NEAR.venue_key, FAR.venue_key] };
    const codes = (of: typeof grant) =>
      uncoveredBy(plan, none, of, BOUND.chains).map(({ code }) => code);
    expect(codes(grant)).toEqual([]);
    expect(codes({ ...grant, amount: '4.99' })).toEqual(['max_notional_exceeded']);
    expect(codes({ ...grant, chains: ['near'] })).toEqual(['chain_not_allowed']);
    expect(codes({ ...grant, asset: 'ETH' })).toEqual([
      'max_notional_exceeded',
      'asset_not_allowed',
    ]);
  });
});
