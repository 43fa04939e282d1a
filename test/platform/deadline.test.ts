/** A time limit joined with the caller's own signal. Nothing here waits for a clock. */
import { deadline } from '../../platform/deadline.ts';

const LONG_MS = 3_600_000;

test('ends with the caller, with the caller’s reason, and did not run out', async () => {
  const caller = new AbortController();
  const limit = deadline(caller.signal, LONG_MS);
  expect([limit.signal.aborted, limit.expired()]).toEqual([false, false]);
  limit.check();
  caller.abort(new Error('the caller went'));
  await expect(limit.over).rejects.toThrow('the caller went');
  expect(() => limit.check()).toThrow('the caller went');
  expect(limit.expired()).toBe(false);
  limit.clear();
});

test('is over from the start where the caller has gone already', () => {
  const limit = deadline(AbortSignal.abort(new Error('gone')), LONG_MS);
  expect(limit.signal.aborted).toBe(true);
  expect(() => limit.check()).toThrow('gone');
  limit.clear();
});

test('is over by the clock before a timer has said so', async () => {
  const limit = deadline(new AbortController().signal, 0);
  expect(limit.signal.aborted).toBe(false);
  expect(() => limit.check()).toThrow('time limit reached');
  expect([limit.signal.aborted, limit.expired()]).toEqual([true, true]);
  await expect(limit.over).rejects.toThrow('time limit reached');
  limit.clear();
});

test('runs out by its timer too', async () => {
  const limit = deadline(new AbortController().signal, 1);
  await expect(limit.over).rejects.toThrow('time limit reached');
  expect(limit.expired()).toBe(true);
  limit.clear();
});

test('lets go of the caller once it is cleared', () => {
  const caller = new AbortController();
  const limit = deadline(caller.signal, LONG_MS);
  limit.clear();
  caller.abort();
  expect(limit.signal.aborted).toBe(false);
});
