/** What a person reads about a node whose outcome is unknown, or that clocks keep from its send. */
import { sentenceOf } from '../../domain/attention.ts';

const facts = { reason: 'unknown_outcome', node_key: 'out', error_message: 'a fee of 4' } as const;

test('a fee above its limit is no doubt about the payment', () => {
  const sentence = sentenceOf({ ...facts, error_code: 'WITHDRAWAL_FEE_ABOVE_LIMIT' }, '');
  expect(sentence).toContain('out was paid; its fee was higher than the plan allows: a fee of 4.');
  expect(sentence).not.toContain('unknown');
});

test.each(['RECOVERY_INCONCLUSIVE', 'WITHDRAWAL_MISMATCH', null])(
  'after %s nothing says that it was paid',
  (error_code) => {
    const sentence = sentenceOf({ ...facts, error_code }, '');
    expect(sentence).toContain('Whether out has moved anything is unknown');
  },
);

test('of clocks that differ it names the one to set, and what goes on then', () => {
  const error_message = 'the clock of kraken-main is 75 seconds ahead of this host';
  const sentence = sentenceOf({ reason: 'clock_difference', node_key: 'out', error_message }, '');
  expect(sentence).toContain(`out waits before its send: ${error_message}. It goes on by itself`);
});
