/**
 * Calls `work` for every item, `atOnce` at a time; resolves when all have settled. Never rejects.
 */
export async function settleEach<T, R>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<R>,
): Promise<readonly PromiseSettledResult<R>[]> {
  const results: PromiseSettledResult<R>[] = [];
  const entries = items.entries();
  const lane = async (): Promise<void> => {
    for (const [index, item] of entries) [results[index]] = await settled(work(item));
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, lane));
  return results;
}

/** Throws the reason of the first that was rejected, if any was. */
export function throwFirst(outcomes: readonly PromiseSettledResult<unknown>[]): void {
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

async function settled<R>(work: Promise<R>): Promise<[PromiseSettledResult<R>]> {
  const [result] = await Promise.allSettled([work]);
  return [result];
}
