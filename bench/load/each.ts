/**
 * How many requests are under way at once, for both sides: as many as the service's hand-over
 * sends.
 */
export const CONCURRENCY = 16;

/** Runs `work` for every item, at most `concurrency` at once; results in the order of the items. */
export async function forEach<T extends string | number, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
  concurrency = CONCURRENCY,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let index = next++; index < items.length; index = next++) {
      const item = items[index];
      if (item !== undefined) results[index] = await work(item);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, lane));
  return results;
}
