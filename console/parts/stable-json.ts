/** JSON whose text is the same for the same value, whatever the order of its keys. Pure. */

/** Returns JSON with sorted keys; undefined for undefined. */
export function stableJson(value: unknown): string | undefined {
  return JSON.stringify(sorted(value)) as string | undefined;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, each]) => [name, sorted(each)]),
  );
}
