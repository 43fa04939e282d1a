/** What a withdrawal would wait for, as its venue shows itself. */
import { expectedWait, type WithdrawalOutlook } from '../../domain/withdrawal-outlook.ts';

const OPENS = '2026-12-24T06:00:00.000Z';
const PLANNED = { asset: 'USDC', network: 'ERC20', amount: '100.5' };
const CLOSED = { asset: 'USDC', network: 'ERC20', opens_at: null };

const codeOf = (outlook: Partial<WithdrawalOutlook>, planned: object = {}): string | null =>
  expectedWait({ quota: null, closed: [], ...outlook }, { ...PLANNED, ...planned })?.code ?? null;

test.each([
  ['its network', [CLOSED], 'VENUE_SUSPENDED'],
  ['every network of its asset', [{ ...CLOSED, network: null }], 'VENUE_SUSPENDED'],
  ['another network', [{ ...CLOSED, network: 'TRC20' }], null],
  ['its network for another asset', [{ ...CLOSED, asset: 'USDT' }], null],
  ['every network of another asset', [{ ...CLOSED, asset: 'USDT', network: null }], null],
  ['nothing', [], null],
])('closed: %s', (_what, closed, code) => {
  expect(codeOf({ closed })).toBe(code);
});

test.each([
  ['100.5', 'USDC', '100.5', null],
  ['100.499999999999999999', 'USDC', '100.5', 'WITHDRAWAL_QUOTA_EXHAUSTED'],
  ['9.5', 'USDC', '100.5', 'WITHDRAWAL_QUOTA_EXHAUSTED'],
  // In another unit, and for an amount that is not known, only nothing is too little.
  ['0.01', 'USD', '100.5', null],
  ['0', 'USD', '100.5', 'WITHDRAWAL_QUOTA_EXHAUSTED'],
  ['0.01', 'USDC', null, null],
  ['0', 'USDC', null, 'WITHDRAWAL_QUOTA_EXHAUSTED'],
])('%s %s are left for %s', (left, unit, amount, code) => {
  expect(codeOf({ quota: { left, unit } }, { amount })).toBe(code);
});

test('no figure of a quota is no reason', () => {
  expect(codeOf({ quota: null })).toBeNull();
});

test('what is closed comes before the quota, with when it is expected to open', () => {
  const outlook = { closed: [{ ...CLOSED, opens_at: OPENS }], quota: { left: '0', unit: 'USD' } };
  expect(expectedWait(outlook, PLANNED)).toEqual({
    code: 'VENUE_SUSPENDED',
    message: `the exchange does not pay out USDC on ERC20 at present; it expects to do so from ${OPENS}`,
    opens_at: OPENS,
  });
  expect(expectedWait({ ...outlook, closed: [] }, PLANNED)).toEqual({
    code: 'WITHDRAWAL_QUOTA_EXHAUSTED',
    message: 'the account may withdraw 0 USD at present',
    opens_at: null,
  });
});
