/** Faults of people, groups and rules after a change. */
import fc from 'fast-check';
import { isMet } from '../../../domain/approval/quorum.ts';
import type { RuleConditions } from '../../../domain/approval/rule.ts';
import { faultsAfter, type StandingRule } from '../../../domain/approval/standing.ts';

const person = (name: string, ...identities: readonly string[]) => ({ person: name, identities });
const ANN = person('ann', 'dashboard:ann');
const BOB = person('bob', 'dashboard:bob');
const DESK = { name: 'desk', members: ['ann', 'bob'] };
const RISK = { name: 'risk', members: ['bob'] };

const rule = (
  name: string,
  required: Readonly<Record<string, number>>,
  when: RuleConditions = {},
): StandingRule => ({
  name,
  applies_to: 'movement',
  when,
  require: Object.entries(required).map(([group, threshold]) => ({ group, threshold })),
});

test('without rules nothing is wrong', () => {
  expect(faultsAfter([], [], [])).toEqual([]);
  expect(faultsAfter([ANN], [{ name: 'desk', members: [] }], [])).toEqual([]);
});

test('a rule that all members together meet is no fault', () => {
  expect(faultsAfter([ANN, BOB], [DESK, RISK], [rule('all', { desk: 1, risk: 1 })])).toEqual([]);
  expect(faultsAfter([ANN, BOB], [DESK, RISK], [rule('all', { desk: 2 })])).toEqual([]);
});

test('a rule that needs more people than its groups have cannot be met', () => {
  const rules = [rule('large', { desk: 3 }), rule('all', { desk: 2 })];
  expect(faultsAfter([ANN, BOB], [DESK], rules)).toEqual([
    expect.stringMatching(/^rule_unsatisfiable: The rule large cannot be met: .*1 more in desk/),
  ]);
});

test('a person counts for one group of a rule', () => {
  const both = [
    { name: 'desk', members: ['bob'] },
    { name: 'risk', members: ['bob'] },
  ];
  expect(faultsAfter([ANN, BOB], both, [rule('all', { desk: 1, risk: 1 })])).toEqual([
    expect.stringMatching(/^rule_unsatisfiable: /),
  ]);
  // But for each rule anew.
  expect(
    faultsAfter([ANN, BOB], both, [rule('one', { desk: 1 }), rule('other', { risk: 1 })]),
  ).toEqual([]);
});

test.each([
  ['who has no identity', [ANN, person('bob')], [DESK]],
  ['who is no person', [ANN], [DESK]],
  ['who is in no group', [ANN, BOB], [{ name: 'desk', members: ['ann'] }]],
])('a member %s does not count', (_who, people, groups) => {
  expect(faultsAfter(people, groups, [rule('all', { desk: 2 })])).toEqual([
    expect.stringContaining('1 more in desk'),
  ]);
});

test('a rule of a group that does not exist cannot be met', () => {
  expect(faultsAfter([ANN, BOB], [DESK], [rule('all', { desk: 1, board: 2 })])).toEqual([
    expect.stringContaining('2 more in board'),
  ]);
});

test.each<[string, RuleConditions]>([
  ['template_keys', { template_keys: ['sweep'] }],
  ['strategy_ids', { strategy_ids: ['s-1'] }],
  ['origins', { origins: ['agent'], assets: ['USDC'] }],
])('rules that all name parts such as %s can be avoided', (_name, when) => {
  const avoidable = rule('some', { desk: 1 }, when);
  expect(faultsAfter([ANN], [DESK], [avoidable])).toEqual([
    expect.stringMatching(/^rule_avoidable: /),
  ]);
  const other = rule('large', { desk: 1 }, { outflow_above: [{ asset: '*', amount: '100' }] });
  expect(faultsAfter([ANN], [DESK], [avoidable, other])).toEqual([]);
});

test('all faults are returned', () => {
  const rules = [
    rule('a', { desk: 2 }, { origins: ['api'] }),
    rule('b', { risk: 1 }, { template_keys: ['sweep'] }),
  ];
  expect(faultsAfter([ANN], [DESK, RISK], rules).map((fault) => fault.split(':')[0])).toEqual([
    'rule_unsatisfiable',
    'rule_unsatisfiable',
    'rule_avoidable',
  ]);
});

test('exactly the rules that cannot be met are named', () => {
  const names = ['ann', 'bob', 'cid', 'dee'];
  const groupNames = ['desk', 'risk', 'board'];
  fc.assert(
    fc.property(
      fc.subarray(names),
      fc.tuple(...groupNames.map(() => fc.subarray(names))),
      fc.array(fc.dictionary(fc.constantFrom(...groupNames), fc.integer({ min: 1, max: 3 }))),
      (able, members, required) => {
        const people = names.map((name) =>
          able.includes(name) ? person(name, `dashboard:${name}`) : person(name),
        );
        const groups = groupNames.map((name, nr) => ({ name, members: members[nr] ?? [] }));
        const rules = required.map((each, nr) => rule(`r${String(nr)}`, each));
        const approvers = able.map((name) => ({
          person: name,
          groups: groupNames.filter((_group, nr) => members[nr]?.includes(name) === true),
        }));
        const unmet = rules.filter(({ require }) => !isMet(require, approvers));
        const faults = faultsAfter(people, groups, rules);
        expect(faults).toHaveLength(unmet.length);
        for (const [nr, { name }] of unmet.entries())
          expect(faults[nr]).toContain(`The rule ${name} `);
      },
    ),
    { numRuns: 300 },
  );
});
