/** What is not found of a node that came out of a restored database. */
import { afterNodeNotFound, type NodeSend } from '../../../domain/send/node.ts';

const safe = { same_key_safe: true, settle_seconds: 5 } as const;
const restored: NodeSend = {
  state: 'READY',
  recover_first: true,
  restored: true,
  error_count: 2,
  now_ms: 1_000_000,
  started_ms: 900_000,
  submitted_ms: null,
  send_not_after_ms: null,
  node: {},
};

test('before it is sent anew, is sent, and costs no attempt', () => {
  expect(afterNodeNotFound(restored, safe, 3)).toEqual({ next: 'send', counts: false });
});

test.each(['SUBMITTED', 'OBSERVING'] as const)(
  'after it was sent anew and is %s, is left to a person',
  (state) => {
    const row = { ...restored, state, recover_first: false, submitted_ms: 950_000 };
    expect(afterNodeNotFound(row, safe, 9)).toEqual({ next: 'person', why: 'accepted' });
  },
);

test('after it was sent anew and its answer was lost, counts as any other send', () => {
  const row: NodeSend = { ...restored, state: 'SUBMITTING', send_not_after_ms: 990_000 };
  expect(afterNodeNotFound(row, safe, 9)).toEqual({ next: 'send', counts: true });
  expect(afterNodeNotFound(row, safe, 3)).toEqual({ next: 'fail', why: 'last' });
});
