/** What a person reads about a node whose outcome is unknown. */
import { sentenceOf } from '../../domain/attention.ts';

const facts = { reason: 'unknown_outcome', node_key: 'out', error_message: 'a fee of 4' } as const;

test('a fee above its limit is no doubt about the payment', () => {
  const sentence = sentenceOf({ ...facts, error_code: 'WITHDRAWAL_FEE_ABOVE_LIMIT' }, '');
  expect(sentence).toContain('out was paid; its fee was above the limit of the plan: a fee of 4.');
  expect(sentence).not.toContain('unknown');
});

test.each(['RECOVERY_INCONCLUSIVE', 'WITHDRAWAL_MISMATCH', null])(
  'after %s nothing says that it was paid',
  (error_code) => {
    const sentence = sentenceOf({ ...facts, error_code }, '');
    expect(sentence).toContain('Whether out has moved anything is unknown');
  },
);
