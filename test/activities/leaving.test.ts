/** How calls end: by themselves, at their time limit, or with their worker. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { withDeadline } from '../../activities/call.ts';
import { Leaving } from '../../activities/leaving.ts';
import type { CallOptions } from '../../domain/executor.ts';
import { inActivity } from '../support/activity-environment.ts';

/** A call that never ends and ignores its signal, with the options of each time it was made. */
function deafCall() {
  const made: CallOptions[] = [];
  const call = (options: CallOptions): Promise<never> => {
    made.push(options);
    return new Promise(() => undefined);
  };
  return { call, made };
}

test('a repeatable call that ignores its signal ends at its time limit', async () => {
  const { call, made } = deafCall();
  const running = inActivity(() => new Leaving().repeatable(call, 0.02));
  await expect(running).rejects.toMatchObject({ kind: 'timeout', code: 'EXECUTOR_TIMEOUT' });
  const [options] = made;
  expect(options?.signal.aborted).toBe(true);
  expect(options?.notAfter).toBeLessThan(Date.now() + 1_000);
});

test('a stopping worker abandons a repeatable call, and makes no other', async () => {
  const [leaving, { call, made }] = [new Leaving(), deafCall()];
  const running = inActivity(() => leaving.repeatable(call));
  while (made.length === 0) await sleep(1);
  leaving.leave();
  await expect(running).rejects.toMatchObject({ type: 'NOT_YET' });
  const [options] = made;
  expect(options?.signal.aborted).toBe(true);
  // Without a time limit, another process may send for as long as the call runs.
  expect(options?.notAfter).toBeUndefined();
  const next = inActivity(() => leaving.repeatable(call, 0.02));
  await expect(next).rejects.toMatchObject({ type: 'NOT_YET' });
  expect(made).toHaveLength(1);
});

test('what comes after the end of a repeatable call does not abort its signal', async () => {
  const leaving = new Leaving();
  const signal = await inActivity(() =>
    leaving.repeatable(async (options) => options.signal, 0.02),
  );
  leaving.leave();
  await sleep(60);
  expect(signal.aborted).toBe(false);
});

test('the signal of a repeatable call aborts with its activity, and its answer counts', async () => {
  const activity = new AbortController();
  const signal = await inActivity(() => {
    Reflect.set(Context.current(), 'cancellationSignal', activity.signal);
    return new Leaving().repeatable(async (options) => {
      activity.abort(new Error('cancelled'));
      return options.signal;
    });
  });
  expect(signal.reason).toMatchObject({ message: 'cancelled' });
});

test('a send is waited for after its time limit, though its signal has aborted', async () => {
  const late = await withDeadline({ signal: new AbortController().signal }, 5, async (limited) => {
    await sleep(60);
    return limited;
  });
  expect(late.signal.aborted).toBe(true);
  expect(late.notAfter).toBeLessThanOrEqual(Date.now());
});

test('a send ends with its activity', async () => {
  const activity = new AbortController();
  const signal = await withDeadline({ signal: activity.signal }, 3_600_000, async (limited) => {
    activity.abort(new Error('cancelled'));
    return limited.signal;
  });
  expect(signal.reason).toMatchObject({ message: 'cancelled' });
});

test('what comes after the end of a send does not abort its signal', async () => {
  const activity = new AbortController();
  const signal = await withDeadline(
    { signal: activity.signal },
    20,
    async (limited) => limited.signal,
  );
  activity.abort();
  await sleep(60);
  expect(signal.aborted).toBe(false);
});
