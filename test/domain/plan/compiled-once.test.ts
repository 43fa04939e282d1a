/** What a plan has of its template is compiled once, and decides about no other plan. */
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import type { ExecutorDescriptor } from '../../../domain/executor.ts';
import type { JsonObject, JsonValue } from '../../../domain/json.ts';
import {
  resolveBindings,
  type NodeBindings,
  type ReplacedSigner,
} from '../../../domain/plan/bindings.ts';
import { canonicalPlan, compilePlan } from '../../../domain/plan/compile.ts';
import { frozen } from '../../../domain/plan/kept.ts';
import type { ChainAssets } from '../../../domain/plan/tokens.ts';
import type {
  CompiledNode,
  CompiledPlan,
  PlanTemplate,
  TemplateNode,
} from '../../../domain/plan/types.ts';
import type { SignerDescriptor } from '../../../domain/signer.ts';
import { plans } from './flow-arbitrary.ts';

const node = (
  node_key: string,
  action_type: string,
  more: Partial<TemplateNode> = {},
): TemplateNode => ({
  ...{ node_key, node_kind: 'action', action_type, has_side_effect: true },
  ...more,
});

const onSuccess = (from: string, to: string): PlanTemplate['edges'][number] => ({
  ...{ from, to, edge_type: 'on_success', priority: 0 },
  ...{ join_key: null, condition_expr: null },
});

const TEMPLATE: PlanTemplate = {
  ...{ template_id: '01938a5e-7c00-7b3a-9d2f-5b1c7e8a4f10', template_key: 'treasury/move' },
  version: 3,
  nodes: [
    node('pay', 'acme_payout', { config: { venue: 'paper', tags: ['é', '€'] } }),
    node('burn', 'cctp_burn', {
      config: { source_chain_id: 1, destination_chain_id: 2, shared: 'template' },
      signer_selector: { chain_family: 'evm' },
      timeout_policy: { execution_seconds: 60 },
    }),
    node('mint', 'cctp_mint', { config: { burn_from: 'burn', chain_id: 2 } }),
  ],
  edges: [onSuccess('pay', 'burn'), onSuccess('burn', 'mint')],
  risk_controls: { max_amount: '5000', asset_allowlist: ['USDC'] },
  completion_policy: { completion_assurance: 'provider_completed' },
};

/** A chain on which each asset has a contract of this address that burns it. */
const chainsWith = (address: string): ChainAssets => [
  {
    ...{ venue_key: 'near', chain_id: 1, native_asset: 'ETH', tokens: [], deposit_venues: [] },
    finality: {
      ...{ read: 'finalized_tag', confirmations: null },
      ...{ typical_age_seconds: null, override_reason: null },
    },
    bridges: {
      burn_and_mint: {
        endpoint_identity: null,
        carriers: ['USDC', 'USDT'].map((asset) => ({ asset, address })),
      },
    },
  },
];
const CHAINS = [chainsWith(`0x${'a'.repeat(40)}`), chainsWith(`0x${'b'.repeat(40)}`), []];

const bound = (signer_key: string): ReadonlyMap<string, NodeBindings> =>
  new Map(
    TEMPLATE.nodes.map(({ node_key }) => [
      node_key,
      { executor_binding: { executor_key: 'e' }, signer_binding: { signer_key } },
    ]),
  );
const BINDINGS = [bound('hot'), bound('cold')];

const json = fc.jsonValue() as fc.Arbitrary<JsonValue>;
const config = fc.record(
  {
    asset: fc.constantFrom('USDT', 'usdt', ''),
    amount: fc.constantFrom('7', '0.5'),
    ...{ shared: json, tags: json, note: json },
  },
  { requiredKeys: [] },
);
const request = fc.record({
  intent: fc.record({
    asset: fc.constantFrom('USDC', 'USDT'),
    amount: fc.constantFrom('1', '2.5', '1000'),
    destination_address: fc.constantFrom('0x1', '0x2'),
  }),
  input_params: fc.oneof(
    fc.constant<JsonObject>({}),
    fc.record({ memo: json }),
    fc.record({ node_config: fc.oneof(config, json), memo: json }),
  ),
  bindings: fc.constantFrom(...BINDINGS),
  chains: fc.constantFrom(...CHAINS),
});

test('a plan is the one compiled anew, whatever was compiled of its template before', () => {
  const seen = { again: 0, texts: new Set<string>() };
  fc.assert(
    fc.property(fc.array(request, { minLength: 2, maxLength: 10 }), (many) => {
      const made: { readonly plan: CompiledPlan; readonly text: string | undefined }[] = [];
      for (const { bindings, chains, ...of } of many) {
        const plan = compilePlan(TEMPLATE, of, bindings, chains);
        // A clone has no object in common, so nothing is kept for it.
        const anew = compilePlan(structuredClone(TEMPLATE), of, bindings, chains);
        const text = canonicalize(anew);
        expect(plan).toEqual(anew);
        expect(canonicalPlan(plan)).toBe(text);
        if (made.some(({ plan: { nodes } }) => nodes === plan.nodes)) seen.again += 1;
        made.push({ plan, text });
        seen.texts.add(text ?? '');
      }
      for (const { plan, text } of made)
        expect([canonicalPlan(plan), canonicalize(plan)]).toEqual([text, text]);
    }),
    { numRuns: 200 },
  );
  expect(seen.again).toBeGreaterThan(5);
  expect(seen.texts.size).toBeGreaterThan(100);
});

test('the text of a plan is its canonical JSON, whatever fields it has', () => {
  const field = fc.string({ unit: 'grapheme' });
  fc.assert(
    fc.property(plans(6), fc.dictionary(field, json), (plan, more) => {
      for (const each of [plan, { ...plan, ...more }, { ...plan, labels: undefined }, more, []])
        expect(canonicalPlan(each as CompiledPlan)).toBe(canonicalize(each));
    }),
  );
  // Nodes that somebody has removed from the database leave no plan.
  expect(canonicalPlan(null as unknown as CompiledPlan)).toBe('null');
});

const INTENT = { asset: 'USDC', amount: '10' };

test('what plans share refuses every change', () => {
  const [template, bindings] = [structuredClone(TEMPLATE), bound('hot')];
  const [one, other] = ['10', '20'].map((amount) =>
    compilePlan(template, { intent: { ...INTENT, amount }, input_params: {} }, bindings),
  ) as [CompiledPlan, CompiledPlan];
  for (const part of ['nodes', 'edges', 'risk_controls', 'completion_policy', 'template'] as const)
    expect(other[part]).toBe(one[part]);
  const nodes = one.nodes as CompiledNode[];
  const first = nodes[0] as unknown as { asset: string; config: { venue: string; tags: string[] } };
  const controls = one.risk_controls as { max_amount: string };
  for (const change of [
    () => nodes.pop(),
    () => (first.asset = 'ETH'),
    () => (first.config.venue = 'other'),
    () => first.config.tags.push('more'),
    () => (controls.max_amount = '1'),
    () => (one.edges as unknown[]).pop(),
    () => ((template.edges[0] as { to: string }).to = 'mint'),
  ])
    expect(change).toThrow(/^Cannot (delete|assign|add) /);
});

const executor = (executor_key: string): ExecutorDescriptor => ({
  ...{ executor_key, kind: 'local', same_key_safe: true, settle_seconds: 0, timeout_seconds: 30 },
  ...{ action_types: ['acme_payout', 'cctp_burn', 'cctp_mint'], in_process: true, sends: true },
  ...{ not_payees: [], completion_assurances: ['provider_completed'] },
});
const signer = (signer_key: string): SignerDescriptor => ({
  ...{ signer_key, backend: 'local', chain_family: 'evm' },
});

test('a rotation, other executors and another version each make another plan', () => {
  const selector = { signer_selector: { chain_family: 'evm' } };
  const version = (number: number): PlanTemplate =>
    frozen({
      ...structuredClone(TEMPLATE),
      version: number,
      nodes: TEMPLATE.nodes.map((each) => ({ ...each, ...selector })),
    });
  const [template, next] = [version(3), version(4)];
  const [executors, signers] = [[executor('one')], [signer('hot')]];
  const replaced = (by: string): ReplacedSigner[] => [
    { signer_key: 'hot', chain_family: 'evm', replaced_by: by },
  ];
  const planOf = (
    of: PlanTemplate,
    rotations: readonly ReplacedSigner[],
    known: readonly ExecutorDescriptor[] = executors,
  ): CompiledPlan => {
    const registry = { executors: known, signers, replaced: rotations };
    const resolved = resolveBindings(of.nodes, registry);
    expect(resolved.unresolved).toEqual([]);
    return compilePlan(of, { intent: INTENT, input_params: {} }, resolved.bindings);
  };
  const facts = ({ template: { version: of }, nodes }: CompiledPlan): unknown[] => [
    of,
    nodes[0]?.executor_binding.executor_key,
    ...nodes.map(({ signer_binding }) => signer_binding?.signer_key),
  ];
  const before = planOf(template, []);
  expect(facts(before)).toEqual([3, 'one', 'hot', 'hot', 'hot']);
  // The database returns another list at each read.
  expect(planOf(template, []).nodes).toBe(before.nodes);
  const rotated = planOf(template, replaced('cold'));
  expect(facts(rotated)).toEqual([3, 'one', 'cold', 'cold', 'cold']);
  expect(planOf(template, replaced('cold')).nodes).toBe(rotated.nodes);
  expect(facts(planOf(template, replaced('third')))[2]).toBe('third');
  expect(facts(planOf(template, [], [executor('two')]))).toEqual([3, 'two', 'hot', 'hot', 'hot']);
  expect(facts(planOf(next, []))).toEqual([4, 'one', 'hot', 'hot', 'hot']);
  expect(canonicalPlan(planOf(template, []))).toBe(canonicalPlan(before));
  // The one signer that may be bound counts too.
  const both = [signer('hot'), signer('cold')];
  const only = (key: string) =>
    resolveBindings(template.nodes, { executors, signers: both, signer: key }).bindings.get('pay')
      ?.signer_binding?.signer_key;
  expect([only('hot'), only('cold')]).toEqual(['hot', 'cold']);
});
