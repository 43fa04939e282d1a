/** Limits the wait for work that may never end. */

/** The work did not end in time. It may still be running; its result is dropped. */
export class TimeLimitError extends Error {
  override readonly name = 'TimeLimitError';
}

/**
 * Returns the result of `work`, or throws {@link TimeLimitError} after `milliseconds`. A later
 * failure of `work` is dropped too.
 */
export async function within<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new TimeLimitError(`no answer within ${milliseconds} ms`)),
      milliseconds,
    );
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
