/** A time limit joined with the caller's own signal. Nothing here waits for a clock. */
import { jest } from '@jest/globals';
import { checkLimits, deadline } from '../../platform/deadline.ts';

const LONG_MS = 3_600_000;

test('ends with the caller, with the caller’s reason, and did not run out', async () => {
  const caller = new AbortController();
  const limit = deadline(caller, LONG_MS);
  expect([limit.signal.aborted, limit.expired()]).toEqual([false, false]);
  limit.check();
  caller.abort(new Error('the caller went'));
  await expect(limit.over).rejects.toThrow('the caller went');
  expect(() => limit.check()).toThrow('the caller went');
  expect(limit.expired()).toBe(false);
  limit.clear();
});

test('is over from the start where the caller has gone already', () => {
  const limit = deadline({ signal: AbortSignal.abort(new Error('gone')) }, LONG_MS);
  expect(limit.signal.aborted).toBe(true);
  expect(() => limit.check()).toThrow('gone');
  limit.clear();
});

test('is over by the clock before a timer has said so', async () => {
  const limit = deadline(new AbortController(), 0);
  expect(limit.signal.aborted).toBe(false);
  expect(() => limit.check()).toThrow('time limit reached');
  expect([limit.signal.aborted, limit.expired()]).toEqual([true, true]);
  await expect(limit.over).rejects.toThrow('time limit reached');
  limit.clear();
});

test('runs out by its timer too', async () => {
  const limit = deadline(new AbortController(), 1);
  await expect(limit.over).rejects.toThrow('time limit reached');
  expect(limit.expired()).toBe(true);
  limit.clear();
});

test('lets go of the caller once it is cleared', () => {
  const caller = new AbortController();
  const limit = deadline(caller, LONG_MS);
  limit.clear();
  caller.abort();
  expect(limit.signal.aborted).toBe(false);
});

describe('by both clocks', () => {
  const start = { monotonic: performance.now(), wall: Date.now() };
  /** Both clocks so many milliseconds after the start, by each. */
  function after({ monotonic, wall }: { monotonic: number; wall: number }): void {
    jest.spyOn(performance, 'now').mockReturnValue(start.monotonic + monotonic);
    jest.spyOn(Date, 'now').mockReturnValue(start.wall + wall);
  }
  afterEach(() => jest.restoreAllMocks());
  const { signal } = new AbortController();
  const limited = (notAfter?: number) =>
    deadline({ signal, ...(notAfter === undefined ? {} : { notAfter }) }, LONG_MS);

  test.each([
    ['the machine was suspended', { monotonic: 1, wall: LONG_MS }],
    ['the wall clock was set forward', { monotonic: 1, wall: 2 * LONG_MS }],
    ['the wall clock was set back', { monotonic: LONG_MS, wall: -LONG_MS }],
  ])('is over when %s', (_, passed) => {
    after({ monotonic: 0, wall: 0 });
    const limit = limited();
    after({ monotonic: LONG_MS - 1, wall: LONG_MS - 1 });
    limit.check();
    after(passed);
    expect(() => limit.check()).toThrow('time limit reached');
    expect(limit.expired()).toBe(true);
    limit.clear();
  });

  test('is over at the last moment of the caller, whose signal aborts late after a suspension', () => {
    after({ monotonic: 0, wall: 0 });
    const limits = { signal, notAfter: start.wall + 10 };
    const limit = limited(limits.notAfter);
    after({ monotonic: 9, wall: 9 });
    limit.check();
    checkLimits(limits);
    after({ monotonic: 9, wall: 10 });
    expect(() => limit.check()).toThrow('time limit reached');
    expect(() => checkLimits(limits)).toThrow('the time to send has passed');
    limit.clear();
  });
});
