/** What is to be signed for a send over the bridge, and what its path may cost. */
import { mustBeWithinBudget } from '../../activities/requirements/bridge-path.ts';

const terms = {
  fee_native_budget: '0.002',
  expected_latency_seconds: 5,
  detection_latency_budget_seconds: 60,
  late: false,
};

test.each(['0', '1', '2000000000000000'])('pays the bridge %s wei within it', (value) => {
  expect(() => mustBeWithinBudget(value, terms)).not.toThrow();
});

test.each([
  '2000000000000001',
  '20000000000000000',
  undefined,
  null,
  1,
  '',
  '-1',
  '0x1',
  '1e3',
  '9'.repeat(79),
])('does not pay %s', (value) => {
  expect(() => mustBeWithinBudget(value, terms)).toThrow(
    expect.objectContaining({ code: 'BRIDGE_FEE_OVER_BUDGET', kind: 'rejected' }),
  );
});
