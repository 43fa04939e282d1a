/** Faults of people, groups and rules after a change. */
import fc from 'fast-check';
import { isMet } from '../../../domain/approval/quorum.ts';
import type { RuleConditions } from '../../../domain/approval/rule.ts';
import { faultsAfter, type StandingRule } from '../../../domain/approval/standing.ts';

const person = (name: string, ...identities: readonly string[]) => ({
  person: name,
  identities,
  has_passkey: false,
});
const ANN = person('ann', 'dashboard:ann');
const BOB = person('bob', 'dashboard:bob');
const DESK = { name: 'desk', members: ['ann', 'bob'] };
const RISK = { name: 'risk', members: ['bob'] };

const rule = (
  name: string,
  required: Readonly<Record<string, number>>,
  when: RuleConditions = {},
  applies_to: StandingRule['applies_to'] = 'movement',
): StandingRule => ({
  name,
  applies_to,
  when,
  require: Object.entries(required).map(([group, threshold]) => ({ group, threshold })),
  initiator_may_approve: false,
});

const RULES = rule('rules', {}, {}, 'approval_rules');
const KEYS = rule('keys', {}, {}, 'keys');
/** These, after the rules that guard all others: without groups, so that any people meet them. */
const guarded = (...rules: readonly StandingRule[]): readonly StandingRule[] => [
  RULES,
  KEYS,
  ...rules,
];

test('without rules nothing is wrong', () => {
  expect(faultsAfter([], [], [])).toEqual([]);
  expect(faultsAfter([ANN], [{ name: 'desk', members: [] }], [])).toEqual([]);
});

test('a rule that all members together meet is no fault', () => {
  for (const all of [rule('all', { desk: 1, risk: 1 }), rule('all', { desk: 2 })])
    expect(faultsAfter([ANN, BOB], [DESK, RISK], guarded(all))).toEqual([]);
});

test('a rule for passkeys needs people who have one', () => {
  const of = guarded({ ...rule('signed', { desk: 2 }), evidence: 'passkey' });
  const signing = [ANN, BOB].map((each) => ({ ...each, has_passkey: true }));
  expect(faultsAfter(signing, [DESK, RISK], of)).toEqual([]);
  expect(faultsAfter([...signing.slice(0, 1), BOB], [DESK, RISK], of)).toEqual([
    expect.stringMatching(/^rule_unsatisfiable: .*1 more in desk.* a passkey /),
  ]);
});

test('a rule that needs more people than its groups have cannot be met', () => {
  const rules = guarded(rule('large', { desk: 3 }), rule('all', { desk: 2 }));
  expect(faultsAfter([ANN, BOB], [DESK], rules)).toEqual([
    expect.stringMatching(/^rule_unsatisfiable: The rule large cannot be met: .*1 more in desk/),
  ]);
});

test.each<StandingRule['applies_to']>(['allowlist', 'approval_rules', 'capital_transfer'])(
  'a rule for %s must be met without whoever makes the request, unless the rule lets them approve',
  (kind) => {
    const two = rule('two', { desk: 2 }, {}, kind);
    const three = { name: 'desk', members: ['ann', 'bob', 'cid'] };
    const people = [ANN, BOB, person('cid', 'dashboard:cid')];
    expect(faultsAfter(people, [DESK], guarded(two))).toEqual([
      expect.stringMatching(/^rule_unsatisfiable: The rule two cannot be met: .*1 more in desk/),
    ]);
    expect(faultsAfter(people, [three], guarded(two))).toEqual([]);
    const mild = { ...two, initiator_may_approve: true };
    expect(faultsAfter(people, [DESK], guarded(mild))).toEqual([]);
    // Bob alone is in both groups: without him one of them lacks a person.
    const both = guarded(rule('both', { desk: 1, risk: 1 }, {}, kind));
    expect(faultsAfter(people, [three, RISK], both)).toEqual([
      expect.stringContaining('1 more in risk'),
    ]);
    const signing = people.map((each) => ({ ...each, has_passkey: each !== ANN }));
    expect(faultsAfter(signing, [three], guarded({ ...two, evidence: 'passkey' }))).toEqual([
      expect.stringMatching(/1 more in desk.* a passkey /),
    ]);
  },
);

test('a rule that could not be met before stops only what takes more from it', () => {
  const all = rule('all', { desk: 2 });
  const rules = guarded(all);
  const before = { people: [ANN, person('bob')], groups: [DESK], rules };
  const after = (change: Partial<typeof before>) => {
    const { people, groups, rules: made } = { ...before, ...change };
    return faultsAfter(people, groups, made, before);
  };
  expect(faultsAfter(before.people, before.groups, rules)).toHaveLength(1);
  expect(after({ groups: [DESK, RISK] })).toEqual([]);
  expect(after({ people: [ANN, BOB] })).toEqual([]);
  expect(after({ people: [] })).toEqual([expect.stringContaining('2 more in desk')]);
  // Set anew, it must be met.
  expect(after({ rules: guarded({ ...all }) })).toHaveLength(1);
  expect(after({ rules: guarded(all, rule('other', { risk: 1 })) })).toEqual([
    expect.stringContaining('The rule other cannot be met'),
  ]);
});

test('rules that were avoidable or unguarded before stop no other change', () => {
  const avoidable = [rule('some', { desk: 1 }, { origins: ['api'] })];
  const before = { people: [ANN], groups: [DESK], rules: avoidable };
  expect(faultsAfter([ANN], [DESK], avoidable)).toHaveLength(2);
  expect(faultsAfter([ANN, BOB], [DESK], avoidable, before)).toEqual([]);
});

test('a person counts for one group of a rule', () => {
  const both = [
    { name: 'desk', members: ['bob'] },
    { name: 'risk', members: ['bob'] },
  ];
  const all = guarded(rule('all', { desk: 1, risk: 1 }));
  expect(faultsAfter([ANN, BOB], both, all)).toEqual([
    expect.stringMatching(/^rule_unsatisfiable: /),
  ]);
  // But for each rule anew.
  const anew = guarded(rule('one', { desk: 1 }), rule('other', { risk: 1 }));
  expect(faultsAfter([ANN, BOB], both, anew)).toEqual([]);
});

test.each([
  ['who has no identity', [ANN, person('bob')], [DESK]],
  ['who is no person', [ANN], [DESK]],
  ['who is in no group', [ANN, BOB], [{ name: 'desk', members: ['ann'] }]],
])('a member %s does not count', (_who, people, groups) => {
  expect(faultsAfter(people, groups, guarded(rule('all', { desk: 2 })))).toEqual([
    expect.stringContaining('1 more in desk'),
  ]);
});

test('a rule of a group that does not exist cannot be met', () => {
  expect(faultsAfter([ANN, BOB], [DESK], guarded(rule('all', { desk: 1, board: 2 })))).toEqual([
    expect.stringContaining('2 more in board'),
  ]);
});

test.each<[string, RuleConditions]>([
  ['template_keys', { template_keys: ['sweep'] }],
  ['strategy_ids', { strategy_ids: ['s-1'] }],
  ['origins', { origins: ['agent'], assets: ['USDC'] }],
])('rules that all name parts such as %s can be avoided', (_name, when) => {
  const avoidable = rule('some', { desk: 1 }, when);
  // Rules for other kinds, which hold always, hold for no movement.
  expect(faultsAfter([ANN], [DESK], guarded(avoidable))).toEqual([
    expect.stringMatching(/^rule_avoidable: /),
  ]);
  const other = rule('large', { desk: 1 }, { outflow_above: [{ asset: '*', amount: '100' }] });
  expect(faultsAfter([ANN], [DESK], guarded(avoidable, other))).toEqual([]);
});

test.each<StandingRule['applies_to']>(['movement', 'capital_transfer', 'allowlist'])(
  'a rule for %s comes after those for changes of rules and of keys, and goes before',
  (kind) => {
    const all = rule('all', { desk: 1 }, {}, kind);
    for (const rules of [[all], [all, KEYS], [all, RULES]])
      expect(faultsAfter([ANN, BOB], [DESK], rules)).toEqual([
        expect.stringMatching(/^rules_unguarded: /),
      ]);
    for (const rules of [guarded(all), guarded(), [KEYS], [RULES]])
      expect(faultsAfter([ANN, BOB], [DESK], rules)).toEqual([]);
  },
);

test('all faults are returned', () => {
  const rules = [
    rule('a', { desk: 2 }, { origins: ['api'] }),
    rule('b', { risk: 1 }, { template_keys: ['sweep'] }),
  ];
  expect(faultsAfter([ANN], [DESK, RISK], rules).map((fault) => fault.split(':')[0])).toEqual([
    'rule_unsatisfiable',
    'rule_unsatisfiable',
    'rule_avoidable',
    'rules_unguarded',
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
        const faults = faultsAfter(people, groups, guarded(...rules));
        expect(faults).toHaveLength(unmet.length);
        for (const [nr, { name }] of unmet.entries())
          expect(faults[nr]).toContain(`The rule ${name} `);
      },
    ),
    { numRuns: 300 },
  );
});
