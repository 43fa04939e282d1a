/**
 * A key is sent at most once, whatever is lost, late or dead: nodes and capital transfers are
 * driven through the same histories, against a model of the contract.
 */
import fc from 'fast-check';
import type { Answer } from './callers.ts';
import { History, type Step } from './history.ts';
import type { Contract } from './model.ts';

const which = fc.nat(5);
const part = fc.constantFrom(0, 0.5, 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('pass' as const),
      ms: fc.constantFrom(1, 400, 1_000, 3_000, 15_000, 70_000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('sleep' as const),
      ms: fc.constantFrom(400, 3_000, 15_000, 70_000),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('read' as const), which }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('fence' as const),
      which,
      slow_ms: fc.constantFrom(0, 40, 2_000),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('send' as const),
      which,
      lands: fc.boolean(),
      lasts: part,
      shows: part,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('answer' as const),
      which,
      answer: fc.constantFrom<Answer[]>('accepted', 'completed', 'failed', 'lost', 'lost'),
    }),
  },
  { weight: 5, arbitrary: fc.constant({ do: 'look' as const }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('ask' as const),
      which,
      sees: fc.constantFrom(
        'accepted' as const,
        'accepted' as const,
        'completed' as const,
        'silence' as const,
      ),
      blind: fc.boolean(),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('write' as const), which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('crash' as const), which }) },
  { weight: 1, arbitrary: fc.constant({ do: 'retry' as const }) },
);
/** What one process does without a break, so that histories come far. */
const aTry = fc
  .tuple(step, fc.boolean(), part, fc.constantFrom<Answer[]>('accepted', 'lost'))
  .map(([meanwhile, lands, shows, answer]): readonly Step[] => [
    { do: 'read', which: 0 },
    { do: 'fence', which: 0, slow_ms: 0 },
    { do: 'send', which: 0, lands, lasts: 0, shows },
    meanwhile,
    { do: 'answer', which: 0, answer },
  ]);
const aLook = fc
  .tuple(step, fc.constantFrom('accepted' as const, 'completed' as const), fc.boolean())
  .map(([meanwhile, sees, blind]): readonly Step[] => [
    { do: 'look' },
    meanwhile,
    { do: 'ask', which: 0, sees, blind },
    { do: 'write', which: 0 },
  ]);
const steps = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: step.map((one) => [one]) },
      { weight: 2, arbitrary: aTry },
      { weight: 3, arbitrary: aLook },
    ),
    {
      minLength: 5,
      maxLength: 40,
    },
  )
  .map((parts) => parts.flat());

const contractOf = (caller: Contract['caller']): fc.Arbitrary<Contract> =>
  fc.record({
    caller: fc.constant(caller),
    same_key_safe: fc.boolean(),
    settle_seconds: fc.constantFrom(0, 1, 5),
    timeout_seconds: fc.constantFrom(1, 5),
    queued: caller === 'node' ? fc.boolean() : fc.constant(false),
    most_sends: fc.constantFrom(1, 2, 4),
    pending_seconds: fc.constantFrom(0, 10, 60, 600),
    observe_seconds: fc.constantFrom(undefined, 3, 20),
  });

describe.each(['node', 'transfer'] as const)('the send of a %s', (kind) => {
  test('is made once at a time, believed lost only when it is, and always comes to an end', () => {
    fc.assert(
      fc.property(contractOf(kind), steps, (contract, taken) => {
        const history = new History(contract);
        for (const each of taken) {
          history.take(each);
          history.judge();
        }
        const { world, caller } = history;
        const end = history.ends();
        const isLost = !world.hasLanded();
        if (!isLost) expect(end).toBe('completed');
        else expect(['failed', 'person']).toContain(end);
        // A case for a person is one that no machine may decide, and that a person can decide.
        if (end === 'person') expect(!contract.same_key_safe || kind === 'transfer').toBe(true);
        if (end === 'person') expect(caller.mayBeSaidToHaveFailed()).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});

/** The histories by hand, so that none of them is left to chance. */
const SURE: Contract = {
  caller: 'node',
  same_key_safe: true,
  settle_seconds: 5,
  timeout_seconds: 5,
  queued: false,
  most_sends: 4,
  pending_seconds: 600,
  observe_seconds: undefined,
};
const SENT_AND_LOST: readonly Step[] = [
  { do: 'read', which: 0 },
  { do: 'fence', which: 0, slow_ms: 0 },
  { do: 'send', which: 0, lands: false, lasts: 0, shows: 0 },
  { do: 'answer', which: 0, answer: 'lost' },
];
const LOOKED: readonly Step[] = [
  { do: 'look' },
  { do: 'ask', which: 0, sees: 'accepted', blind: false },
  { do: 'write', which: 0 },
];
const LATER: Step = { do: 'pass', ms: 11_000 };
/**
 * What a transfer says of its call lets its window end at once; the settle time has still to pass.
 */
const TOO_SOON: Step = { do: 'pass', ms: 4_999 };

describe.each(['node', 'transfer'] as const)('by hand, a %s', (caller) => {
  const after = (steps: readonly Step[], more: Partial<Contract> = {}): History => {
    const history = new History({ ...SURE, caller, ...more });
    for (const each of steps) history.take(each);
    return history;
  };
  const sends = ({ world }: History): number => world.fences.filter(({ sent }) => sent).length;
  const again: readonly Step[] = [
    { do: 'read', which: 0 },
    { do: 'fence', which: 0, slow_ms: 0 },
    { do: 'send', which: 0, lands: true, lasts: 0, shows: 0 },
  ];

  test('whose answer was lost is sent again once nothing more can land, and not before', () => {
    expect(sends(after([...SENT_AND_LOST, TOO_SOON, ...LOOKED, ...again]))).toBe(1);
    expect(sends(after([...SENT_AND_LOST, LATER, ...LOOKED, ...again]))).toBe(2);
  });

  test('whose key is not safe to repeat is left to a person, who can say what became of it', () => {
    const history = after([...SENT_AND_LOST, LATER, ...LOOKED, ...again], {
      same_key_safe: false,
      pending_seconds: 10,
    });
    expect([
      sends(history),
      history.caller.stand(),
      history.caller.mayBeSaidToHaveFailed(),
    ]).toEqual([1, 'person', true]);
  });

  test('that was accepted once and is not found is not sent again', () => {
    const [read, fence] = SENT_AND_LOST;
    const accepted: readonly Step[] = [
      read!,
      fence!,
      { do: 'send', which: 0, lands: true, lasts: 0, shows: 0 },
      { do: 'answer', which: 0, answer: 'accepted' },
      { do: 'pass', ms: 30_000 },
      { do: 'look' },
      { do: 'ask', which: 0, sees: 'accepted', blind: true },
      { do: 'write', which: 0 },
    ];
    const history = after([...accepted, ...again], { observe_seconds: 20 });
    // A node is a person's matter as soon as its time is over, a transfer when it was waited for
    // long enough.
    expect([sends(history), history.caller.stand()]).toEqual([
      1,
      caller === 'node' ? 'person' : 'accepted',
    ]);
    expect(
      after([...accepted, ...again], { observe_seconds: 20, pending_seconds: 20 }).caller.stand(),
    ).toBe('person');
  });

  test('whose sender wakes up too late, or was taken over from, sends and writes nothing', () => {
    const [read, fence, send] = SENT_AND_LOST;
    expect(sends(after([read!, fence!, { do: 'pass', ms: 5_000 }, send!]))).toBe(0);
    const taken = after([
      read!,
      fence!,
      send!,
      { do: 'look' },
      { do: 'answer', which: 0, answer: 'failed' },
    ]);
    expect(taken.caller.stand()).toBe(caller === 'node' ? 'sending' : 'asking');
  });

  test('whose machine sleeps behind the fence sends nothing that was believed lost meanwhile', () => {
    const [read, fence, send] = SENT_AND_LOST;
    const asleep: Step = { do: 'sleep', ms: 11_000 };
    expect(sends(after([read!, fence!, asleep, send!]))).toBe(0);
    const slept = after([read!, fence!, asleep, ...LOOKED, read!, fence!, send!, send!]);
    expect(slept.world.fences.map(({ sent }) => sent)).toEqual([false, true]);
    // What it has slept before does not count.
    expect(sends(after([asleep, read!, fence!, { do: 'sleep', ms: 4_000 }, send!]))).toBe(1);
  });

  test('of which two processes have read the row passes its fence once', () => {
    const [read, fence] = SENT_AND_LOST;
    expect(after([read!, read!, fence!, fence!]).world.fences).toHaveLength(1);
  });

  test('that is lost again and again fails after as many sends as it may take', () => {
    const history = after([1, 2, 3, 4, 5, 6].flatMap(() => [...SENT_AND_LOST, LATER, ...LOOKED]));
    expect([sends(history), history.caller.stand()]).toEqual([caller === 'node' ? 4 : 5, 'failed']);
  });

  test('whose time is over and which is proven not to have landed is sent no more', () => {
    const late = after([...SENT_AND_LOST, { do: 'pass', ms: 30_000 }, ...LOOKED, ...again], {
      observe_seconds: 20,
      pending_seconds: 20,
    });
    expect([sends(late), late.caller.stand()]).toEqual([
      1,
      caller === 'node' ? 'failed' : 'person',
    ]);
  });
});

test('by hand, a transfer whose time is over before its repeat is sent is not sent again', () => {
  const history = new History({ ...SURE, caller: 'transfer', pending_seconds: 20 });
  for (const each of [
    ...SENT_AND_LOST,
    LATER,
    ...LOOKED,
    { do: 'pass', ms: 10_000 } as const,
    { do: 'read', which: 0 } as const,
  ]) {
    history.take(each);
  }
  history.take({ do: 'fence', which: 0, slow_ms: 0 });
  expect(history.world.fences).toHaveLength(1);
});
