/** What a look at a run proves: that it goes on, that it is stuck and why, or neither. */
import {
  stuckSentence,
  verdictOf,
  verdictOfRun,
  type FailingCall,
  type LookTerms,
  type PendingTask,
  type WaitingCalls,
} from '../../domain/stuck-runs.ts';

const NO_WORKER_MS = 120_000;
const TERMS: LookTerms = { noWorkerMs: NO_WORKER_MS, isSteady: true, before: null };
const task = (more: Partial<PendingTask> = {}): PendingTask => ({
  ...{ attempt: 1, failures: 0, waitsMs: null, prolongedMs: null, hasWorker: true, failure: null },
  ...more,
});
const verdict = (more: Partial<PendingTask>, terms: Partial<LookTerms> = {}) =>
  verdictOf(task(more), { ...TERMS, ...terms });
const replay = { nondeterminism: true, message: 'TMPRL1100' };
const thrown = { nondeterminism: false, message: 'a bug' };

test('a run without an unfinished task, or with its first try of one, goes on', () => {
  expect(verdictOf(null, TERMS)).toBe('goes_on');
  expect(verdict({})).toBe('goes_on');
  expect(verdict({ waitsMs: 100 })).toBe('goes_on');
  expect(verdict({ waitsMs: 100, hasWorker: false })).toBe('goes_on');
});

test.each([
  [4, 1, 'unclear'],
  [5, 1, 'task_fails'],
  // The history was read only as far as it shows no task at all.
  [5, null, 'task_fails'],
  [4, null, 'unclear'],
  // Each signal begins another series, whose first failure is written.
  [1, 3, 'unclear'],
  [1, 4, 'task_fails'],
  [3, 3, 'task_fails'],
  [3, 2, 'unclear'],
])('attempt %s with %s failures in the history: %s', (attempt, failures, expected) => {
  const found = verdict({ attempt, failures, failure: thrown });
  expect(typeof found === 'object' ? found.cause : found).toBe(expected);
});

test('the newest failure says why', () => {
  expect(verdict({ attempt: 5, failures: 1, failure: replay })).toEqual({
    cause: 'nondeterminism',
    message: 'TMPRL1100',
  });
  expect(verdict({ attempt: 5, failures: 1, failure: thrown })).toEqual({
    cause: 'task_fails',
    message: 'a bug',
  });
  expect(verdict({ attempt: 9, failures: null })).toEqual({ cause: 'task_fails', message: null });
});

test('a task that waits long is stuck only while no worker polls', () => {
  const waitsMs = NO_WORKER_MS + 1;
  expect(verdict({ waitsMs, hasWorker: false })).toEqual({ cause: 'no_worker', message: null });
  expect(verdict({ waitsMs, hasWorker: true })).toBe('unclear');
  expect(verdict({ waitsMs: NO_WORKER_MS, hasWorker: false })).toBe('goes_on');
});

test('a task that a worker prolongs for long is stuck, and before that proves neither', () => {
  const message = 'a local activity of its workflow task is repeated again and again';
  const found = { cause: 'task_fails', message };
  expect(verdict({ prolongedMs: 180_000 })).toEqual(found);
  expect(verdict({ prolongedMs: 150_000 })).toBe('unclear');
  expect(verdict({ prolongedMs: 0 })).toBe('unclear');
});

test('one failure, or a history that shows nothing, proves neither', () => {
  expect(verdict({ failures: 1, failure: replay })).toBe('unclear');
  expect(verdict({ attempt: 2 })).toBe('unclear');
  expect(verdict({ failures: null })).toBe('unclear');
});

const waits = (more: Partial<WaitingCalls> = {}): WaitingCalls => ({
  ...{ taskQueue: 'q', waitsMs: NO_WORKER_MS + 1, hasWorker: false },
  ...more,
});
const ofRun = (
  calls: readonly WaitingCalls[],
  of: PendingTask | null = null,
  terms: Partial<LookTerms> = {},
) => verdictOfRun({ task: of, calls, failing: null }, { ...TERMS, ...terms });

test('a run whose calls no worker takes is stuck, whatever its task is', () => {
  const message = 'no worker polls the task queue q, or all of its slots are in use';
  const found = { cause: 'no_worker', message };
  expect(ofRun([waits()])).toEqual(found);
  expect(ofRun([waits({ hasWorker: true }), waits()], task())).toEqual(found);
  // What its task reported says more.
  const failing = task({ attempt: 5, failures: 1, failure: replay });
  expect(ofRun([waits()], failing)).toMatchObject({ cause: 'nondeterminism' });
});

test('calls in a line that workers poll are a backlog, and its task decides', () => {
  expect(ofRun([])).toBe('goes_on');
  expect(ofRun([waits({ hasWorker: true })])).toBe('goes_on');
  expect(ofRun([waits({ hasWorker: true })], task({ attempt: 2 }))).toBe('unclear');
});

test('a call that has not waited long proves neither', () => {
  expect(ofRun([waits({ waitsMs: NO_WORKER_MS })])).toBe('unclear');
  expect(ofRun([waits({ waitsMs: 5, hasWorker: null })])).toBe('unclear');
});

test('after an outage neither a missing worker nor a prolonged task proves anything', () => {
  const waitsMs = NO_WORKER_MS + 1;
  expect(verdict({ prolongedMs: 180_000 }, { isSteady: false })).toBe('unclear');
  expect(verdict({ waitsMs, hasWorker: false }, { isSteady: false })).toBe('unclear');
  expect(ofRun([waits()], null, { isSteady: false })).toBe('unclear');
  // Failed tasks count at once.
  expect(verdict({ attempt: 5, failures: 1 }, { isSteady: false })).toMatchObject({
    cause: 'task_fails',
  });
});

describe('an activity that an unexpected error failed', () => {
  const failing = (attempt: number, call = 'run-1/5'): FailingCall => ({
    ...{ call, attempt, message: 'the activity preflight: TypeError' },
  });
  const ofCall = (
    now: FailingCall | null,
    before: FailingCall | null,
    calls: readonly WaitingCalls[] = [],
  ) => verdictOfRun({ task: null, calls, failing: now }, { ...TERMS, before });

  test('makes its run stuck once many attempts, and two looks at different ones, have failed', () => {
    const found = { cause: 'task_fails', message: 'the activity preflight: TypeError' };
    expect(ofCall(failing(9), failing(8))).toEqual(found);
    expect(ofCall(failing(8), failing(1))).toEqual(found);
    expect(ofCall(failing(7), failing(1))).toBe('goes_on');
  });

  test('proves neither when a single attempt of many has failed, as of one that polls', () => {
    expect(ofCall(failing(900), null)).toBe('unclear');
    expect(ofCall(failing(900), failing(900))).toBe('unclear');
    expect(ofCall(failing(900), failing(8, 'run-1/4'))).toBe('unclear');
    expect(ofCall(null, failing(8))).toBe('goes_on');
  });

  test('hides no call that no worker takes', () => {
    expect(ofCall(failing(900), null, [waits()])).toMatchObject({ cause: 'no_worker' });
  });
});

test.each([
  ['nondeterminism', 'does not fit its history'],
  ['task_fails', 'fail again and again'],
  ['no_worker', 'no worker polls'],
  ['not_seen', 'most likely cannot go on'],
] as const)('the sentence says %s', (cause, words) => {
  const sentence = stuckSentence({ cause, since: '2026-11-29T10:00:00+00:00' });
  expect(sentence).toContain(words);
  expect(sentence).toContain('since 2026-11-29T10:00:00.000Z');
});
