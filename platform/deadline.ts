/**
 * A time limit joined with the caller's limits. Only this file reads both clocks of a sender: the
 * monotonic one stands still while the machine is suspended.
 */
import type { CallOptions, SendOptions } from '../domain/executor.ts';
import {
  deadlineOf,
  leftToSend,
  STOPS_COUNT_SECONDS,
  tooLate,
  type Moment,
} from '../domain/send/window.ts';

/** The caller's limits: a signal and, for a send, the last moment by the wall clock. */
export type Limits = Pick<CallOptions, 'signal' | 'notAfter'>;

export interface Deadline {
  readonly signal: AbortSignal;
  /** Rejects with the signal's reason when it aborts; never resolves. */
  readonly over: Promise<never>;
  /** Returns whether the time ran out, rather than the caller's abort. */
  readonly expired: () => boolean;
  /**
   * Throws once the time is over by either clock, even if the timer has not fired yet. To be called
   * right before something is sent.
   */
  readonly check: () => void;
  /** Releases the timer and the listener on the caller's signal. */
  readonly clear: () => void;
}

/** Returns the present moment by both clocks. */
export function momentNow(): Moment {
  return { monotonic_ms: performance.now(), wall_ms: Date.now() };
}

/** Throws when the signal has aborted or the last moment has passed. */
export function checkLimits({ signal, notAfter = Infinity }: Limits): void {
  signal.throwIfAborted();
  if (Date.now() >= notAfter) throw tooLate();
}

/**
 * Returns the options of a send behind its fence, whose stops are read next: its last moment counts
 * from now. A process that is suspended after it has read the stops sends nothing hours later.
 */
export function limitedByStops(call: CallOptions): SendOptions {
  const stopsEnd = Date.now() + STOPS_COUNT_SECONDS * 1_000;
  return { ...call, notAfter: Math.min(call.notAfter ?? Infinity, stopsEnd) };
}

/**
 * Returns a deadline that aborts with the caller's signal or after `milliseconds`, and whose
 * `check` also refuses after the caller's last moment: timers count no time in which the machine is
 * suspended. Not made with `AbortSignal.any`, which keeps every joined signal in memory as long as
 * a long-lived parent.
 */
export function deadline(
  { signal: parent, notAfter = Infinity }: Limits,
  milliseconds: number,
): Deadline {
  const controller = new AbortController();
  const own = deadlineOf(momentNow(), milliseconds / 1000);
  const end = { ...own, wall_ms: Math.min(own.wall_ms, notAfter) };
  let expired = false;
  const onParent = (): void => controller.abort(parent.reason);
  const expire = (): void => {
    expired = true;
    controller.abort(new Error('time limit reached'));
  };
  const timer = setTimeout(expire, milliseconds);
  const over = new Promise<never>((_, reject) => {
    const onOver = (): void => reject(controller.signal.reason as Error);
    controller.signal.addEventListener('abort', onOver, { once: true });
  });
  // A caller that uses only the signal must not get an unhandled rejection.
  over.catch(() => undefined);
  if (parent.aborted) onParent();
  else parent.addEventListener('abort', onParent, { once: true });
  return {
    signal: controller.signal,
    over,
    expired: () => expired,
    check: () => {
      if (leftToSend(end, momentNow()) === null) expire();
      controller.signal.throwIfAborted();
    },
    clear: () => {
      clearTimeout(timer);
      parent.removeEventListener('abort', onParent);
    },
  };
}
