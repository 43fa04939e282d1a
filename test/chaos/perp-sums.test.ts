/** Each thing that may not add up after a run at the perps venue is seen in made-up books. */
import {
  perpContradictions,
  type PerpRequest,
  type PerpBooksAt,
  type PerpCall,
  type PerpOutput,
  type PerpRow,
} from './perp-sums.ts';

const lives: readonly PerpRequest[] = [
  { key: 'in', kind: 'deposit', amount: '10.000001' },
  { key: 'out', kind: 'withdrawal', amount: '20.000011' },
  { key: 'up', kind: 'top_up', amount: '30.000021' },
];
const rows: readonly PerpRow[] = [
  { hash: '0xa', delta: { type: 'deposit', usdc: '10.000001' } },
  { hash: '0xb', delta: { type: 'withdraw', usdc: '19.000011', fee: '1.0', nonce: 7_000 } },
  { hash: '0xc', delta: { type: 'send', amount: '30.000021', nonce: 8 } },
];
const calls: readonly PerpCall[] = [
  { body: 'seven', nonce: 7, admitted: false },
  { body: 'seven', nonce: 7, admitted: true },
  { body: 'eight', nonce: 8, admitted: true },
];
const outputs = new Map<string, PerpOutput | null>([
  ['in', { received_amount: '10.000001', ledger_hash: '0xa', tx_hash: '0xa' }],
  ['out', { received_amount: '19.000011', ledger_hash: '0xb', nonce: 7 }],
  ['up', { received_amount: '30.000021', ledger_hash: '0xc', nonce: 8 }],
]);
const before: PerpBooksAt = {
  rows: [],
  calls: [],
  sub: 0n,
  master: 100_000_000n,
  wallet: 50_000_000n,
  treasury: 5_000_000n,
};
const after: PerpBooksAt = {
  rows,
  calls,
  master: 59_999_969n,
  wallet: 39_999_999n,
  sub: 30_000_021n,
  treasury: 24_000_011n,
};
const found = (change: Partial<PerpBooksAt> = {}, recorded = outputs) =>
  perpContradictions(lives, recorded, before, { ...after, ...change });

test('books that add up say nothing', () => {
  expect(found()).toEqual([]);
});

const [deposited, withdrawn, sent] = rows as [PerpRow, PerpRow, PerpRow];
const [tried, taken] = calls as [PerpCall, PerpCall];
test.each<[string, Partial<PerpBooksAt>]>([
  ['a row that is missing', { rows: [deposited, withdrawn] }],
  ['a row that is there twice', { rows: [...rows, { ...sent }] }],
  [
    'a row of no movement',
    { rows: [...rows, { hash: '0xd', delta: { type: 'deposit', usdc: '11.0' } }] },
  ],
  [
    'a payment of another amount',
    { rows: [deposited, { ...withdrawn, delta: { ...withdrawn.delta, usdc: '18.0' } }, sent] },
  ],
  [
    'a row of another nonce',
    { rows: [deposited, withdrawn, { ...sent, delta: { ...sent.delta, nonce: 9 } }] },
  ],
  ['an action that was admitted twice', { calls: [...calls, { ...taken }] }],
  ['another body for a nonce', { calls: [{ ...tried, body: 'other' }, ...calls.slice(1)] }],
  ['a nonce of no movement', { calls: [...calls, { ...taken, nonce: 9 }] }],
  ['a master that has more', { master: after.master + 1n }],
  ['a sub-account that has less', { sub: after.sub - 1n }],
  ['a wallet that has paid twice', { wallet: after.wallet - 10_000_001n }],
  ['a treasury that got nothing', { treasury: before.treasury }],
])('%s is reported', (_what, change) => {
  expect(found(change)).not.toEqual([]);
});

test.each<[string, string, PerpOutput | null]>([
  ['nothing', 'in', null],
  ['another hash', 'in', { received_amount: '10.000001', ledger_hash: '0xa', tx_hash: '0xb' }],
  ['the fee as received', 'out', { received_amount: '20.000011', ledger_hash: '0xb', nonce: 7 }],
  ['another nonce', 'up', { received_amount: '30.000021', ledger_hash: '0xc', nonce: 7 }],
])('a record that says %s is reported', (_what, key, output) => {
  expect(found({}, new Map([...outputs, [key, output]]))).not.toEqual([]);
});
