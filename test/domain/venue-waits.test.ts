/** Why a node waits for its venue: one closed list of codes, each a reason to show to a person. */
import { sentenceOf } from '../../domain/attention.ts';
import { ATTENTION_REASONS, SIGNALLED_REASONS } from '../../domain/attention-reasons.ts';
import type { ExecutionResult } from '../../domain/executor.ts';
import { VENUE_WAIT_CODES, venueWaitOf } from '../../domain/venue-waits.ts';

const answer = (more: object = {}): ExecutionResult => ({
  next_state: 'READY',
  error_code: 'VENUE_SUSPENDED',
  error_message: 'closed until noon',
  ...more,
});

test('each code is a reason in lower case, and no state says it', () => {
  expect([...VENUE_WAIT_CODES]).toEqual(['VENUE_SUSPENDED', 'WITHDRAWAL_QUOTA_EXHAUSTED']);
  for (const code of VENUE_WAIT_CODES) {
    expect(ATTENTION_REASONS).toContain(code.toLowerCase());
    expect(SIGNALLED_REASONS).toContain(code.toLowerCase());
  }
});

test.each([
  [{}, 60],
  [{ retry_after_seconds: 0 }, 5],
  [{ retry_after_seconds: 5 }, 5],
  [{ retry_after_seconds: 42.5 }, 42.5],
  [{ retry_after_seconds: 300 }, 300],
  [{ retry_after_seconds: 301 }, 300],
])('with %j it is checked again in %d s', (more, seconds) => {
  expect(venueWaitOf(answer(more))).toEqual({
    ...{ code: 'VENUE_SUSPENDED', message: 'closed until noon', seconds },
  });
});

test.each([
  ['FAILED', { next_state: 'FAILED' }],
  ['SUBMITTING', { next_state: 'SUBMITTING' }],
  ['UNKNOWN', { next_state: 'UNKNOWN' }],
  ['another code', { error_code: 'LANE_BLOCKED' }],
  ['a code in lower case', { error_code: 'venue_suspended' }],
  ['no message', { error_message: '' }],
  ['a blank message', { error_message: ' \t' }],
])('%s is no wait', (_name, more) => {
  expect(venueWaitOf(answer(more))).toBeNull();
});

test('an answer of recover, which has neither code nor message, is no wait', () => {
  expect(venueWaitOf({ next_state: 'READY' })).toBeNull();
});

test('a person reads what is closed, of which node, and that nothing was sent', () => {
  const facts = { node_key: 'pay', error_message: 'closed until noon' };
  const sentence = sentenceOf({ reason: 'venue_suspended', ...facts }, '');
  expect(sentence).toContain('The venue of pay does not pay out at present: closed until noon.');
  expect(sentence).toContain('Nothing was sent.');
  expect(sentenceOf({ reason: 'withdrawal_quota_exhausted', ...facts }, '')).toContain(
    'The withdrawal quota of the account of pay is used up: closed until noon.',
  );
});
