/**
 * The rules of automatic approval: the first check that fails decides, in the order of the
 * contract.
 */
import fc from 'fast-check';
import { available, fits } from '../../domain/auto-approve/budget.ts';
import { evaluateFree, FREE_CHECKS } from '../../domain/auto-approve/free.ts';
import {
  capsAreComplete,
  evaluatePolicy,
  POLICY_CHECKS,
  type AutoApprovePolicy,
} from '../../domain/auto-approve/policy.ts';
import { LATE_REASONS, type Evaluation } from '../../domain/auto-approve/result.ts';
import type { JsonValue } from '../../domain/json.ts';
import { fromBaseUnits } from '../../domain/money.ts';
import { onlyObserves } from '../../domain/plan/amount.ts';

const AT = '2026-11-24T10:00:00.000Z';
const REQUEST = {
  client_id: 'c',
  asset: 'USDC',
  amount: '10',
  outflow: [],
  only_observes: false,
  template_key: 'a/b',
  template_version: 2,
};
const moves = (amount: string | null, asset = 'USDC') => ({
  ...REQUEST,
  outflow: [{ asset, amount }],
});
const POLICY: AutoApprovePolicy = {
  policy_id: 'p',
  client_id: 'c',
  strategy_id: 's',
  is_active: true,
  allowed_templates: [{ template_key: 'a/b', template_version: 2 }],
  allowed_assets: ['USDC'],
  max_amount_per_request: '10',
  window_hours: 24,
  max_amount_per_window: '30',
  max_count_per_window: 3,
  revision: 4,
};
const USAGE = { reserved_amount: '5', consumed_amount: '15', count_in_window: 2 };
const FACTS = { at: AT, policy: POLICY, usage: USAGE, bindings_available: true };
const reasonOf = (evaluation: Evaluation): string => evaluation.result.reason;
const policy = (more: Partial<AutoApprovePolicy>) => ({ ...FACTS, policy: { ...POLICY, ...more } });

describe('a plan that only observes', () => {
  type Node = Parameters<typeof onlyObserves>[0][number];
  const look: Node = { node_kind: 'observe', action_type: 'evm_balance_observe', sends: false };
  const allow = (amount: JsonValue): Node => ({
    node_kind: 'action',
    action_type: 'evm_erc20_approve',
    sends: true,
    config: { amount },
  });
  it.each<[string, readonly Node[], boolean]>([
    ['observes', [look], true],
    ['takes an allowance back beside it', [look, allow('0')], true],
    ['takes one back in another spelling', [allow('0.00'), look], true],
    ['sets an allowance', [look, allow('1')], false],
    ['sets one that a node tells', [look, allow({ from: 'x' })], false],
    ['sends', [look, { ...look, node_kind: 'action', sends: true }], false],
    ['observes nothing', [allow('0')], false],
  ])('is one that %s', (_what, nodes, only) => {
    expect(onlyObserves(nodes)).toBe(only);
    const request = { ...REQUEST, only_observes: onlyObserves(nodes) };
    expect(reasonOf(evaluatePolicy(request, FACTS, false)) === 'no_sending_node').toBe(only);
  });
});

describe('a policy', () => {
  it('approves what is just within every limit', () => {
    const evaluation = evaluatePolicy(REQUEST, FACTS, false);
    expect(evaluation).toMatchObject({
      result: { outcome: 'approved', reason: 'policy_passed', policy_id: 'p', evaluated_at: AT },
      guard: { policy_id: 'p', revision: 4 },
    });
    expect(evaluation.result.checks).toEqual(
      POLICY_CHECKS.map((check) => ({ check, passed: true })),
    );
  });

  it.each([
    ['policy_not_found', REQUEST, { ...FACTS, policy: null }, 0],
    ['client_id_missing', { ...REQUEST, client_id: null }, FACTS, 0],
    ['policy_inactive', REQUEST, policy({ is_active: false }), 1],
    ['asset_not_allowed', { ...REQUEST, asset: 'USDT' }, FACTS, 2],
    ['asset_not_allowed', REQUEST, policy({ allowed_assets: [] }), 2],
    ['template_not_allowed', { ...REQUEST, template_version: 3 }, FACTS, 3],
    ['template_not_allowed', { ...REQUEST, template_key: 'a/bc' }, FACTS, 3],
    ['template_not_allowed', REQUEST, policy({ allowed_templates: [] }), 3],
    ['asset_not_allowed', moves('1', 'USDT'), FACTS, 2],
    ['no_sending_node', { ...REQUEST, only_observes: true }, FACTS, 4],
    ['outflow_unknown', moves(null), FACTS, 4],
    [
      'outflow_unknown',
      moves(null),
      policy({ max_amount_per_request: null, max_amount_per_window: null }),
      4,
    ],
    ['outflow_asset_differs', moves('1', 'USDT'), policy({ allowed_assets: ['USDC', 'USDT'] }), 4],
    [
      'outflow_asset_differs',
      moves('1', 'USDT'),
      policy({ allowed_assets: ['USDC', 'USDT'], max_amount_per_request: null }),
      4,
    ],
    ['amount_exceeded_per_request', { ...REQUEST, amount: '10.000000000000000001' }, FACTS, 4],
    ['amount_exceeded_per_request', moves('10.000000000000000001'), FACTS, 4],
    [
      'window_amount_exceeded',
      moves('10.000000000000000001'),
      policy({ max_amount_per_request: null }),
      4,
    ],
    [
      'window_amount_exceeded',
      REQUEST,
      policy({ max_amount_per_window: '29.999999999999999999' }),
      4,
    ],
    ['window_count_exceeded', REQUEST, policy({ max_count_per_window: 2 }), 4],
    ['binding_unavailable', REQUEST, { ...FACTS, bindings_available: false }, 5],
  ])('gives %s', (reason, request, facts, looked) => {
    const { result, guard } = evaluatePolicy(request, facts, false);
    expect([result.outcome, result.reason, guard]).toEqual(['pending', reason, null]);
    expect(result.checks).toEqual(
      POLICY_CHECKS.slice(0, looked).map((check, index) => ({ check, passed: index < looked - 1 })),
    );
  });

  it('allows every version where it names none', () => {
    const any = policy({ allowed_templates: [{ template_key: 'a/b', template_version: null }] });
    expect(reasonOf(evaluatePolicy({ ...REQUEST, template_version: 77 }, any, false))).toBe(
      'policy_passed',
    );
  });

  it('allows of an agent’s key the version that it names, and none where it names none', () => {
    const key = 'agent/rebalancer/way';
    const allowing = (template_version: number | null) =>
      reasonOf(
        evaluatePolicy(
          { ...REQUEST, template_key: key },
          policy({ allowed_templates: [{ template_key: key, template_version }] }),
          false,
        ),
      );
    expect([allowing(2), allowing(1), allowing(null)]).toEqual([
      'policy_passed',
      'template_not_allowed',
      'template_not_allowed',
    ]);
  });

  it('does not limit what it has no cap for', () => {
    const open = policy({
      max_amount_per_request: null,
      window_hours: null,
      max_amount_per_window: null,
      max_count_per_window: null,
    });
    expect(
      reasonOf(evaluatePolicy({ ...REQUEST, amount: '99999999999999999999' }, open, false)),
    ).toBe('policy_passed');
    const assets = { ...open, policy: { ...open.policy, allowed_assets: ['USDC', 'USDT'] } };
    expect(reasonOf(evaluatePolicy(moves('99999999999999999999', 'USDT'), assets, false))).toBe(
      'policy_passed',
    );
  });

  it('names the first of all checks that fail', () => {
    const breaks = {
      is_active: { policy: { is_active: false }, reason: 'policy_inactive' },
      asset: { policy: { allowed_assets: ['X'] }, reason: 'asset_not_allowed' },
      template: { policy: { allowed_templates: [] }, reason: 'template_not_allowed' },
      amount: { policy: { max_amount_per_request: '9' }, reason: 'amount_exceeded_per_request' },
    } as const;
    const broken = fc.record({
      checks: fc.subarray(Object.keys(breaks) as (keyof typeof breaks)[]),
      bound: fc.boolean(),
      dry: fc.boolean(),
    });
    fc.assert(
      fc.property(broken, ({ checks, bound, dry }) => {
        const changed = checks.reduce<Partial<AutoApprovePolicy>>(
          (all, check) => ({ ...all, ...breaks[check].policy }),
          {},
        );
        const facts = { ...policy(changed), bindings_available: bound };
        const { result, guard } = evaluatePolicy(REQUEST, facts, dry);
        const first = POLICY_CHECKS.find((check) =>
          check === 'binding_available' ? !bound : checks.includes(check),
        );
        const expected =
          first === undefined
            ? 'policy_passed'
            : first === 'binding_available'
              ? 'binding_unavailable'
              : breaks[first].reason;
        expect(result.reason).toBe(expected);
        expect(result.checks.at(-1)).toEqual({
          check: first ?? 'binding_available',
          passed: first === undefined,
        });
        expect(result.outcome).toBe(dry ? 'dry_run' : first === undefined ? 'approved' : 'pending');
        expect(guard === null).toBe(result.outcome !== 'approved');
      }),
    );
  });

  it('has an answer ready for everything that its transaction may still find', () => {
    const evaluation = evaluatePolicy(REQUEST, FACTS, false);
    if (evaluation.guard === null) throw new Error('not approved');
    for (const reason of LATE_REASONS)
      expect(evaluation.refused[reason]).toMatchObject({
        outcome: 'pending',
        reason,
        policy_id: 'p',
      });
    expect(evaluation.refused.window_amount_exceeded.checks.at(-1)).toEqual({
      check: 'amount',
      passed: false,
    });
    expect(evaluation.refused.binding_unavailable.checks.at(-1)).toEqual({
      check: 'binding_available',
      passed: false,
    });
    expect(
      evaluation.refused.insufficient_effective_withdrawable.checks.every(({ passed }) => passed),
    ).toBe(true);
  });

  it('caps a window only with a window', () => {
    expect(
      capsAreComplete({ window_hours: 1, max_amount_per_window: '1', max_count_per_window: 1 }),
    ).toBe(true);
    expect(capsAreComplete({ window_hours: 1 })).toBe(true);
    expect(capsAreComplete({})).toBe(true);
    expect(capsAreComplete({ max_amount_per_window: '0' })).toBe(false);
    expect(capsAreComplete({ window_hours: null, max_count_per_window: 0 })).toBe(false);
  });
});

describe('a window', () => {
  const units = fc.bigInt({ min: 0n, max: 10n ** 37n });

  it('fits what whole numbers say fits, and what is left of it fits exactly', () => {
    fc.assert(
      fc.property(units, units, units, units, (most, reserved, consumed, wanted) => {
        const caps = {
          window_hours: 1,
          max_amount_per_window: fromBaseUnits(most, 18),
          max_count_per_window: null,
        };
        const usage = {
          reserved_amount: fromBaseUnits(reserved, 18),
          consumed_amount: fromBaseUnits(consumed, 18),
          count_in_window: 9,
        };
        const left = most - reserved - consumed;
        expect(fits(caps, usage, fromBaseUnits(wanted, 18))).toBe(
          wanted > left ? 'window_amount_exceeded' : null,
        );
        expect(available(caps, usage)).toBe(fromBaseUnits(left, 18));
        if (left >= 0n) expect(fits(caps, usage, fromBaseUnits(left, 18))).toBeNull();
        expect(fits(caps, usage, fromBaseUnits(left + 1n, 18))).toBe('window_amount_exceeded');
      }),
    );
  });

  it('counts what is not released', () => {
    const caps = { window_hours: 1, max_amount_per_window: null, max_count_per_window: 2 };
    const at = (count_in_window: number) => fits(caps, { ...USAGE, count_in_window }, '1');
    expect([at(0), at(1), at(2), at(3)]).toEqual([
      null,
      null,
      'window_count_exceeded',
      'window_count_exceeded',
    ]);
    expect(available(caps, USAGE)).toBeNull();
  });
});

describe("a template's daily cap", () => {
  const TEMPLATE = { auto_approve_enabled: true, daily_cap_amount: '30', daily_cap_asset: 'USDC' };
  const FREE = { at: AT, enabled: true, template: TEMPLATE, used: '20' };

  it('approves what fills the day exactly', () => {
    const evaluation = evaluateFree(REQUEST, FREE);
    expect(evaluation).toMatchObject({
      result: { outcome: 'approved', reason: 'free_simple_cap_passed' },
      guard: { template_key: 'a/b', daily_cap_amount: '30', daily_cap_asset: 'USDC' },
    });
    expect(evaluation.result.checks.map(({ check }) => check)).toEqual([...FREE_CHECKS]);
  });

  it('approves nothing of a key of which an agent makes the versions', () => {
    const request = { ...REQUEST, template_key: 'agent/rebalancer/way' };
    expect(reasonOf(evaluateFree(request, FREE))).toBe('template_auto_approve_disabled');
  });

  it.each([
    ['auto_approve_disabled_settings', REQUEST, { ...FREE, enabled: false, template: null }],
    ['template_not_found', REQUEST, { ...FREE, template: null }],
    [
      'template_auto_approve_disabled',
      { ...REQUEST, asset: 'X' },
      { ...FREE, template: { ...TEMPLATE, auto_approve_enabled: false } },
    ],
    ['asset_mismatch', { ...REQUEST, asset: 'X', amount: '31' }, FREE],
    ['amount_exceeded_per_request', { ...REQUEST, amount: '30.000000000000000001' }, FREE],
    ['daily_cap_exceeded', { ...REQUEST, amount: '10.000000000000000001' }, FREE],
    ['asset_mismatch', moves('1', 'USDT'), FREE],
    ['no_sending_node', { ...REQUEST, only_observes: true }, FREE],
    ['outflow_unknown', moves(null), FREE],
    ['amount_exceeded_per_request', moves('30.000000000000000001'), FREE],
    ['daily_cap_exceeded', moves('10.000000000000000001'), FREE],
  ])('gives %s before what comes after it', (reason, request, facts) => {
    const { result, guard } = evaluateFree(request, facts);
    expect([result.outcome, result.reason, guard]).toEqual(['pending', reason, null]);
    expect(result.checks.filter(({ passed }) => !passed)).toEqual([result.checks.at(-1)]);
  });
});
