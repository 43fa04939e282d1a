/** Compares the row before a change with the row after it, field by field. Pure. */
import { stableJson } from '../../parts/stable-json.ts';

export interface ComparedField {
  /** Names that lead to the field; empty for a row without fields. */
  readonly path: readonly string[];
  /** Undefined: the field was not there before. */
  readonly before: unknown;
  /** Undefined: the field is not there after. */
  readonly after: unknown;
  readonly is: 'changed' | 'added' | 'removed' | 'same';
}

/** Returns every field of both rows, first those that differ. A list is one field. */
export function comparedFields(before: unknown, after: unknown): readonly ComparedField[] {
  return compared(before, after, []).toSorted(
    (one, other) => Number(one.is === 'same') - Number(other.is === 'same'),
  );
}

function compared(
  before: unknown,
  after: unknown,
  path: readonly string[],
): readonly ComparedField[] {
  const [was, is] = [membersOf(before), membersOf(after)];
  const areRows =
    (was ?? is) !== null && (was !== null || before == null) && (is !== null || after == null);
  if (!areRows) return [{ path, before, after, is: changeOf(before, after) }];
  return [...new Set([...(was?.keys() ?? []), ...(is?.keys() ?? [])])].flatMap((name) =>
    compared(was?.get(name), is?.get(name), [...path, name]),
  );
}

/** Returns the members of an object; null for any other value, and for an object without one. */
function membersOf(value: unknown): ReadonlyMap<string, unknown> | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const members = new Map(Object.entries(value));
  return members.size === 0 ? null : members;
}

function changeOf(before: unknown, after: unknown): ComparedField['is'] {
  if (stableJson(before) === stableJson(after)) return 'same';
  if (before === undefined) return 'added';
  return after === undefined ? 'removed' : 'changed';
}
