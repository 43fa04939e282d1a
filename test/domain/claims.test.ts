/** What a node claims of what it says it was paid with. */
import { claimsOf } from '../../domain/claims.ts';
import type { JsonObject } from '../../domain/json.ts';

const HASH = `0x${'aB'.repeat(32)}`;
const paid = { source: 'EVM:1', reference: `${HASH}#0`, amount: '5', total: '5' };
const coin = { ...paid, source: 'evm:1:coin', reference: `0x${'c'.repeat(40)}` };
const said = (...payments: readonly JsonObject[]) =>
  claimsOf({
    action_type: 'evm_balance_observe',
    output: { payments: [...payments] },
    matched: null,
  });

test('one payment has one spelling', () => {
  expect(said(paid)).toEqual([{ ...paid, source: 'evm:1', reference: `${HASH.toLowerCase()}#0` }]);
});

test.each<[string, JsonObject]>([
  ['more than the payment', { ...paid, amount: '6' }],
  ['nothing', { ...paid, amount: '0' }],
  ['a payment without a position', { ...paid, reference: HASH }],
  ['a time of a token', { ...paid, since: '1', until: '2' }],
  ['a coin without its time', coin],
  ['a coin with half of its time', { ...coin, until: '2' }],
])('%s is no claim, nor what is said beside it', (_name, wrong) => {
  expect(said(paid, wrong)).toEqual([]);
});

test('a coin is claimed with its time', () => {
  expect(said({ ...coin, since: '1', until: '2' })).toHaveLength(1);
});

test('an exchange’s deposit is claimed by account and record', () => {
  const payments = [{ source: 'cex:Main', reference: 'R1', amount: '5', total: '5' }];
  const completed = { action_type: 'cex_deposit_observe', output: { payments }, matched: null };
  expect(claimsOf(completed)).toEqual([{ ...payments[0], source: 'cex:main', reference: 'r1' }]);
});
