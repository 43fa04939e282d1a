import fc from 'fast-check';
import type { JsonValue } from '../../../domain/json.ts';
import { compare, fromBaseUnits, isDecimal, normalize } from '../../../domain/money.ts';
import {
  exceedsMax,
  maxAmount,
  parseAmountSource,
  resolveAmount,
} from '../../../domain/plan/amount.ts';

const outputs = (key: string) => (key === 'a.b' ? { received: '7.50', count: 7 } : null);

describe('resolveAmount', () => {
  it.each([
    ['nothing', {}, '10'],
    ['a reference to the intent', { amount_ref: 'intent' }, '10'],
    ['an amount', { amount: '3.10' }, '3.1'],
    ['an amount and a reference', { amount: '3', amount_ref: 'intent' }, '3'],
    ['an output, also of a key with a dot', { amount_ref: 'nodes.a.b.output.received' }, '7.5'],
    ['an output that is no decimal string', { amount_ref: 'nodes.a.b.output.count' }, null],
    ['an output that is not there', { amount_ref: 'nodes.c.output.received' }, null],
    ['a number', { amount: 3 }, null],
    ['a reference of another form', { amount_ref: 'nodes.a.state' }, null],
  ])('takes %s', (_name, config, expected) => {
    expect(resolveAmount(config, '10.0', outputs)).toBe(expected);
  });

  it('says what is wrong with a config', () => {
    expect(parseAmountSource({ amount: '1e3' })).toEqual({ kind: 'invalid', text: '"1e3"' });
    expect(parseAmountSource({ amount_ref: 7 })).toEqual({ kind: 'invalid', text: '7' });
  });
});

describe('maxAmount', () => {
  it('is the tighter of plan and node', () => {
    expect(maxAmount({}, undefined)).toBeNull();
    expect(maxAmount({ max_amount: '100' }, undefined)).toBe('100');
    expect(maxAmount({ max_amount: '100' }, { max_amount: '9' })).toBe('9');
    expect(maxAmount({ max_amount: '9' }, { max_amount: '100' })).toBe('9');
    expect(maxAmount({}, { max_amount: '9' })).toBe('9');
  });

  it('allows what equals it', () => {
    expect([
      exceedsMax('9', '9.0'),
      exceedsMax('9.000000000000000001', '9'),
      exceedsMax('1', null),
    ]).toEqual([false, true, false]);
  });
});

/** Amounts of the wire contract, of every size. */
const amounts = fc
  .bigInt({ min: 0n, max: 10n ** 38n - 1n })
  .map((units) => fromBaseUnits(units, 18));
/** What is no amount, however much it may look like one. */
const unreadable: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.constantFrom<JsonValue>(
    null,
    true,
    0,
    100,
    -1,
    '',
    ' 1',
    '1 ',
    '-1',
    '+1',
    '1e3',
    '01',
    '.5',
    '1.',
    'NaN',
    'Infinity',
    [],
    {},
    ['1'],
  ),
  fc.string().filter((text) => !isDecimal(text)),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const controls = fc.oneof(
  fc.constant({}),
  amounts.map((max_amount) => ({ max_amount })),
  unreadable.map((max_amount) => ({ max_amount })),
);

describe('any limits', () => {
  it('let nothing pass that either of the two forbids', () => {
    fc.assert(
      fc.property(
        controls,
        fc.option(controls, { nil: undefined }),
        amounts,
        (plan, patch, amount) => {
          const forbids = (limits: { readonly max_amount?: JsonValue } | undefined): boolean => {
            if (limits === undefined || !('max_amount' in limits)) return false;
            const { max_amount: limit } = limits;
            return typeof limit === 'string' && isDecimal(limit)
              ? compare(amount, limit) > 0
              : compare(amount, '0') > 0;
          };
          expect(exceedsMax(amount, maxAmount(plan, patch))).toBe(forbids(plan) || forbids(patch));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('are never loosened by a patch', () => {
    fc.assert(
      fc.property(controls, controls, amounts, (plan, patch, amount) => {
        if (exceedsMax(amount, maxAmount(plan, undefined)))
          expect(exceedsMax(amount, maxAmount(plan, patch))).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each([
    [{ max_amount: 'none' }],
    [{ max_amount: 100 }],
    [{ max_amount: null }],
    [{ max_amount: '1e9' }],
  ])('that cannot be read allow nothing: %j', (limits) => {
    expect(maxAmount(limits, undefined)).toBe('0');
    expect(maxAmount({ max_amount: '5' }, limits)).toBe('0');
    expect(exceedsMax('0.000000000000000001', maxAmount({}, limits))).toBe(true);
  });
});

describe('any output that an amount refers to', () => {
  const key = fc.stringMatching(/^[a-z][a-z0-9._:/-]{0,12}$/);
  const field = fc.oneof(
    fc.stringMatching(/^[A-Za-z0-9_]{1,8}$/),
    fc.constantFrom('constructor', '__proto__', 'toString', 'valueOf'),
  );

  it('is taken exactly where it is a decimal string, and else nothing is', () => {
    fc.assert(
      fc.property(
        key,
        field,
        fc.oneof(amounts, unreadable),
        amounts,
        (node, name, value, intent) => {
          const config = { amount_ref: `nodes.${node}.output.${name}` };
          const output = Object.fromEntries([[name, value]]);
          const expected = typeof value === 'string' && isDecimal(value) ? normalize(value) : null;
          expect(resolveAmount(config, intent, (key) => (key === node ? output : null))).toBe(
            expected,
          );
          // Never the intent's amount instead, and nothing that objects inherit.
          expect(resolveAmount(config, intent, () => null)).toBeNull();
          expect(resolveAmount(config, intent, () => ({}))).toBeNull();
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('is read from the node that is named, also where keys hold dots', () => {
    fc.assert(
      fc.property(key, field, (node, name) => {
        expect(parseAmountSource({ amount_ref: `nodes.${node}.output.${name}` })).toEqual({
          kind: 'node',
          node_key: node,
          field: name,
        });
      }),
    );
  });
});
