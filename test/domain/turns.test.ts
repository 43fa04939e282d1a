/** With which turn a run is started: Temporal's own, or one by its strategy. */
import { turnOf } from '../../domain/turns.ts';

const NONE = new Map<string, number>();
const of = (numbers: Readonly<Record<string, number>>) => new Map(Object.entries(numbers));

test('without a number for any strategy, and without a strategy, there is none', () => {
  expect(turnOf('basis', NONE, NONE)).toBeNull();
  expect(turnOf(null, of({ '*': 2 }), of({ '*': 1 }))).toBeNull();
});

test('each strategy has a key of its own, named or not', () => {
  const shares = of({ basis: 0.25 });
  expect(turnOf('basis', shares, NONE)).toEqual({ fairnessKey: 'basis', fairnessWeight: 0.25 });
  expect(turnOf('carry', shares, NONE)).toEqual({ fairnessKey: 'carry' });
  expect(turnOf('carry', NONE, of({ basis: 1 }))).toEqual({ fairnessKey: 'carry' });
});

test('a star stands for the strategies that are not named, each with its own key', () => {
  const shares = of({ '*': 3, basis: 7 });
  const priorities = of({ '*': 4, carry: 1 });
  expect(turnOf('basis', shares, priorities)).toEqual({
    fairnessKey: 'basis',
    fairnessWeight: 7,
    priorityKey: 4,
  });
  expect(turnOf('carry', shares, priorities)).toEqual({
    fairnessKey: 'carry',
    fairnessWeight: 3,
    priorityKey: 1,
  });
});

test('a name of an object takes no number from it', () => {
  for (const name of ['constructor', '__proto__', 'toString'])
    expect(turnOf(name, of({ basis: 2 }), NONE)).toEqual({ fairnessKey: name });
});

// The hashes were computed with another program.
test.each<[string, string, string]>([
  ['of 64 bytes is the key', 's'.repeat(64), 's'.repeat(64)],
  ['of 65 bytes is hashed', 's'.repeat(65), '#88b9e8ebfbe3d7e2'],
  ['is measured in bytes', 'ü'.repeat(40), '#4bd4732601945065'],
  ['of 32 characters of two bytes is the key', 'ü'.repeat(32), 'ü'.repeat(32)],
])('a name %s', (_, strategy, fairnessKey) => {
  expect(turnOf(strategy, of({ '*': 1 }), NONE)).toEqual({ fairnessKey, fairnessWeight: 1 });
});

test('two long names that differ at their end have two keys', () => {
  const [one, other] = ['a', 'b'].map((end) =>
    turnOf(`${'s'.repeat(127)}${end}`, of({ '*': 1 }), NONE),
  );
  expect(one?.fairnessKey).not.toBe(other?.fairnessKey);
});
