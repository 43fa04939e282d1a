/** Where faults strike, which of them count, and how it is shown that those change the run. */
import { expect, test } from '@jest/globals';
import { findIdle, isSame, type Logged } from './effects.ts';
import { Coverage } from './coverage.ts';
import { Faults, Fences, type Struck } from './faults.ts';
import { Machine } from './machine/machine.ts';

const [A, B] = ['00000000-0000-7000-8000-00000000000a', '00000000-0000-7000-8000-00000000000b'];

test('a movement is between its fence and the outcome while a node of it is', () => {
  const fences = new Fences();
  const move = (node_key: string, state: string): boolean => {
    fences.moved({ movement_id: A, node_key, state });
    return fences.isBetween(A);
  };
  expect(move('one', 'READY')).toBe(false);
  expect(fences.hasPassed(A)).toBe(false);
  expect(move('one', 'SUBMITTING')).toBe(true);
  expect(move('two', 'SUBMITTING')).toBe(true);
  expect(move('one', 'COMPLETED')).toBe(true);
  expect(move('two', 'OBSERVING')).toBe(true);
  expect(move('two', 'UNKNOWN')).toBe(true);
  expect(move('two', 'FAILED')).toBe(false);
  // A look at an end opens nothing.
  expect(move('two', 'OBSERVING')).toBe(false);
  expect(fences.hasPassed(A)).toBe(true);
  expect(fences.isBetween(B)).toBe(false);
});

test('a fault strikes the movement of its step, and counts when it is said to change the run', async () => {
  const machine = new Machine(1);
  const faults = new Faults(machine);
  faults.isCalm = false;
  faults.fences.moved({ movement_id: A, node_key: 'one', state: 'SUBMITTING' });
  for (const movement of [A, B])
    void machine.step(`pays ${movement}`, async () => {
      const strike = faults.strike('network', { late: 1 });
      if (movement === B) strike?.counts();
    });
  await machine.run(() => machine.steps === 2);
  const [ofA, ofB] = [...faults.struck].sort((a, b) => Number(b.isBetween) - Number(a.isBetween));
  expect(ofA).toMatchObject({ isBetween: true, counts: false });
  expect(ofB).toMatchObject({ isBetween: false, counts: true });
  expect(faults.counts()).toEqual({ 'network late': 1 });
});

test('a fault that changes the course of a movement behind its fence strikes there', () => {
  const faults = new Faults(new Machine(1));
  faults.isCalm = false;
  faults.fences.moved({ movement_id: A, node_key: 'one', state: 'SUBMITTING' });
  faults.strike('chain', { reorganised: 1 })?.counts([B, A]);
  expect(faults.struck[0]).toMatchObject({ isBetween: true, counts: true });
});

test('weights say how likely a fault is where', () => {
  const struckOf = (movement: string): number => {
    const faults = new Faults(new Machine(1));
    faults.isCalm = false;
    faults.fences.moved({ movement_id: A, node_key: 'one', state: 'SUBMITTING' });
    for (let each = 0; each < 1_000; each += 1)
      faults.strike('statement', { held: 0.1 }, { between: 3, elsewhere: 0 }, [movement]);
    return faults.struck.length;
  };
  expect(struckOf(A)).toBeGreaterThan(250);
  expect(struckOf(B)).toBe(0);
});

const struck = (number: number, of: Partial<Struck> = {}): Struck => ({
  ...{ number, kind: 'network', fault: 'late', at: 1, isBetween: true, counts: true },
  ...of,
});

test('of counted faults, those are found without which the log is the same', async () => {
  const faults = [struck(1), struck(2), struck(3, { counts: false })];
  const linesOf = (numbers: readonly number[]): string[] => [
    'a step',
    ...numbers.map((number) => `5   fault ${String(number)}: network late`),
    ...(numbers.includes(1) ? ['a time-out'] : []),
  ];
  const runOf = (numbers: readonly number[]): Logged => ({
    report: {
      ...{ seed: 1, digest: '', steps: 1, counts: {}, states: {}, seen: {}, verdicts: [] },
      ...{ faults: faults.filter(({ number }) => numbers.includes(number)) },
      ...{ endedBeforeFence: 0, story: {} },
    },
    lines: linesOf(numbers),
  });
  const found = await findIdle(runOf([1, 2, 3]), 5, (only) => Promise.resolve(runOf(only)));
  expect(found.tried).toBe(2);
  expect(found.idle.map(({ number }) => number)).toEqual([2]);
});

test('only the line of the fault itself may be missing', () => {
  const lines = ['a', '5   fault 12: network late', 'b'];
  expect(isSame(lines, ['a', 'b'], 12)).toBe(true);
  expect(isSame(lines, ['a', 'c'], 12)).toBe(false);
  expect(isSame(lines, ['a', 'b'], 1)).toBe(false);
});

test('a run says how many faults counted, and where they struck', () => {
  const coverage = new Coverage();
  coverage.add({
    ...{ counts: {}, seen: {}, endedBeforeFence: 1 },
    faults: [struck(1), struck(2, { isBetween: false }), struck(3, { counts: false })],
  });
  expect(coverage.report(4)).toContain(
    '0.5 counted faults a movement, 50% between a fence and its outcome; 25% of the movements ended before a fence.',
  );
});
