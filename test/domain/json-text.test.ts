/** What `JSON.parse` changes in a text is found, and nothing else. */
import fc from 'fast-check';
import { describeLosses, lossesIn } from '../../domain/json-text.ts';
import { compare } from '../../domain/money.ts';

const found = (json: string): readonly string[] => {
  JSON.parse(json);
  return lossesIn(json).map(({ kind, path }) => `${kind} ${path.join('/')}`);
};

test('numbers that a double holds are kept, however they are written', () => {
  const kept = ['0', '-0', '0.1', '1.50', '1e3', '1E+3', '-2.5e-7', '9007199254740992', '1e23'];
  kept.push('0.30000000000000004', '123456789012345680000', '5e-324', '1.7976931348623157e308');
  kept.push('0e999999999999', '1.000000000000000000000000', '0.000000000000000000000000001');
  expect(found(`[${kept.join(', ')}]`)).toEqual([]);
});

test('a number that is rounded is found with its place', () => {
  const text =
    '{"a": [1, {"b": 9007199254740993}], "c": 1e-400, "d": "9007199254740993", "e": 0.1000000000000000055}';
  expect(found(text)).toEqual(['rounded a/1/b', 'rounded c', 'rounded e']);
  expect(found('-12345678901234567890')).toEqual(['rounded ']);
  expect(found('[1e400]')).toEqual(['rounded 0']);
});

test('a number is kept where its double has its value', () => {
  const digits = fc.stringMatching(/^(0|[1-9]\d{0,25})(\.\d{1,25})?(e[+-]?\d{1,2})?$/);
  fc.assert(
    fc.property(digits, (text) => {
      const same = compare(text, String(Number(text))) === 0;
      expect(found(`{"a":${text}}`)).toEqual(same ? [] : ['rounded a']);
    }),
    { numRuns: 2_000 },
  );
});

test('a name that an object has twice is found with its place', () => {
  expect(found('{"a": 1, "b": {"a": 2, "c": [{"a": 1}, {"a": 1}]}}')).toEqual([]);
  expect(found('{"a": 1, "a": 1}')).toEqual(['repeated a']);
  expect(found('{"a": 1, "\\u0061": 2}')).toEqual(['repeated a']);
  expect(found('{"x": [{}, {"y": {"a": [], "a": {}}}], "x": 1}')).toEqual([
    'repeated x/1/y/a',
    'repeated x',
  ]);
  expect(found('{"__proto__": 1, "__proto__": 2}')).toEqual(['repeated __proto__']);
  expect(found('["a", "a", {"a": "a"}, ":", "\\"", "\\\\", "a"]')).toEqual([]);
});

test('whatever JavaScript writes comes back whole', () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(undefined, 2), (text, indent) => {
      const value: unknown = JSON.parse(text);
      expect(found(JSON.stringify(value, null, indent))).toEqual([]);
    }),
  );
});

test('a sentence begins with the place, or with the name of the whole', () => {
  expect(describeLosses('{"a":[{"b":1,"b":2}]}', 'the file')).toEqual([
    'a[0].b: appears more than once',
  ]);
  expect(describeLosses('9007199254740993', 'the file')).toEqual([
    'the file: is a number that cannot be held exactly; write it as a string',
  ]);
});

test('hostile text ends early, and needs no time of its own', () => {
  const SIZE = 1_048_576;
  const hostile = [
    '1'.repeat(SIZE),
    `0.${'0'.repeat(SIZE)}1`,
    `1.${'0'.repeat(SIZE)}1`,
    `"${'\\\\'.repeat(SIZE / 2)}"`,
    `"${'\\"'.repeat(SIZE / 2)}"`,
    `${'['.repeat(SIZE / 4)}9007199254740993${']'.repeat(SIZE / 4)}`,
    `{${Array(SIZE / 8)
      .fill('"a":1')
      .join()}}`,
  ];
  for (const text of hostile) {
    const losses = lossesIn(text);
    expect(losses.length).toBeLessThanOrEqual(100);
    for (const { path } of losses) expect(path.length).toBeLessThanOrEqual(64);
  }
});
