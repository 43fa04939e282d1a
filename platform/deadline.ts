/** A time limit joined with the caller's abort signal. */

export interface Deadline {
  readonly signal: AbortSignal;
  /** Rejects with the signal's reason when it aborts; never resolves. */
  readonly over: Promise<never>;
  /** Returns whether the time ran out, rather than the caller's abort. */
  readonly expired: () => boolean;
  /** Throws once the time is over by the clock, even if the timer has not fired yet. */
  readonly check: () => void;
  /** Releases the timer and the listener on the caller's signal. */
  readonly clear: () => void;
}

/**
 * Returns a deadline that aborts with `parent` or after `milliseconds`. Not made with
 * `AbortSignal.any`, which keeps every joined signal in memory as long as a long-lived parent.
 */
export function deadline(parent: AbortSignal, milliseconds: number): Deadline {
  const controller = new AbortController();
  const end = performance.now() + milliseconds;
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
      if (performance.now() >= end) expire();
      controller.signal.throwIfAborted();
    },
    clear: () => {
      clearTimeout(timer);
      parent.removeEventListener('abort', onParent);
    },
  };
}
