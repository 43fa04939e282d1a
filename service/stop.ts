/** Stops a process; docs/operations.md describes this for operators. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { nameOf, type Leaving } from '../activities/leaving.ts';
import { loopsAtWork, type Loop } from '../platform/loop.ts';
import { TimeLimitError, within } from '../platform/time-limit.ts';
import type { Parts, Stops } from './parts.ts';

/** Exit status of a process that cut running work; its last log line lists the cut work. */
const EXIT_CUT = 3;
/**
 * A second signal within this time counts as the same signal: npm forwards a signal that the
 * terminal has already sent.
 */
const SAME_SIGNAL_MS = 1_000;
/** Longest time to close one connection that is no longer used. */
const CLOSE_MS = 5_000;
/** Time to record an answer after the longest call. */
export const RECORD_SECONDS = 5;

export function createStops(): Stops {
  return { stopping: false, work: [], connections: [], listener: null };
}

/**
 * Returns how long a stop waits for a worker: the longest call that can be running, plus the time
 * to record its answer.
 */
export function workStopSeconds({
  executors,
  venues,
}: Pick<Parts['bound'], 'executors' | 'venues'>): number {
  const called = executors.list().filter(({ kind }) => kind !== 'task_queue');
  const longest = [...called, ...venues.transferProviders].map((each) => each.timeout_seconds);
  return Math.ceil(Math.max(0, ...longest)) + RECORD_SECONDS;
}

/**
 * Stops the process on SIGTERM, SIGINT, SIGHUP or the end of the parent process: reports the stop,
 * takes no more work, finishes what runs, exits. A second signal exits immediately.
 */
export function stopOnSignal(options: {
  readonly stops: Stops;
  readonly leaving: Leaving;
  readonly drainSeconds: number;
  readonly log: Logger;
}): void {
  const { stops, leaving, drainSeconds, log } = options;
  const hurry = new AbortController();
  let first: number | null = null;
  const stop = (why: string): void => {
    first = performance.now();
    stops.stopping = true;
    log.info({ why, drain_seconds: drainSeconds }, 'the process stops and takes no more work');
    const drained = sleep(drainSeconds * 1_000, undefined, { signal: hurry.signal });
    void endParts(
      stops,
      log,
      drained.catch(() => undefined),
    ).then((cut) => {
      if (cut.length > 0)
        log.error({ cut }, 'the process ends; work that did not finish in time was cut');
      else log.info('the process ends; nothing was cut');
      process.exit(cut.length > 0 ? EXIT_CUT : 0);
    });
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (first === null) {
        stop(signal);
      } else if (performance.now() - first > SAME_SIGNAL_MS) {
        const left_to_recovery = leaving.sends.map(nameOf);
        log.error({ left_to_recovery }, `a second signal, ${signal}, ends the process at once`);
        process.exit(EXIT_CUT);
      }
    });
  }
  // The parent process has ended, and with it the callers that it sent here, so the drain time is
  // skipped.
  process.on('disconnect', () => {
    hurry.abort();
    if (first === null) stop('the parent process has gone');
  });
}

/**
 * Stops loops and then their leases; returns what was cut, which is nothing. A turn that lasts
 * longer ends with the process, as at a crash: each write of a loop is one transaction that
 * compares, and what it sends is stored before, so another process just does the work again.
 */
export async function endLoops(
  loops: readonly Pick<Loop, 'stop'>[],
  options: {
    readonly leases: Pick<Loop, 'stop'>;
    readonly milliseconds: number;
    readonly log: Logger;
  },
): Promise<readonly string[]> {
  const { leases, milliseconds, log } = options;
  try {
    await within(Promise.all(loops.map((loop) => loop.stop())), milliseconds);
  } catch (error) {
    if (!(error instanceof TimeLimitError)) throw error;
    log.warn({ loops: loopsAtWork() }, 'turns of loops did not end in time; they are done again');
  }
  // Last: otherwise another process would start the same work while it still runs here.
  await leases.stop();
  return [];
}

/** Stops all work, then closes connections, then the operations listener; returns what was cut. */
export async function endParts(
  stops: Stops,
  log: Logger,
  drained: Promise<void>,
): Promise<readonly string[]> {
  const cut = await Promise.all(
    stops.work.map(async ({ name, stop }) => {
      try {
        return await stop(drained);
      } catch (error) {
        log.error({ err: error, part: name }, 'a part did not stop cleanly');
        return [name];
      }
    }),
  );
  const closing = [...stops.connections].reverse();
  for (const close of [...closing, ...(stops.listener === null ? [] : [stops.listener])])
    await within(close(), CLOSE_MS).catch((error: unknown) => {
      log.warn({ err: error }, 'a connection did not close cleanly');
    });
  return cut.flat();
}
