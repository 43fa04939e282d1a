import fc from 'fast-check';
import { conditionProblem } from '../../../domain/conditions/check.ts';
import { cacheSize, compile } from '../../../domain/conditions/compile.ts';
import { settleConditions } from '../../../domain/conditions/settle.ts';
import type { JsonObject, JsonValue } from '../../../domain/json.ts';
import { compare, fromBaseUnits } from '../../../domain/money.ts';
import { NODES, outcome, planWith, problem } from './build.ts';
import { DEAREST, measure } from './worst-case.ts';

const list = (count: number): JsonValue[] => Array.from({ length: count }, (_, index) => index);
const nested = (depth: number): JsonValue => (depth === 0 ? 1 : [nested(depth - 1)]);

describe('an evaluation reads', () => {
  it('at most 1,000 values, a string counting one more per 64 characters', () => {
    expect(outcome('size(input_params.l) == 999', { l: list(999) })).toEqual(['true', undefined]);
    expect(outcome('size(input_params.l) == 1000', { l: list(1_000) })).toEqual([
      'error',
      'more than 1000 values are read',
    ]);
    expect(outcome('input_params.s == "x"', { s: 'a'.repeat(64 * 1_000 - 1) })).toEqual([
      'false',
      undefined,
    ]);
    expect(outcome('input_params.s == "x"', { s: 'a'.repeat(64 * 1_000) })).toEqual([
      'error',
      'more than 1000 values are read',
    ]);
  });

  it('at most 48 where a quantifier goes through them', () => {
    expect(outcome('input_params.l.all(x, x >= 0)', { l: list(47) })).toEqual(['true', undefined]);
    expect(outcome('input_params.l.all(x, x >= 0)', { l: list(48) })).toEqual([
      'error',
      'more than 48 values are read',
    ]);
    expect(problem(`input_params.l.all(x, ${'x && '.repeat(7)}x)`)).toBeNull();
    expect(problem(`input_params.l.all(x, ${'x && '.repeat(8)}x)`)).toBe(
      'more than 16 parts inside quantifiers',
    );
    expect(problem('input_params.l.all(x, x) && '.repeat(17) + 'true')).toBe(
      'more than 16 parts inside quantifiers',
    );
  });

  it('values nested at most four deep', () => {
    expect(outcome('input_params.v == 1', { v: nested(4) })).toEqual(['false', undefined]);
    expect(outcome('input_params.v == 1', { v: nested(5) })).toEqual([
      'error',
      'values are nested more than 4 deep',
    ]);
  });

  it('nothing of what it does not name, however large that is', () => {
    const large: JsonObject = {
      l: list(100_000),
      deep: nested(30),
      s: 'a'.repeat(1_000_000),
      n: 1,
      o: { x: 2, l: list(100_000) },
    };
    expect(
      outcome('input_params.n == 1 && input_params.o.x == 2 && !has(input_params.z)', large),
    ).toEqual(['true', undefined]);
  });
});

describe('the dearest conditions that the limits allow', () => {
  it.each(Object.entries(DEAREST))('take milliseconds: %s', (_name, [expression, params]) => {
    const { result, mean } = measure(expression, params, 5);
    expect(result).toMatch(/^(true|false|error (No such key|division by zero))/);
    // Measured at 7 at most on a busy machine (decision 0008); without the limits, at more than
    // 100.
    expect(mean).toBeLessThan(60);
  });
});

describe('compiled expressions', () => {
  it('are kept, up to a bound', () => {
    expect(compile('intent.asset == "kept"')).toBe(compile('intent.asset == "kept"'));
    for (let index = 0; index < 200; index += 1)
      compile(`intent.asset == "${'x'.repeat(900)}${index}"`);
    expect(cacheSize().characters).toBeLessThanOrEqual(64 * 1_024);
    expect(cacheSize().expressions).toBeGreaterThan(50);
    const used = compile('intent.asset == "used"');
    for (let index = 0; index < 200; index += 1) {
      compile(`intent.asset == "${'y'.repeat(900)}${index}"`);
      expect(compile('intent.asset == "used"')).toBe(used);
    }
    const before = cacheSize();
    compile('x'.repeat(2_000));
    expect(cacheSize()).toEqual(before);
  });
});

/** Pieces of expressions, put together without sense. */
const pieces = fc.constantFrom(
  'intent',
  '.amount',
  '.asset',
  'input_params',
  '.x',
  '["x"]',
  '[0]',
  "nodes['z']",
  '.output',
  '.state',
  'dec(',
  'has(',
  'size(',
  ')',
  '"9"',
  '"1e3"',
  '1',
  '2.5',
  'true',
  'null',
  '[',
  ']',
  ',',
  '(',
  '!',
  '-',
  '==',
  '!=',
  '<',
  '>=',
  '&&',
  '||',
  '+',
  '-',
  '*',
  '/',
  'in',
  '?',
  ':',
  '.exists(v,',
  '.all(v,',
  'v',
  '.contains(',
  '.constructor',
  '.__proto__',
  '["__proto__"]',
  "nodes['c']",
  "b'x'",
  '{',
  '}',
);
const expressions = fc.oneof(
  fc.string({ maxLength: 60 }),
  fc.array(pieces, { maxLength: 14 }).map((parts) => parts.join(' ')),
  fc.array(pieces, { maxLength: 6 }).map((parts) => `input_params.x ${parts.join(' ')}`),
);
const values = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)));

describe('any expression over any data', () => {
  it('has a result and throws nothing, and what is refused has the result error', () => {
    let usable = 0;
    fc.assert(
      fc.property(expressions, values, (expression, x) => {
        const plan = planWith(expression, { x });
        const refused = conditionProblem(plan.edge, plan);
        const before = JSON.stringify([plan, NODES]);
        const source = {
          node_key: 'a-1',
          state: 'COMPLETED',
          resumed: false,
          timed_out: false,
        } as const;
        const { results, errors } = settleConditions(plan, source, NODES);
        usable += refused === null ? 1 : 0;
        expect(['true', 'false', 'error']).toContain(results['1']);
        expect(errors.length).toBe(results['1'] === 'error' ? 1 : 0);
        if (refused !== null) expect(results['1']).toBe('error');
        expect(JSON.stringify([plan, NODES])).toBe(before);
        expect(settleConditions(plan, source, NODES)).toEqual({ results, errors });
      }),
      { numRuns: 2_000 },
    );
    expect(usable).toBeGreaterThan(20);
  });

  it('never lets the amount out but through dec()', () => {
    fc.assert(
      fc.property(expressions, (expression) => {
        const refused = problem(expression);
        if (refused === null)
          expect(expression.replaceAll(/(dec|has) ?\( ?intent ?\.amount ?\)/g, '')).not.toMatch(
            /intent *\.amount/,
          );
      }),
      { numRuns: 2_000 },
    );
  });
});

it('decimals of any size are in the order of their values', () => {
  const amounts = fc
    .bigInt({ min: 0n, max: 10n ** 38n - 1n })
    .map((units) => fromBaseUnits(units, 18));
  fc.assert(
    fc.property(amounts, amounts, (a, b) => {
      const order = compare(a, b);
      const is = (operator: string): string | undefined =>
        outcome(`dec(input_params.a) ${operator} dec(input_params.b)`, { a, b })[0];
      expect(['<', '<=', '==', '!=', '>=', '>'].map(is)).toEqual(
        [order < 0, order <= 0, order === 0, order !== 0, order >= 0, order > 0].map(String),
      );
    }),
    { numRuns: 300 },
  );
});
