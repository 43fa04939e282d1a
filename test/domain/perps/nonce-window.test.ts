/** For how long what is signed with a nonce is sent, and when its absence proves something. */
import { ageOf, isFresh, nextLookSeconds } from '../../../domain/perps/nonce-window.ts';

const HOUR = 3_600_000;
const NONCE = 1_700_000_000_000;

test.each([
  [-HOUR, 'repeatable'],
  [0, 'repeatable'],
  [24 * HOUR - 1, 'repeatable'],
  [24 * HOUR, 'open'],
  [49 * HOUR, 'open'],
  [49 * HOUR + 1, 'over'],
])('a nonce of %s ms ago is %s', (age, expected) => {
  expect(ageOf(NONCE, NONCE + age)).toBe(expected);
});

test('a nonce of more than an hour ago is not sent for the first time', () => {
  expect([-1, 0, HOUR, HOUR + 1].map((age) => isFresh(NONCE, NONCE + age))).toEqual([
    true,
    true,
    true,
    false,
  ]);
});

test('ledgers are looked at ever more rarely, and once a minute at least', () => {
  const ages = [-5_000, 0, 20_000, 60_000, 240_000, 1_000_000];
  expect(ages.map((age) => nextLookSeconds(age))).toEqual([5, 5, 5, 15, 60, 60]);
});
