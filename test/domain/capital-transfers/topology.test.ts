/** The whole space of transfers between two masters and two subs, in the specification's words. */
import {
  brokenRule,
  TRANSFER_ACCOUNT_TYPES,
  type TransferSide,
} from '../../../domain/capital-transfers/topology.ts';

const accounts = [
  { venue_key: 'main', role: 'master' },
  { venue_key: 'other-main', role: 'master' },
  { venue_key: 'sub-a', role: 'sub' },
  { venue_key: 'sub-b', role: 'sub' },
] as const;
const sides: TransferSide[] = accounts.flatMap((account) =>
  TRANSFER_ACCOUNT_TYPES.map((account_type) => ({ account, account_type })),
);
const name = ({ account, account_type }: TransferSide): string =>
  `${account.venue_key} ${account_type}`;

/** Everything that part 2.7 allows, written out. */
const ALLOWED = [
  'main SPOT > sub-a SPOT',
  'main SPOT > sub-a USDT_FUTURE',
  'main SPOT > sub-b SPOT',
  'main SPOT > sub-b USDT_FUTURE',
  'other-main SPOT > sub-a SPOT',
  'other-main SPOT > sub-a USDT_FUTURE',
  'other-main SPOT > sub-b SPOT',
  'other-main SPOT > sub-b USDT_FUTURE',
  'sub-a SPOT > main SPOT',
  'sub-a SPOT > other-main SPOT',
  'sub-a SPOT > sub-a USDT_FUTURE',
  'sub-a USDT_FUTURE > main SPOT',
  'sub-a USDT_FUTURE > other-main SPOT',
  'sub-a USDT_FUTURE > sub-a SPOT',
  'sub-b SPOT > main SPOT',
  'sub-b SPOT > other-main SPOT',
  'sub-b SPOT > sub-b USDT_FUTURE',
  'sub-b USDT_FUTURE > main SPOT',
  'sub-b USDT_FUTURE > other-main SPOT',
  'sub-b USDT_FUTURE > sub-b SPOT',
];

describe('topology of capital transfers', () => {
  test('of all pairs of pools exactly the listed ones are allowed', () => {
    const allowed = sides.flatMap((from) =>
      sides
        .filter((to) => brokenRule(from, to) === null)
        .map((to) => `${name(from)} > ${name(to)}`),
    );
    expect(allowed.sort()).toEqual([...ALLOWED].sort());
  });

  test.each([
    ['main SPOT > sub-a SPOT', null],
    ['main USDT_FUTURE > sub-a SPOT', 1],
    ['sub-a SPOT > main USDT_FUTURE', 1],
    ['main SPOT > main USDT_FUTURE', 1],
    ['sub-a SPOT > sub-b SPOT', 3],
    ['sub-a USDT_FUTURE > sub-b USDT_FUTURE', 3],
    ['sub-a SPOT > sub-a SPOT', 4],
    ['main SPOT > main SPOT', 4],
    ['main SPOT > other-main SPOT', 5],
    ['main USDT_FUTURE > other-main USDT_FUTURE', 5],
  ])('%s breaks rule %p', (pair, rule) => {
    const [from, to] = pair
      .split(' > ')
      .map((wanted) => sides.find((side) => name(side) === wanted));
    expect(from !== undefined && to !== undefined && brokenRule(from, to)).toBe(rule);
  });
});
