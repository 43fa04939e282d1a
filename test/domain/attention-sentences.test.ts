/** What a person reads about a node whose outcome is unknown, or that clocks keep from its send. */
import { sentenceOf } from '../../domain/attention.ts';

const facts = { reason: 'unknown_outcome', node_key: 'out', error_message: 'a fee of 4' } as const;

test('a fee above its limit is no doubt about the payment', () => {
  const sentence = sentenceOf({ ...facts, error_code: 'WITHDRAWAL_FEE_ABOVE_LIMIT' }, '');
  expect(sentence).toContain('out was paid; its fee was higher than the plan allows: a fee of 4.');
  expect(sentence).not.toContain('unknown');
});

test('a send that is under way is no unknown outcome', () => {
  const sentence = sentenceOf({ ...facts, error_code: 'SEND_UNDER_WAY' }, '');
  expect(sentence).toContain('out is under way at its venue');
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

test('a late landing is said beside every other reason, and once', () => {
  const landed = { node_key: 'move', attempt: 1, external_ref: 'tx-9', is_failure: false };
  const landing = 'move landed after a person had abandoned it (tx-9).';
  const times = (sentence: string): number => sentence.split(landing).length - 1;
  expect(times(sentenceOf({ ...facts, error_code: null, landed }, ''))).toBe(1);
  const late = { reason: 'landed_late', node_key: 'move', external_ref: 'tx-9', landed } as const;
  expect(times(sentenceOf(late, ''))).toBe(1);
  for (const besides of ['landed_late', 'failed'] as const)
    expect(times(sentenceOf({ ...late, reason: 'approval_compromised', besides }, ''))).toBe(1);
});
