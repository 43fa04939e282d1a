/** A time limit joined with the caller's abort signal. */

export interface Deadline {
  readonly signal: AbortSignal;
  /** Whether the time ran out (and not the caller who aborted). */
  readonly expired: () => boolean;
  /** Releases the timer and the listener on the caller's signal. */
  readonly clear: () => void;
}

/**
 * Aborts when `parent` does or after `milliseconds`. Made by hand instead of with `AbortSignal.any`, which keeps
 * every joined signal alive as long as a long-lived parent lives.
 */
export function deadline(parent: AbortSignal, milliseconds: number): Deadline {
  const controller = new AbortController();
  let expired = false;
  const onParent = (): void => controller.abort(parent.reason);
  const timer = setTimeout(() => {
    expired = true;
    controller.abort(new Error('time limit reached'));
  }, milliseconds);
  if (parent.aborted) onParent();
  else parent.addEventListener('abort', onParent, { once: true });
  return {
    signal: controller.signal,
    expired: () => expired,
    clear: () => {
      clearTimeout(timer);
      parent.removeEventListener('abort', onParent);
    },
  };
}
