/** What a policy would have approved in a time that is over; expected values are made by hand. */
import {
  tryPolicy,
  type PastDecision,
  type PastMovement,
  type PolicyTerms,
} from '../../domain/auto-approve/past.ts';

const POLICY: PolicyTerms = {
  client_id: 'c',
  strategy_id: 's',
  is_active: true,
  allowed_templates: [{ template_key: 'a/b', template_version: null }],
  allowed_assets: ['USDC'],
  max_amount_per_request: '10',
  window_hours: 24,
  max_amount_per_window: '25',
  max_count_per_window: 3,
};

/** A movement that a person approved and that completed. */
const past = (
  movement_id: string,
  created_at: string,
  more: Partial<PastMovement> = {},
): PastMovement => ({
  movement_id,
  created_at,
  template_key: 'a/b',
  template_version: 2,
  asset: 'USDC',
  amount: '10',
  outflow: [],
  only_observes: false,
  by_agent: false,
  state: 'COMPLETED',
  became: 'person',
  ...more,
});
const sends = (amount: string | null, asset = 'USDC') => ({ outflow: [{ asset, amount }] });
const rejected = { state: 'REJECTED', became: null } as const;
const shortOf = ({ movement_id, outflow_amount, would, reason }: PastDecision) => [
  movement_id,
  outflow_amount,
  would,
  reason,
];

describe('a policy that is tried on movements of the past', () => {
  test('uses up its window by what it would have approved, until the window has moved on', () => {
    const { totals, by_agents, listed } = tryPolicy(POLICY, [
      past('1', '2026-11-24T10:00:00.000Z'),
      past('2', '2026-11-24T11:00:00.000Z', rejected),
      // 20 are used.
      past('3', '2026-11-24T12:00:00.000Z', { amount: '6', became: 'policy' }),
      past('4', '2026-11-24T13:00:00.000Z', { amount: '1', by_agent: true }),
      past('5', '2026-11-24T14:00:00.000Z', { amount: '1', ...sends(null) }),
      past('6', '2026-11-24T15:00:00.000Z', {
        amount: '3',
        ...sends('5'),
        state: 'EXPIRED',
        became: null,
      }),
      // The first has just left the window: 15 are used by two.
      past('7', '2026-11-25T10:00:00.000Z', { became: 'template_cap' }),
      // A millisecond before the second leaves it: 25 are used by three.
      past('8', '2026-11-25T10:59:59.999Z', {
        amount: '0.000000000000000001',
        state: 'PENDING_APPROVAL',
        became: null,
      }),
      past('9', '2026-11-25T11:00:00.000Z', { amount: '10.000000000000000001' }),
      past('10', '2026-11-25T11:30:00.000Z', { amount: '0.5' }),
      // 15.5 are used, by three.
      past('11', '2026-11-25T11:40:00.000Z', { amount: '1', became: 'template_cap' }),
    ]);
    expect(listed.map(shortOf)).toEqual([
      ['1', '10', 'approves', 'policy_passed'],
      ['2', '10', 'approves', 'policy_passed'],
      ['3', '6', 'waits', 'window_amount_exceeded'],
      ['5', null, 'waits', 'outflow_unknown'],
      ['6', '5', 'approves', 'policy_passed'],
      ['7', '10', 'approves', 'policy_passed'],
      ['8', '0.000000000000000001', 'waits', 'window_amount_exceeded'],
      ['9', '10.000000000000000001', 'waits', 'amount_exceeded_per_request'],
      ['10', '0.5', 'approves', 'policy_passed'],
      ['11', '1', 'waits', 'window_count_exceeded'],
    ]);
    expect(by_agents).toBe(1);
    expect(totals).toEqual({
      approves: 5,
      waits: 5,
      by_reason: {
        policy_passed: 5,
        window_amount_exceeded: 2,
        outflow_unknown: 1,
        amount_exceeded_per_request: 1,
        window_count_exceeded: 1,
      },
      amount_approved: { USDC: '35.5' },
      // The second and the sixth; then the third and the eleventh.
      rejected: 2,
      approved_automatically: 2,
    });
  });

  test('lists each movement as it was, with the decision', () => {
    const { listed } = tryPolicy(POLICY, [past('1', '2026-11-24T10:00:00.000Z', sends('4'))]);
    expect(listed).toEqual([
      {
        movement_id: '1',
        created_at: '2026-11-24T10:00:00.000Z',
        template_key: 'a/b',
        template_version: 2,
        asset: 'USDC',
        amount: '10',
        outflow_amount: '10',
        state: 'COMPLETED',
        became: 'person',
        would: 'approves',
        reason: 'policy_passed',
      },
    ]);
  });

  test('counts as rejected what was cancelled before an approval, and not after one', () => {
    const at = '2026-11-24T10:00:00.000Z';
    const cancelled = { state: 'CANCELLED', amount: '1' } as const;
    const { totals } = tryPolicy(POLICY, [
      past('1', at, { ...cancelled, became: null }),
      past('2', at, cancelled),
      past('3', at, { ...rejected, amount: '11' }),
    ]);
    expect(totals).toMatchObject({ approves: 2, waits: 1, rejected: 1 });
  });

  test('limits no window where it has none, and adds up each asset by itself', () => {
    const open = {
      ...POLICY,
      allowed_assets: ['USDC', 'USDT'],
      max_amount_per_request: null,
      window_hours: null,
      max_amount_per_window: null,
      max_count_per_window: null,
    };
    const at = '2026-11-24T10:00:00.000Z';
    const { totals } = tryPolicy(open, [
      past('1', at, { amount: '99999999999999999999', ...sends('7', 'USDT') }),
      past('2', at, { amount: '0.000000000000000001' }),
      past('3', at, { asset: 'USDT', amount: '2' }),
      past('4', at, { only_observes: true }),
    ]);
    expect(totals).toMatchObject({
      by_reason: { policy_passed: 3, no_sending_node: 1 },
      amount_approved: { USDC: '99999999999999999999.000000000000000001', USDT: '9' },
    });
  });

  test.each<[string, Partial<PolicyTerms>]>([
    ['policy_inactive', { is_active: false }],
    ['asset_not_allowed', { allowed_assets: [] }],
    ['template_not_allowed', { allowed_templates: [] }],
  ])('makes all wait with %s', (reason, more) => {
    const movements = [past('1', '2026-11-24T10:00:00.000Z', rejected)];
    const { totals } = tryPolicy({ ...POLICY, ...more }, movements);
    expect(totals).toEqual({
      approves: 0,
      waits: 1,
      by_reason: { [reason]: 1 },
      amount_approved: {},
      rejected: 0,
      approved_automatically: 0,
    });
  });

  test('reports nothing of nothing', () => {
    expect(tryPolicy(POLICY, [])).toMatchObject({ by_agents: 0, listed: [] });
  });
});
