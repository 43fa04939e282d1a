/** Amounts from outside: one rule for requests, exchanges and venues. */
import { positiveDecimal, decimalString } from '../../api/http/schemas.ts';
import { readDecimal } from '../../domain/money.ts';
import { decimalText } from '../../platform/amount.ts';
import { amount } from '../../venues/cex/dialects/binance/answers.ts';

const TAKEN = [
  ['1.500', '1.5'],
  ['0', '0'],
  ['0.000', '0'],
  ['100', '100'],
  ['99999999999999999999.999999999999999999', '99999999999999999999.999999999999999999'],
] as const;
const REFUSED = ['', ' 1', '+1', '-1', '1e3', '01', '.5', '1.', '0x1', 'NaN', 'Infinity', '1,5'];
const TOO_LONG = ['100000000000000000000', '0.0000000000000000001'];
const READERS = { decimalText: decimalText('wrong'), decimalString, binance: amount };

test.each(Object.entries(READERS))('%s drops trailing zeros and nothing else', (_, reader) => {
  for (const [text, plain] of TAKEN) expect(reader.parse(text)).toBe(plain);
});

// Whoever throws anything else would turn a bad answer into a fault of the service.
test.each(Object.entries(READERS))(
  '%s refuses everything else as a fault of the text',
  (_, reader) => {
    for (const text of [...REFUSED, ...TOO_LONG, 1, null, undefined])
      expect([text, reader.safeParse(text).success]).toEqual([text, false]);
  },
);

test('what no schema stands before is read the same way', () => {
  for (const [text, plain] of TAKEN) expect(readDecimal(text)).toBe(plain);
  for (const text of [...REFUSED, ...TOO_LONG, 1, null, undefined])
    expect([text, readDecimal(text)]).toEqual([text, null]);
});

test('more than zero means more than zero', () => {
  expect(positiveDecimal.parse('0.10')).toBe('0.1');
  for (const text of ['0', '0.00', 'x'])
    expect(positiveDecimal.safeParse(text).success).toBe(false);
});
