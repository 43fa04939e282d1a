/** Whether a send is over, while the database's clock jumps and sender and looker are right. */
import fc from 'fast-check';
import {
  afterTransferNotFound,
  transferWindow,
  undecidableSeconds,
} from '../../../domain/capital-transfers/send.ts';
import { aheadMs, behindSeconds, DATABASE_CLOCK } from '../../../domain/send/clocks.ts';
import { afterNodeNotFound, nodeWindow, type NodeSend } from '../../../domain/send/node.ts';
import { deadlineOf } from '../../../domain/send/window.ts';

/** The true time of the fence, in milliseconds since 1970. */
const FENCE = 1_000_000_000;

interface Case {
  readonly caller: 'node' | 'transfer';
  readonly timeout_seconds: number;
  readonly settle_seconds: number;
  /** How far the database's clock is ahead of the true time at the fence, and how far it jumps. */
  readonly off_ms: number;
  readonly jump_ms: number;
  /** How long the reading of the database's clock takes. */
  readonly takes_ms: number;
}

/** The true time at which the sender's own clocks end the send and its effect can be seen. */
const seenFrom = ({ timeout_seconds, settle_seconds }: Case): number =>
  deadlineOf({ monotonic_ms: 0, wall_ms: FENCE }, timeout_seconds).wall_ms + settle_seconds * 1_000;

/** Whether a look at this true time may send again or fail, and whether a person may say failed. */
function believed(each: Case, at: number): { readonly acts: boolean; readonly failed: boolean } {
  const { caller, timeout_seconds, settle_seconds, off_ms, jump_ms, takes_ms } = each;
  const executor = {
    same_key_safe: true,
    settle_seconds,
    timeout_seconds,
    kind: 'remote',
  } as const;
  const window = caller === 'node' ? nodeWindow(executor) : transferWindow(executor);
  const behind = behindSeconds(new Map([[DATABASE_CLOCK, off_ms]]));
  const send_not_after_ms = FENCE + off_ms + (window + behind) * 1_000;
  const now_ms = at + off_ms + jump_ms;
  const ahead_ms = aheadMs(now_ms, at - takes_ms);
  const left_ms = send_not_after_ms - now_ms;
  const send = { send_left_ms: left_ms, pending_left_ms: 900_000, acknowledged: false, epoch: 2 };
  const transfer = { ...send, state: 'PENDING_PROVIDER_CONFIRMATION', sends: 1 } as const;
  const node: NodeSend = {
    state: 'SUBMITTING',
    recover_first: false,
    restored: false,
    error_count: 0,
    now_ms,
    started_ms: FENCE,
    submitted_ms: null,
    send_not_after_ms: send_not_after_ms + ahead_ms,
    node: {},
  };
  const { next } =
    caller === 'node'
      ? afterNodeNotFound(node, executor, 9)
      : afterTransferNotFound({ ...transfer, send_left_ms: left_ms + ahead_ms }, executor);
  return {
    acts: next === 'send' || next === 'fail',
    failed: undecidableSeconds(transfer, settle_seconds + ahead_ms / 1_000) <= 0,
  };
}

const cases: fc.Arbitrary<Case> = fc.record({
  caller: fc.constantFrom('node' as const, 'transfer' as const),
  timeout_seconds: fc.constantFrom(1, 5, 30),
  settle_seconds: fc.constantFrom(0, 5, 60),
  off_ms: fc.integer({ min: -60_000, max: 60_000 }),
  jump_ms: fc.integer({ min: -60_000, max: 60_000 }),
  takes_ms: fc.constantFrom(0, 3, 2_000),
});

test('nothing is sent again, fails or is called failed before the send is over', () => {
  // Less than a second counts as no difference, at the fence and at the look.
  fc.assert(
    fc.property(cases, fc.integer({ min: 2_001, max: 120_000 }), (each, early_ms) => {
      const nothing = { acts: false, failed: false };
      expect(believed(each, seenFrom(each) - early_ms)).toEqual(nothing);
    }),
    { numRuns: 5_000 },
  );
});

test('and all of that is possible four minutes later, whatever the clocks say', () => {
  fc.assert(
    fc.property(cases, (each) => {
      expect(believed(each, seenFrom(each) + 240_000)).toEqual({ acts: true, failed: true });
    }),
    { numRuns: 1_000 },
  );
});

test.each(['node', 'transfer'] as const)(
  'by hand, a %s whose database failed over to a clock 45 seconds ahead, and back',
  (caller) => {
    const sent = { caller, timeout_seconds: 30, settle_seconds: 0, takes_ms: 1 };
    const jumped: Case = { ...sent, off_ms: 0, jump_ms: 45_000 };
    const [no, yes] = [
      { acts: false, failed: false },
      { acts: true, failed: true },
    ];
    expect(believed(jumped, FENCE + 20_000)).toEqual(no);
    expect(believed(jumped, FENCE + 30_100)).toEqual(yes);
    // It was 45 seconds behind at the fence, and is right again.
    const corrected: Case = { ...sent, off_ms: -45_000, jump_ms: 45_000 };
    expect(believed(corrected, FENCE + 20_000)).toEqual(no);
    expect(believed(corrected, FENCE + 30_100)).toEqual(yes);
  },
);

test('less than a second apart counts as none', () => {
  expect([behindSeconds(new Map()), behindSeconds(new Map([[DATABASE_CLOCK, 45_000]]))]).toEqual([
    0, 0,
  ]);
  expect([-1_000, -1_001].map((ms) => behindSeconds(new Map([[DATABASE_CLOCK, ms]])))).toEqual([
    0, 2,
  ]);
  expect([aheadMs(5_000, 4_000), aheadMs(5_001, 4_000), aheadMs(5_000, 9_000)]).toEqual([
    0, 1_001, 0,
  ]);
});
