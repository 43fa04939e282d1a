/** Contradictions of a rolling restart, and the gap of a fail-over, are found in made-up books. */
import { longestGap } from './failover-sums.ts';
import { rollingContradictions } from './rolling-sums.ts';

const accepted = [{ movement_id: 'm', amount: '1.01', nodes: ['a', 'b'] }];
const paid = (node_key: string, more: object = {}) => ({
  key: `m:${node_key}:1`,
  movement_id: 'm',
  node_key,
  amount: '1.01',
  answered: true,
  ...more,
});

test.each([
  ['nothing wrong', [paid('a'), paid('b')], []],
  ['a send twice', [paid('a'), paid('a', { key: 'm:a:2' }), paid('b')], ['m a was paid 2 times']],
  ['a send missing', [paid('a')], ['m b was never paid']],
  ['another amount', [paid('a', { amount: '2' }), paid('b')], ['m a was paid 2, not 1.01']],
  [
    'a send that was cut',
    [paid('a', { answered: false }), paid('b')],
    ['m a was sent by a caller that did not wait'],
  ],
  [
    'a movement without an approval',
    [paid('a'), paid('b'), paid('a', { movement_id: 'x' })],
    ['x a was paid, and its approval was not answered'],
  ],
])('%s', (_name, payments, contradictions) => {
  expect(rollingContradictions(accepted, payments)).toEqual(contradictions);
});

test.each([
  ['none', [], 0],
  ['one', [5], 0],
  ['answered out of order', [9, 1, 3, 2], 6],
])('the longest gap between successes: %s', (_name, times, gap) => {
  expect(longestGap(times)).toBe(gap);
});
