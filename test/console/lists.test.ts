/** Sums, files and groups of lists. */
import fc from 'fast-check';
import { csvOf } from '../../console/parts/csv.ts';
import { filtersIn } from '../../console/parts/filters.tsx';
import { addAmounts, sumByAsset } from '../../console/parts/sums.ts';
import { approvableFirst, groupOf, groupOfMovement } from '../../console/pages/needs-you/groups.ts';
import { KINDS, pageOf, PLACES } from '../../console/pages/search/hits.ts';
import { PAGES } from '../../console/routes.ts';

const amount = fc.tuple(fc.bigInt({ min: 0n, max: 10n ** 30n }), fc.integer({ min: 0, max: 24 }));
const textOf = ([units, scale]: readonly [bigint, number]): string => {
  const digits = units.toString().padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  return scale === 0 ? whole : `${whole}.${digits.slice(digits.length - scale)}`;
};

test('a sum has every digit of what it is made of', () => {
  fc.assert(
    fc.property(amount, amount, (left, right) => {
      const sum = addAmounts(textOf(left), textOf(right));
      const [whole = '', fraction = ''] = sum.split('.');
      const at = (units: bigint, scale: number): bigint => units * 10n ** BigInt(30 - scale);
      expect(BigInt(whole + fraction.padEnd(30, '0'))).toBe(at(...left) + at(...right));
    }),
  );
  expect(addAmounts('0.1', '0.2')).toBe('0.3');
  expect(() => addAmounts('1', '1e3')).toThrow('no decimal number');
});

test('one amount without a bound leaves its asset without one', () => {
  expect(
    sumByAsset([
      { asset: 'USDC', amount: '1.50' },
      { asset: 'ETH', amount: '2' },
      { asset: 'USDC', amount: null },
      { asset: 'USDC', amount: '7' },
      { asset: 'ETH', amount: '0.5' },
    ]),
  ).toEqual([
    { asset: 'USDC', amount: null },
    { asset: 'ETH', amount: '2.5' },
  ]);
});

test('what others wrote is no formula in a spreadsheet, and no other cell', () => {
  expect(
    csvOf(
      ['a', 'b'],
      [
        ['=1+1', '-12.5'],
        ['x,"y"\r\nz', null],
        ['@sum', '-1+2'],
      ],
    ),
  ).toBe('a,b\r\n\'=1+1,-12.5\r\n"x,""y""\r\nz",\r\n\'@sum,\'-1+2\r\n');
});

test('a filter with an initial value holds until the address takes it away', () => {
  const filters = [
    { name: 'state', label: 'State', options: ['open', 'applied'], initial: 'open' },
    { name: 'kind', label: 'Kind', options: ['keys'] },
  ];
  expect(filtersIn({}, filters)).toEqual({ state: 'open' });
  expect(filtersIn({ state: '', kind: 'keys' }, filters)).toEqual({ state: 'open', kind: 'keys' });
  expect(filtersIn({ state: 'applied' }, filters)).toEqual({ state: 'applied' });
  expect(filtersIn({ state: 'any', kind: 'any' }, filters)).toEqual({ kind: 'any' });
});

test('a reason that the page does not know is shown as broken', () => {
  expect(['approval', 'observed_long', 'failed', 'of a later release', null].map(groupOf)).toEqual([
    'you',
    'others',
    'broken',
    'broken',
    'broken',
  ]);
});

test('a node that waits for its venue is nothing broken', () => {
  expect(['venue_suspended', 'withdrawal_quota_exhausted'].map(groupOf)).toEqual([
    'others',
    'others',
  ]);
});

test('a movement at its gate waits for you, unless another branch of it is broken', () => {
  const at = (request_state: string, attention_reason: string) =>
    groupOfMovement({ request_state, attention_reason });
  expect(at('WAITING_MANUAL_ACTION', 'manual_gate')).toBe('you');
  expect(at('WAITING_MANUAL_ACTION', 'observed_long')).toBe('you');
  expect(at('WAITING_MANUAL_ACTION', 'lane_stuck')).toBe('broken');
  expect(at('EXECUTING', 'observed_long')).toBe('others');
});

test('change requests that wait for your approval come first, each part in its order', () => {
  const row = (id: string, may: boolean, approved = false) => ({
    id,
    approvals: { you: { may, approved } },
  });
  const newestFirst = [
    row('e', true, true),
    row('d', false),
    row('c', true),
    row('b', false),
    row('a', true),
  ];
  expect(approvableFirst(newestFirst).map(({ id }) => id)).toEqual(['c', 'a', 'e', 'd', 'b']);
});

test('a hit of any kind leads to a page that there is', () => {
  expect(Object.keys(PLACES).sort()).toEqual(Object.keys(KINDS).sort());
  const known = PAGES.map(({ path }) => path.replace(/\$\w+/, '$id'));
  for (const place of Object.values(PLACES)) expect(known).toContain(place);
  expect(pageOf({ kind: 'movement', id: 'm-1' })).toBe('/movements/m-1');
});
