/** Formats values of answers as text; a missing value becomes an empty text. */
import { argumentOf } from '../command-line/command.ts';
import type { Column } from '../command-line/table.ts';
import { isObject } from '../http/answer.ts';

/** Returns the value at a path of an object as text; the items of a list are joined. */
export function wordOf(value: unknown, ...path: readonly string[]): string {
  const found = path.reduce<unknown>(
    (at, name) => (isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined),
    value,
  );
  if (Array.isArray(found)) return found.map((each) => wordOf(each)).join(', ');
  if (typeof found === 'string') return found;
  return found === null || found === undefined ? '' : JSON.stringify(found);
}

/** Returns the objects in the list field `name` of an answer; other items are left out. */
export function rowsOf(answer: unknown, name: string): readonly object[] {
  const rows = isObject(answer) ? answer[name] : undefined;
  return Array.isArray(rows) ? rows.filter((row) => isObject(row)) : [];
}

/** Formats the maximum amounts that can move: `250.5 USDC`. */
export function outflowOf(movement: unknown): string {
  return rowsOf(movement, 'outflow')
    .map((row) => `${wordOf(row, 'amount') || 'UNBOUNDED'} ${wordOf(row, 'asset')}`)
    .join(', ');
}

type Path = string | ((row: unknown) => string);

/** Returns columns that show the values at these paths; `a.b` is field `b` of object `a`. */
export function wordsAt(
  paths: Readonly<Record<string, Path | { readonly right: string }>>,
): readonly Column<unknown>[] {
  const at = (path: string) => (row: unknown) => wordOf(row, ...path.split('.'));
  return Object.entries(paths).map(([title, path]) => {
    if (typeof path === 'object') return { title, of: at(path.right), right: true };
    return { title, of: typeof path === 'string' ? at(path) : path };
  });
}

/** Returns the options with the field names of the API: `chain_id` for `chainId`. */
export function namedForApi(options: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(options).map(([name, value]) => [argumentOf(name).replaceAll('-', '_'), value]),
  );
}
