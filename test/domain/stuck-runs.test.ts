/** What a look at a run proves: that it goes on, that it is stuck and why, or neither. */
import {
  stuckSentence,
  verdictOf,
  verdictOfRun,
  type PendingTask,
  type WaitingCalls,
} from '../../domain/stuck-runs.ts';

const NO_WORKER_MS = 120_000;
const task = (more: Partial<PendingTask> = {}): PendingTask => ({
  ...{ attempt: 1, failures: 0, waitsMs: null, hasWorker: true, failure: null },
  ...more,
});
const verdict = (more: Partial<PendingTask>) => verdictOf(task(more), NO_WORKER_MS);
const replay = { nondeterminism: true, message: 'TMPRL1100' };
const thrown = { nondeterminism: false, message: 'a bug' };

test('a run without an unfinished task, or with its first try of one, goes on', () => {
  expect(verdictOf(null, NO_WORKER_MS)).toBe('goes_on');
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

test('one failure, or a history that shows nothing, proves neither', () => {
  expect(verdict({ failures: 1, failure: replay })).toBe('unclear');
  expect(verdict({ attempt: 2 })).toBe('unclear');
  expect(verdict({ failures: null })).toBe('unclear');
});

const waits = (more: Partial<WaitingCalls> = {}): WaitingCalls => ({
  ...{ taskQueue: 'q', waitsMs: NO_WORKER_MS + 1, hasWorker: false },
  ...more,
});
const ofRun = (calls: readonly WaitingCalls[], of: PendingTask | null = null) =>
  verdictOfRun({ task: of, calls }, NO_WORKER_MS);

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

test.each([
  ['nondeterminism', 'does not fit its history'],
  ['task_fails', 'fail again and again'],
  ['no_worker', 'no worker polls'],
] as const)('the sentence says %s', (cause, words) => {
  const sentence = stuckSentence({ cause, since: '2026-11-29T10:00:00+00:00' });
  expect(sentence).toContain(words);
  expect(sentence).toContain('since 2026-11-29T10:00:00.000Z');
});
