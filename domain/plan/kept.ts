/** Keeps what is computed from objects that never change, such as plans, while they live. */

/**
 * Returns `compute` with its last result for each first argument. A result is returned again only
 * for the very same objects, so `compute` must read nothing but its arguments, and neither
 * arguments nor results may be changed.
 */
export function kept<Key extends object, More extends readonly unknown[], Result>(
  compute: (key: Key, ...more: More) => Result,
): (key: Key, ...more: More) => Result {
  const results = new WeakMap<Key, { readonly more: More; readonly result: Result }>();
  return (key, ...more) => {
    const known = results.get(key);
    if (known !== undefined && known.more.every((each, at) => each === more[at]))
      return known.result;
    const result = compute(key, ...more);
    results.set(key, { more, result });
    return result;
  };
}

/** Freezes a JSON value at every depth, and returns it. */
export function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const each of Object.values(value) as unknown[]) frozen(each);
  Object.freeze(value);
  return value;
}
