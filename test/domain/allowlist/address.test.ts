import fc from 'fast-check';
import { getAddress } from 'viem';
import { looksLike, normalAddress } from '../../../domain/allowlist/address.ts';
import { readEvmAddress } from '../../../platform/evm-address.ts';

const evm = (text: string) => normalAddress('evm', text, readEvmAddress);
const cex = (text: string) => normalAddress('cex', text, readEvmAddress);
const TREASURY = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
const digits = fc
  .string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 40, maxLength: 40 })
  .filter((hex) => !/^0{36}/.test(hex));

describe('an EVM address', () => {
  test('has one text, in whichever case it is written', () => {
    fc.assert(
      fc.property(digits, (hex) => {
        const lower = `0x${hex}`;
        for (const text of [lower, `0x${hex.toUpperCase()}`, getAddress(lower)])
          expect(evm(text)).toEqual({ ok: true, address: lower });
      }),
    );
  });

  test('with one letter in the wrong case is refused', () => {
    fc.assert(
      fc.property(digits, fc.nat(), (hex, pick) => {
        const right = getAddress(`0x${hex}`);
        const letters = [...right].flatMap((letter, at) =>
          at > 1 && /[a-f]/i.test(letter) ? [at] : [],
        );
        fc.pre(letters.length > 2);
        const at = letters[pick % letters.length] ?? 0;
        const letter = right[at] ?? '';
        const wrong =
          right.slice(0, at) +
          (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()) +
          right.slice(at + 1);
        fc.pre(
          wrong.slice(2) !== wrong.slice(2).toLowerCase() &&
            wrong.slice(2) !== wrong.slice(2).toUpperCase(),
        );
        expect(evm(wrong)).toEqual({ ok: false, problem: 'checksum' });
        expect(cex(wrong)).toEqual({ ok: false, problem: 'checksum' });
      }),
    );
  });

  test.each([
    ['zero', `0x${'0'.repeat(40)}`],
    ['reserved', `0x${'0'.repeat(39)}1`],
    ['reserved', `0x${'0'.repeat(38)}ff`],
    ['reserved', `0x${'0'.repeat(37)}100`],
    ['reserved', `0x${'0'.repeat(36)}ffff`],
    ['malformed', TREASURY.slice(0, -1)],
    ['malformed', `${TREASURY}0`],
    ['malformed', TREASURY.slice(2)],
    ['malformed', TREASURY.replace('0x', '0X')],
    ['malformed', `${TREASURY.slice(0, -1)}g`],
    ['malformed', ` ${TREASURY}`],
    ['malformed', ''],
  ])('%s: %s', (problem, text) => {
    expect(evm(text)).toEqual({ ok: false, problem });
  });

  test('behind the reserved ones is an address', () => {
    expect(evm(`0x${'0'.repeat(35)}10000`)).toMatchObject({ ok: true });
  });
});

describe('an address of an exchange', () => {
  test.each([
    [TREASURY, TREASURY.toLowerCase()],
    ['bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq', 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'],
    ['TJRabPrwbZy45sbavfcjinPJC18kjpRTv8', 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8'],
    [`0x${'aB'.repeat(32)}`, `0x${'ab'.repeat(32)}`],
  ])('%s', (text, address) => {
    expect(cex(text)).toEqual({ ok: true, address });
  });

  test.each(['', '0x1234', `0x${'a'.repeat(65)}`, 'two words', 'ä', 'x'.repeat(257)])(
    'is not %j',
    (text) => {
      expect(cex(text)).toEqual({ ok: false, problem: 'malformed' });
    },
  );
  test('is not the zero address either', () => {
    expect(cex(`0x${'0'.repeat(40)}`)).toEqual({ ok: false, problem: 'zero' });
  });
});

test('addresses with the same ends look alike', () => {
  const middle = (digit: string) => `0x1234${digit.repeat(32)}abcd`;
  expect(looksLike(middle('0'), middle('1'))).toBe(true);
  expect(looksLike(middle('0'), middle('0'))).toBe(false);
  expect(looksLike(middle('0'), `0x1235${'0'.repeat(32)}abcd`)).toBe(false);
  expect(looksLike(middle('0'), `0x1234${'0'.repeat(32)}abce`)).toBe(false);
});
