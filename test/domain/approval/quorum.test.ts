/** Counting people for groups, against trying every way to count them. */
import fc from 'fast-check';
import {
  countGroups,
  isMet,
  type Approver,
  type Threshold,
} from '../../../domain/approval/quorum.ts';

const GROUPS = ['a', 'b', 'c', 'd'];
const required = fc
  .uniqueArray(fc.constantFrom(...GROUPS), { minLength: 1, maxLength: 4 })
  .chain((groups) =>
    fc.tuple(
      ...groups.map((group) =>
        fc.record({ group: fc.constant(group), threshold: fc.integer({ min: 1, max: 3 }) }),
      ),
    ),
  );
const approvers = fc
  .array(fc.subarray(GROUPS), { maxLength: 6 })
  .map((all) => all.map((groups, nr): Approver => ({ person: `p${String(nr)}`, groups })));

/** The most approvals that count, by trying every group for every person. */
function mostCounted(wanted: readonly Threshold[], people: readonly Approver[]): number {
  const [first, ...others] = people;
  if (first === undefined) return 0;
  const without = mostCounted(wanted, others);
  return Math.max(
    without,
    ...wanted
      .filter(({ group, threshold }) => threshold > 0 && first.groups.includes(group))
      .map(
        (taken) =>
          1 +
          mostCounted(
            wanted.map((each) =>
              each === taken ? { ...each, threshold: each.threshold - 1 } : each,
            ),
            others,
          ),
      ),
  );
}

test('as many people count as can, each for one group of theirs', () => {
  fc.assert(
    fc.property(required, approvers, (wanted, people) => {
      const counted = countGroups(wanted, people);
      const all = wanted.reduce((sum, { threshold }) => sum + threshold, 0);
      const most = mostCounted(wanted, people);
      expect(counted.reduce((sum, { received }) => sum + received, 0)).toBe(most);
      expect(counted.every(({ missing }) => missing >= 0)).toBe(true);
      expect(isMet(wanted, people)).toBe(most === all);
    }),
    { numRuns: 500 },
  );
});

test('somebody in two groups counts for the one that needs them', () => {
  const wanted = [
    { group: 'a', threshold: 1 },
    { group: 'b', threshold: 1 },
  ];
  const both = { person: 'x', groups: ['a', 'b'] };
  expect(isMet(wanted, [both])).toBe(false);
  expect(isMet(wanted, [both, { person: 'y', groups: ['a'] }])).toBe(true);
});
