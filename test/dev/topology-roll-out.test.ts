/** What the roll-out reads from the books, and the builds that it makes. */
import { readTopologyOptions } from '../../dev/topology/options.ts';
import { paidOtherwise } from '../../dev/topology/roll-out-load.ts';
import { workflowBundle } from '../../activities/bundle.ts';
import { compatibleBundle, incompatibleBundle } from '../support/changed-bundle.ts';

const once = { ledger_effects: 1, withdrawals: 1, sweeps: 1, submit_calls: 1 };

test('only one payment of each node, by one send, is as it should be', () => {
  expect(paidOtherwise({ movement_id: 'm' }, once)).toEqual([]);
  for (const [what, value] of [
    ['ledger_effects', 2],
    ['withdrawals', 0],
    ['sweeps', 2],
    ['submit_calls', 2],
  ] as const)
    expect(paidOtherwise({ movement_id: 'm' }, { ...once, [what]: value })).toEqual([
      `m has ${String(value)} ${what}, not 1`,
    ]);
});

test('the builds are of this code, and each differs from it', () => {
  const { code } = workflowBundle();
  const builds = [code, compatibleBundle(code), incompatibleBundle(code)];
  expect(new Set(builds).size).toBe(3);
  for (const change of [compatibleBundle, incompatibleBundle])
    expect(() => change('other code')).toThrow('was not found');
});

test('a run of the topology has one task', () => {
  expect(readTopologyOptions([]).task).toBe('stay');
  expect(readTopologyOptions(['--roll-out']).task).toBe('roll-out');
  expect(readTopologyOptions(['--check']).task).toBe('check');
});
