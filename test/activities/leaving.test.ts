/** How calls end: by themselves, with an error, at their time limit, or with their worker. */
import { setTimeout as sleep } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { Context } from '@temporalio/activity';
import { withDeadline } from '../../activities/call.ts';
import { Leaving } from '../../activities/leaving.ts';
import { repeatableCall } from '../../activities/phases/phase.ts';
import { ServiceError } from '../../domain/errors.ts';
import { ExecutorFault, type CallOptions } from '../../domain/executor.ts';
import { deadlineOf } from '../../domain/send/window.ts';
import { deadline, momentNow } from '../../platform/deadline.ts';
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

/** The last moment of a window that starts now. */
const within = (seconds: number) => deadlineOf(momentNow(), seconds);

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
  const options = { signal: new AbortController().signal };
  const late = await withDeadline(options, within(0.02), async (limited) => {
    await sleep(60);
    return limited;
  });
  expect(late.signal.aborted).toBe(true);
  expect(late.notAfter).toBeLessThanOrEqual(Date.now());
});

test('a send ends with its activity', async () => {
  const activity = new AbortController();
  const signal = await withDeadline({ signal: activity.signal }, within(3_600), async (limited) => {
    activity.abort(new Error('cancelled'));
    return limited.signal;
  });
  expect(signal.reason).toMatchObject({ message: 'cancelled' });
});

test('what comes after the end of a send does not abort its signal', async () => {
  const activity = new AbortController();
  const signal = await withDeadline(
    { signal: activity.signal },
    within(0.02),
    async (limited) => limited.signal,
  );
  activity.abort();
  await sleep(60);
  expect(signal.aborted).toBe(false);
});

describe('a machine that was suspended', () => {
  afterEach(() => jest.restoreAllMocks());

  /** The wall clock goes on; the monotonic clock and the timers stand still. */
  function suspend(ms: number): void {
    const wall_ms = Date.now() + ms;
    jest.spyOn(Date, 'now').mockReturnValue(wall_ms);
  }
  const options = { signal: new AbortController().signal };

  test('after the fence makes no send', async () => {
    const [until, sent] = [within(60), jest.fn<() => Promise<void>>()];
    suspend(60_000);
    await expect(withDeadline(options, until, sent)).rejects.toMatchObject({
      code: 'SEND_TOO_LATE',
    });
    expect(sent).not.toHaveBeenCalled();
  });

  test('within a send opens no new window for its last request', async () => {
    await withDeadline(options, within(60), async (limited) => {
      suspend(60_000);
      expect(limited.signal.aborted).toBe(false);
      const request = deadline(limited, 30_000);
      expect(() => request.check()).toThrow('time limit reached');
      request.clear();
    });
  });

  test('right before its call keeps the last moment that was read with the time left', async () => {
    const [until, wall_ms] = [within(60), Date.now()];
    // The machine is suspended as soon as both clocks were read.
    jest
      .spyOn(Date, 'now')
      .mockReturnValueOnce(wall_ms)
      .mockReturnValue(wall_ms + 3_600_000);
    const notAfter = await withDeadline(options, until, async (limited) => limited.notAfter);
    expect(notAfter).toBeLessThanOrEqual(until.wall_ms + 1);
  });
});

/** Makes a call of a node's executor; returns what it throws, and the errors that are logged. */
async function failing(call: (options: CallOptions) => Promise<never>, signal?: AbortSignal) {
  const logged: unknown[] = [];
  const deps = { log: { error: ({ err }: { err: unknown }) => logged.push(err) } };
  const thrown = await inActivity(() => {
    if (signal !== undefined) Reflect.set(Context.current(), 'cancellationSignal', signal);
    return repeatableCall(deps as never, {} as never, call);
  }).catch((error: unknown) => error);
  return { thrown, logged };
}

test("an unexpected error of an executor's code is a fault, and the log has the error", async () => {
  const defect = new TypeError('x is not a function');
  const { thrown, logged } = await failing(() => {
    throw defect;
  });
  expect(thrown).toBeInstanceOf(ExecutorFault);
  expect(thrown).toMatchObject({ kind: 'protocol', code: 'EXECUTOR_BROKE', cause: defect });
  expect((thrown as Error).message).not.toContain('x is not');
  expect(logged).toEqual([defect]);
});

test.each([
  ['its own fault', new ExecutorFault('rejected', 'NO', 'no')],
  ['our database that is away', new ServiceError('dependency_unavailable')],
  ['a deadlock', Object.assign(new Error('deadlock detected'), { code: '40P01' })],
])('an error stays as it is where it says: %s', async (_what, error) => {
  const { thrown, logged } = await failing(() => Promise.reject(error));
  expect(thrown).toBe(error);
  expect(logged).toEqual([]);
});

test('an error of a call whose activity was cancelled stays as it is', async () => {
  const [activity, error] = [new AbortController(), new Error('the socket was closed')];
  const { thrown } = await failing(() => {
    activity.abort(new Error('cancelled'));
    return Promise.reject(error);
  }, activity.signal);
  expect(thrown).toBe(error);
});
