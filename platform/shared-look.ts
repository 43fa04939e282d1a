/** Shares one read of an outside system between all callers at the same time or soon after. */

/**
 * Returns a function that returns the result of `look` for a key. For each key one look runs at a
 * time, and the next one starts at least `ms` milliseconds after the last one started.
 */
export function shareLooks<T>(
  ms: number,
  now: () => number = () => performance.now(),
): (key: string, look: () => Promise<T>) => Promise<T> {
  const looks = new Map<string, { readonly at: number; ended: boolean; result: Promise<T> }>();
  return (key, look) => {
    for (const [each, { at, ended }] of looks) if (ended && now() - at >= ms) looks.delete(each);
    const kept = looks.get(key);
    if (kept !== undefined) return kept.result;
    const made = { at: now(), ended: false, result: look() };
    const end = (): void => {
      made.ended = true;
    };
    made.result.then(end, end);
    looks.set(key, made);
    return made.result;
  };
}
