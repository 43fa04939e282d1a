/** What a person reads about a node that needs one, and about what else the movement waits for. */
import { sentenceOf, type AttentionFacts } from '../../domain/attention.ts';

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

test('of a send that no look can see it says what has to be put back', () => {
  const error_message = 'the venues file says [b] now';
  const sentence = sentenceOf({ ...facts, error_code: 'VENUE_ENTRY_CHANGED', error_message }, '');
  expect(sentence).toContain(`no look can see it: ${error_message}. Point the entry back`);
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

test('of calls that bring no result it says what the node shows, and not that nothing answers', () => {
  const waits: AttentionFacts = {
    reason: 'executor_unavailable',
    ...{ node_key: 'out', error_code: 'VENUE_ENTRY_CHANGED' },
    ...{ executor_key: 'acme', executor_status: 'active', executor_health: 'up' },
  };
  const without =
    'out cannot continue: acme has returned no result for this node for more than a minute';
  expect(sentenceOf(waits, '')).toBe(`${without}.`);
  expect(sentenceOf({ ...waits, error_message: 'restore these entries' }, '')).toBe(
    `${without}; the node shows: restore these entries.`,
  );
});

test('a gate and a failure are said beside the reason of another node', () => {
  const gate = { reason: 'manual_gate', node_key: 'ask' } as const;
  const failed = { reason: 'failed', node_key: 'undo' } as const;
  const late = { reason: 'delivery_late', node_key: 'out' } as const;
  const alone = sentenceOf(late, '');
  expect(sentenceOf({ ...late, also: gate }, '')).toBe(
    `${alone} The gate ask waits for a person to resume it.`,
  );
  expect(sentenceOf({ ...late, also: failed }, '')).toBe(`${alone} ${sentenceOf(failed, '')}`);
  const compromised = { ...late, reason: 'approval_compromised', besides: late.reason } as const;
  const sentence = sentenceOf({ ...compromised, also: gate }, '');
  expect(sentence.endsWith(`${alone} ${sentenceOf(gate, '')}`)).toBe(true);
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

test('where the chain contradicts the end of a node, its words are said in place of a landing', () => {
  const said = 'move sent nothing after all.';
  const landed = { node_key: 'move', attempt: 1, external_ref: null, is_failure: false, said };
  expect(sentenceOf({ reason: 'landed_late', node_key: 'move', landed }, '')).toBe(said);
  const beside = sentenceOf({ ...facts, error_code: null, landed }, '');
  expect([beside.endsWith(` ${said}`), beside.includes('abandoned')]).toEqual([true, false]);
});
