/** Waiting for something that may never answer. */

/** The work did not end in time. It may still be going on; its answer is dropped. */
export class TimeLimitError extends Error {
  override readonly name = 'TimeLimitError';
}

/**
 * The result of `work`, or {@link TimeLimitError} after `milliseconds`. A late failure is dropped
 * too.
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
