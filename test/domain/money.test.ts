import fc from 'fast-check';
import {
  add,
  compare,
  fromBaseUnits,
  isDecimal,
  isMultiple,
  isPositive,
  normalize,
  subtract,
  toBaseUnits,
} from '../../domain/money.ts';

/** Amounts of the wire contract as whole numbers of 10^-18. */
const units = fc.bigInt({ min: 0n, max: 10n ** 38n - 1n });
const amount = units.map((value) => fromBaseUnits(value, 18));

describe('isDecimal', () => {
  it.each(['0', '1', '0.5', '12345678901234567890.123456789012345678', '1.50'])(
    'takes %s',
    (text) => {
      expect(isDecimal(text)).toBe(true);
    },
  );

  it.each([
    '',
    '-1',
    '+1',
    '01',
    '1.',
    '.5',
    '1e3',
    '1,5',
    ' 1',
    '123456789012345678901',
    '1.1234567890123456789',
    'NaN',
  ])('refuses %j', (text) => {
    expect(isDecimal(text)).toBe(false);
  });
});

describe('arithmetic', () => {
  it('is exact at the limits of the contract', () => {
    const most = '99999999999999999999.999999999999999999';
    expect(add(most, '0.000000000000000001')).toBe('100000000000000000000');
    expect(subtract(most, '0.000000000000000001')).toBe('99999999999999999999.999999999999999998');
    expect(add('0.1', '0.2')).toBe('0.3');
  });

  it('orders by value, not by text', () => {
    expect([compare('9', '100'), compare('1.50', '1.5'), compare('2', '1.9')]).toEqual([-1, 0, 1]);
    expect([isPositive('0'), isPositive('0.000000000000000001')]).toEqual([false, true]);
  });

  it('agrees with whole numbers', () => {
    fc.assert(
      fc.property(units, units, (a, b) => {
        const [x, y] = [fromBaseUnits(a, 18), fromBaseUnits(b, 18)];
        expect(toBaseUnits(add(x, y), 18)).toBe(a + b);
        expect(subtract(add(x, y), y)).toBe(x);
        expect(compare(x, y)).toBe(a < b ? -1 : a > b ? 1 : 0);
      }),
    );
  });

  it('drops trailing zeros and never writes an exponent', () => {
    expect([normalize('1.500'), normalize('0.000'), normalize('1000000000000000000')]).toEqual([
      '1.5',
      '0',
      '1000000000000000000',
    ]);
    fc.assert(fc.property(amount, (text) => expect(isDecimal(normalize(text))).toBe(true)));
  });
});

describe('base units', () => {
  it('refuse what the decimals of a token cannot hold', () => {
    expect([
      toBaseUnits('1.5', 6),
      toBaseUnits('0.0000001', 6),
      toBaseUnits('1', 0),
      toBaseUnits('1.5', 0),
    ]).toEqual([1_500_000n, null, 1n, null]);
  });

  it('come back as the same amount', () => {
    fc.assert(
      fc.property(units, fc.integer({ min: 0, max: 18 }), (value, decimals) => {
        expect(toBaseUnits(fromBaseUnits(value, decimals), decimals)).toBe(value);
      }),
    );
  });
});

describe('multiples', () => {
  test.each([
    ['100.000001', '0.000001', true],
    ['100.0000001', '0.000001', false],
    ['12345678901234567890.123456789012345678', '0.000000000000000001', true],
    ['0.3', '0.1', true],
    ['25', '10', false],
    ['0', '0.1', true],
  ])('%s of %s: %s', (amount, step, expected) => {
    expect(isMultiple(amount, step)).toBe(expected);
  });
});
