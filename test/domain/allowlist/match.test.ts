import fc from 'fast-check';
import {
  problemOf,
  usableAfter,
  type PayeeAddress,
  type ListedAddress,
} from '../../../domain/allowlist/match.ts';

const NOW = 1_000;
const A = '0xa';
const payee: PayeeAddress = { chain_family: 'evm', address: A, chain_id: 1, strict: false };
const row = (more: Partial<ListedAddress> = {}): ListedAddress => ({
  chain_family: 'evm',
  address: A,
  chain_id: 1,
  active: true,
  usable_after: null,
  ...more,
});

describe('an address', () => {
  test.each<[string, readonly ListedAddress[], Partial<PayeeAddress>, string | null]>([
    ['nothing is listed', [], {}, 'ADDRESS_NOT_ALLOWLISTED'],
    ['its own row', [row()], {}, null],
    ['a row for every chain', [row({ chain_id: null })], {}, null],
    ['a row for another chain', [row({ chain_id: 2 })], {}, 'ADDRESS_NOT_ALLOWLISTED'],
    ['a row of another family', [row({ chain_family: 'cex' })], {}, 'ADDRESS_NOT_ALLOWLISTED'],
    ['a row of another address', [row({ address: '0xb' })], {}, 'ADDRESS_NOT_ALLOWLISTED'],
    ['a revoked row', [row({ active: false })], {}, 'ADDRESS_NOT_ALLOWLISTED'],
    ['a row that cools', [row({ usable_after: NOW + 1 })], {}, 'ADDRESS_IN_COOLING_PERIOD'],
    ['a row that has just cooled', [row({ usable_after: NOW })], {}, null],
    [
      'one row that cools and one that serves',
      [row({ usable_after: NOW + 1 }), row({ chain_id: null })],
      {},
      null,
    ],
    [
      'a row for every chain, strictly',
      [row({ chain_id: null })],
      { strict: true },
      'ADDRESS_CHAIN_ID_REQUIRED',
    ],
    ['its own row, strictly', [row()], { strict: true }, null],
    ['no chain named', [row()], { chain_id: null }, 'ADDRESS_NOT_ALLOWLISTED'],
    ['no chain named, a row for every chain', [row({ chain_id: null })], { chain_id: null }, null],
    [
      'no chain named, strictly',
      [row({ chain_id: null })],
      { chain_id: null, strict: true },
      'ADDRESS_CHAIN_ID_REQUIRED',
    ],
  ])('%s', (_name, rows, more, problem) => {
    expect(problemOf(rows, { ...payee, ...more }, NOW)).toBe(problem);
  });
});

const anyRow = fc.record<ListedAddress>({
  chain_family: fc.constantFrom('evm', 'cex'),
  address: fc.constantFrom(A, '0xb'),
  chain_id: fc.constantFrom(1, 2, null),
  active: fc.boolean(),
  usable_after: fc.constantFrom(null, NOW - 1, NOW, NOW + 1),
});
const anyPayee = fc.record<PayeeAddress>({
  chain_family: fc.constantFrom('evm', 'cex'),
  address: fc.constantFrom(A, '0xb'),
  chain_id: fc.constantFrom(1, 2, null),
  strict: fc.boolean(),
});

test('only an active row of the same family and address, for its chain or all, usable by now, lets it be paid', () => {
  fc.assert(
    fc.property(fc.array(anyRow, { maxLength: 6 }), anyPayee, (rows, of) => {
      const serves = rows.some(
        (each) =>
          each.active &&
          each.chain_family === of.chain_family &&
          each.address === of.address &&
          (each.chain_id === null ? !of.strict : each.chain_id === of.chain_id) &&
          (each.usable_after ?? 0) <= NOW,
      );
      expect(problemOf(rows, of, NOW) === null).toBe(serves);
    }),
  );
});

test('revoking a row never lets more be paid, and time never less', () => {
  fc.assert(
    fc.property(
      fc.array(anyRow, { minLength: 1, maxLength: 6 }),
      anyPayee,
      fc.nat(),
      (rows, of, pick) => {
        const revoked = rows.map((each, at) =>
          at === pick % rows.length ? { ...each, active: false } : each,
        );
        if (problemOf(rows, of, NOW) !== null) expect(problemOf(revoked, of, NOW)).not.toBeNull();
        if (problemOf(rows, of, NOW) === null) expect(problemOf(rows, of, NOW + 10)).toBeNull();
      },
    ),
  );
});

test('says when it may be paid', () => {
  expect(usableAfter([], payee)).toBeUndefined();
  expect(usableAfter([row({ usable_after: 5 }), row({ usable_after: 3 })], payee)).toBe(3);
  expect(usableAfter([row({ usable_after: 5 }), row()], payee)).toBeNull();
});
