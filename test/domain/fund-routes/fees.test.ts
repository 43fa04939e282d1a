/** What a fee policy says. */
import { estimateFee } from '../../../domain/fund-routes/fees.ts';

test.each([
  [
    { expected_fee: '1.50', max_fee_abs: '1' },
    { fee: '1.5', basis: 'expected_fee' },
  ],
  [{ expected_fee: 0.0000001 }, { fee: '0.0000001', basis: 'expected_fee' }],
  [{ expected_fee: 0 }, { fee: '0', basis: 'expected_fee' }],
  [
    { max_fee_abs: '3', max_fee_pct: '2' },
    { fee: '2', basis: 'max_fee_pct' },
  ],
  [
    { max_fee_abs: '2', max_fee_pct: '2' },
    { fee: '2', basis: 'max_fee_abs' },
  ],
  [{ max_fee_abs: '1' }, { fee: '1', basis: 'max_fee_abs' }],
  [{ max_fee_pct: 0.5 }, { fee: '0.5', basis: 'max_fee_pct' }],
  [
    { expected_fee: 'cheap', max_fee_abs: '1' },
    { fee: '1', basis: 'max_fee_abs' },
  ],
  [{ max_fee_usd: '1' }, null],
  [{ expected_fee: -1 }, null],
  [{ expected_fee: '-1' }, null],
  [{ expected_fee: 1e300 }, null],
  [{ expected_fee: null, max_fee_abs: true, max_fee_pct: ['1'] }, null],
  [{}, null],
])('%j of 100 is %j', (policy, estimate) => {
  expect(estimateFee(policy, '100')).toEqual(estimate);
});

test.each([
  [{ expected_fee: '3' }, { fee: '3', basis: 'expected_fee' }],
  [{ max_fee_abs: '3' }, { fee: '2', basis: 'bridge_max_fee' }],
  [{ max_fee_pct: '1' }, { fee: '1', basis: 'max_fee_pct' }],
  [{ max_fee_abs: '2' }, { fee: '2', basis: 'max_fee_abs' }],
  [{}, { fee: '2', basis: 'bridge_max_fee' }],
])('%j of 100 over bridges that take at most 2 is %j', (policy, estimate) => {
  expect(estimateFee(policy, '100', '2')).toEqual(estimate);
});

test('a share of the largest amount is exact', () => {
  const most = '99999999999999999999.999999999999999999';
  expect(estimateFee({ max_fee_pct: '0.000000000000000001' }, most)).toEqual({
    fee: '0.99999999999999999999999999999999999999',
    basis: 'max_fee_pct',
  });
});
