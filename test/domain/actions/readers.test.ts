/**
 * Every action type, and types of a team, through everything that reads specs: what sends is drawn,
 * held, paid to somebody and in a token that is compared, and a name that nothing is known of fails
 * closed.
 */
import { specOf } from '../../../domain/actions/built-in.ts';
import { ACTION_NAMES, type ActionSpec } from '../../../domain/actions/spec.ts';
import { uncoveredBy } from '../../../domain/agents/authority.ts';
import type { DeclaredPayees } from '../../../domain/allowlist/declared.ts';
import { destinationsOf } from '../../../domain/allowlist/destinations.ts';
import { claimsOf } from '../../../domain/claims.ts';
import { toFundRoute } from '../../../domain/fund-routes/fund-route.ts';
import type { GraphEdge } from '../../../domain/graph/types.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { paysDepositAddress } from '../../../domain/perps/deposit-address.ts';
import { isUserSigned, perpRoleOf } from '../../../domain/perps/ready.ts';
import { compilePlan } from '../../../domain/plan/compile.ts';
import { nonExecutableReasons } from '../../../domain/executable.ts';
import { firstLegOf, recordsOf, secondLegsOf } from '../../../domain/plan/legs.ts';
import { poolOf } from '../../../domain/plan/pools.ts';
import { sendTerms } from '../../../domain/plan/send-terms.ts';
import { tokenMismatch } from '../../../domain/plan/tokens.ts';
import type { CompiledNode, CompiledPlan, TemplateNode } from '../../../domain/plan/types.ts';
import { clocksOfNode } from '../../../domain/send/clocks.ts';
import { usualSeconds } from '../../../domain/send/usual-time.ts';
import { address, BOUND, FAR, NEAR } from '../agents/world.ts';

const { chains } = BOUND;
const AMOUNT = '5';
const PAYEE = address('a');

interface Declared {
  readonly sends: boolean;
  readonly payees?: DeclaredPayees['payees'];
}

/** A type, and of a team's own what its executor declares. */
type Case = readonly [what: string, action_type: string, declared: Declared];

const BUILT_IN: readonly Case[] = ACTION_NAMES.map((name) => [name, name, { sends: true }]);
const OWN: readonly Case[] = [
  ['a type of which nothing is declared', 'acme_payout', { sends: true }],
  [
    'a type whose payee is declared',
    'acme_payout',
    { sends: true, payees: [{ field: 'destination_address', family: 'evm' }] },
  ],
  ['a type that is declared to send nothing', 'acme_report', { sends: false }],
];

/** What the node moves: the token that its lane carries, its chain's coin, or the venue's asset. */
function assetOf({ token, crossing }: ActionSpec): string {
  if (token === 'deposit_venue') return 'USDC';
  if (crossing !== null) return crossing.lane === 'bridge_c' ? 'LOCKED' : 'USDC';
  return typeof token === 'object' && token?.named === 'native' ? 'ETH' : 'USDC';
}

function nodeOf(
  node_key: string,
  action_type: string,
  more: JsonObject = {},
  declared: Partial<Declared> = {},
): TemplateNode {
  const { sends, signs, token, payees, amount } = specOf(action_type, declared);
  const acts = sends || payees === 'declared';
  return {
    ...{ node_key, action_type, has_side_effect: sends },
    node_kind: action_type === 'manual_gate' ? 'manual_gate' : acts ? 'action' : 'observe',
    ...(signs === null ? {} : { signer_selector: { chain_family: 'evm' } }),
    config: {
      ...{
        asset: assetOf(specOf(action_type)),
        venue: perpRoleOf(action_type) === null ? 'exchange' : 'perps',
      },
      ...{ chain_id: NEAR.chain_id, destination_address: PAYEE, mint_recipient: PAYEE },
      ...{ source_chain_id: NEAR.chain_id, destination_chain_id: FAR.chain_id },
      ...(typeof token === 'object' && token !== null ? { token_address: address('1') } : {}),
      ...{ spender: address('c'), sub_account_address: PAYEE },
      ...(amount === 'plan' ? { amount_ref: 'intent' } : {}),
      ...more,
    },
  };
}

/** The node alone, or behind the first leg that it brings. */
function planOf(action_type: string, declared: Declared, more: JsonObject = {}) {
  const { crossing } = specOf(action_type);
  const first = ACTION_NAMES.find((name) => {
    const other: ActionSpec['crossing'] = specOf(name).crossing;
    return other?.leg === 1 && other.lane === crossing?.lane;
  });
  const behind = crossing?.leg === 2 && first !== undefined;
  const nodes = behind
    ? [nodeOf('first', first), nodeOf('x', action_type, { [crossing.names]: 'first', ...more })]
    : [nodeOf('x', action_type, more, declared)];
  const edge: GraphEdge = {
    ...{ from: 'first', to: 'x', edge_type: 'on_success', priority: 0 },
    ...{ join_key: null, condition_expr: null },
  };
  const template = {
    ...{ template_id: 't', template_key: 'k', version: 1, risk_controls: {} },
    ...{ nodes, edges: behind ? [edge] : [] },
    completion_policy: { completion_assurance: 'provider_completed' as const },
  };
  const bindings = new Map(
    nodes.map(({ node_key, signer_selector }) => [
      node_key,
      {
        executor_binding: { executor_key: 'e' },
        signer_binding: signer_selector === undefined ? null : { signer_key: 'wallet' },
        executor_sends: declared.sends,
      },
    ]),
  );
  const intent = { asset: assetOf(specOf(action_type)), amount: AMOUNT };
  return { template, plan: compilePlan(template, { intent, input_params: {} }, bindings, chains) };
}

function theNode({ nodes }: CompiledPlan): CompiledNode {
  const node = nodes.find(({ node_key }) => node_key === 'x');
  if (node === undefined) throw new Error('the plan has no such node');
  return node;
}

describe.each([...BUILT_IN, ...OWN])('%s', (_what, action_type, declared) => {
  const { sends: declaredSends, payees: fields } = declared;
  const spec = specOf(action_type, { sends: declaredSends });
  const { template, plan } = planOf(action_type, declared);
  const node = theNode(plan);
  const executor: DeclaredPayees = {
    ...{ sends: declaredSends, not_payees: [], action_types: [action_type] },
    ...(fields === undefined ? {} : { payees: fields }),
  };
  const paid = destinationsOf({ node, executor, intent: plan.intent, input_params: {} });
  const second = spec.crossing?.leg === 2;

  test('is drawn once where it sends', () => {
    expect(node.sends).toBe(spec.sends);
    expect(node.has_side_effect).toBe(spec.sends);
    const asset = assetOf(spec);
    expect(plan.outflow).toEqual(spec.sends || second ? [{ asset, amount: AMOUNT }] : []);
    const resets = planOf(action_type, declared, { amount: '0' }).plan.outflow;
    if (spec.allowance) expect(resets).toEqual([{ asset, amount: '0' }]);
  });

  test('pays a payee that is checked, or is known to pay no one', () => {
    if (!spec.sends || spec.payees === 'none' || spec.payees === 'sub_account') {
      expect(paid).toEqual([]);
      return;
    }
    expect(paid.length).toBeGreaterThan(0);
    if (spec.payees === 'declared' && fields === undefined)
      expect(paid.every(({ problem }) => problem !== undefined)).toBe(true);
    else expect(paid.map((each) => each.address)).toContain(PAYEE);
    if (spec.payees === 'spender') expect(paid.map((each) => each.address)).toContain(address('c'));
    if (typeof spec.payees === 'object') {
      const arrival = spec.payees.strict === 'chain_id' ? NEAR : FAR;
      for (const { strict, chain_id } of paid)
        expect({ strict, chain_id }).toEqual({ strict: true, chain_id: arrival.chain_id });
    }
    const there = [{ address: NEAR.deposit_venues[0]?.deposit_address ?? '' }];
    expect(paysDepositAddress(action_type, there, chains) === null).toBe(
      perpRoleOf(action_type) === 'deposit',
    );
  });

  test('is held in a pool, and in no token but its own', () => {
    const pool = poolOf(node, chains);
    if (spec.sends) expect(pool).not.toBeNull();
    if (spec.signs === 'transaction') expect(pool?.venue_key).toBe('near:wallet');
    expect(tokenMismatch(node, chains)).toBeNull();
    const other = theNode(planOf(action_type, declared, { asset: 'OMNI2' }).plan);
    const compared = spec.token !== null && spec.token !== 'first_leg';
    expect(tokenMismatch(other, chains) !== null).toBe(compared);
    expect(node.pulled_by !== undefined).toBe(spec.puller !== null);
    const { chain_id, venue } = sendTerms(node);
    if (spec.sends) expect([chain_id, venue]).not.toEqual([null, null]);
  });

  test('is executable as it stands, and not without its signer or its first leg', () => {
    expect(nonExecutableReasons(template)).toEqual([]);
    const [{ signer_selector: _signer, ...last } = nodeOf('x', action_type)] =
      template.nodes.slice(-1);
    const alone = nonExecutableReasons({ nodes: [last], edges: [] });
    expect(alone.includes('signer_selector_missing:x')).toBe(spec.signs !== null);
    expect(alone.some((reason) => reason.startsWith('unknown_'))).toBe(second);
    const first = template.nodes[0] ?? last;
    expect(firstLegOf(last)).toBe(second ? 'first' : null);
    expect(secondLegsOf(first, template.nodes).length).toBe(second ? 1 : 0);
    expect(recordsOf(first.action_type).length > 0).toBe(spec.crossing !== null);
  });

  test('is covered by no authority without limits, and known to routes', () => {
    const limits = {
      ...{ max_notional: null, allowed_assets: [], allowed_chains: [], max_ttl_seconds: null },
    };
    const uncovered = uncoveredBy(plan, limits, null, chains).map(({ code }) => code);
    const moves = plan.nodes.some(({ sends }) => sends);
    expect(uncovered).toEqual(
      moves ? ['max_notional_exceeded', 'asset_not_allowed', 'chain_not_allowed'] : [],
    );
    const route = toFundRoute(
      { ...template, template_id: 't', name: 'n', graph_shape: 'linear' },
      true,
    );
    // What an executor declares is no part of a version.
    expect(route.moves_funds).toBe(spec.payees === 'declared' || (moves && !spec.allowance));
    expect(route.reserved).toBe(spec.reserved);
    expect(route.requiring_selectors.map(({ kind }) => kind)).toEqual(
      plan.nodes.flatMap((each) => specOf(each.action_type).requires?.kind ?? []),
    );
    expect(route.bridge_legs.length).toBe(spec.crossing === null ? 0 : 1);
    const family = spec.transport ?? (second ? 'bridge' : 'mixed');
    expect(route.metadata.transport_family).toBe(family);
  });

  test('says what its completion rests on, and when it is late', () => {
    const output = {
      ...{ attested_message: `0x${'00'.repeat(44)}`, packet: { guid: '0x01' } },
      payments: [{ source: 'cex:main', reference: 'r1', amount: '5', total: '5' }],
      ...{ message_nonce: '0x03', guid: '0x04', ledger_hash: '0x02' },
    };
    const claims = claimsOf({ action_type, output, matched: output, external_ref: 'x' });
    expect(claims.length).toBe(spec.claim === null ? 0 : 1);
    expect(claimsOf({ action_type, output: null, matched: null })).toEqual([]);
    expect(usualSeconds(action_type)).toBe(spec.usualSeconds);
    expect(usualSeconds(action_type, { attention_seconds: 7 })).toBe(7);
    expect(clocksOfNode(node, null, chains).includes('perp')).toBe(
      perpRoleOf(action_type) !== null,
    );
    expect(isUserSigned(action_type)).toBe(spec.signs === 'venue_message');
  });
});
