/** Looks at something outside, shared by all who ask meanwhile and by who asks soon after. */

/**
 * Answers what `look` gives for a key. For each key one look is under way at a time, and a new one
 * begins at least `ms` after the one before began.
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
