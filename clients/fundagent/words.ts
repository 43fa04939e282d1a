/** Values of answers as words; what is not there is no word. */
import { argumentOf } from '../command-line/command.ts';
import type { Column } from '../command-line/table.ts';
import { isObject } from '../http/answer.ts';

/** The value at a path of an object; lists are joined. */
export function wordOf(value: unknown, ...path: readonly string[]): string {
  const found = path.reduce<unknown>(
    (at, name) => (isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined),
    value,
  );
  if (Array.isArray(found)) return found.map((each) => wordOf(each)).join(', ');
  if (typeof found === 'string') return found;
  return found === null || found === undefined ? '' : JSON.stringify(found);
}

/** The objects of a list of an answer. */
export function rowsOf(answer: unknown, name: string): readonly object[] {
  const rows = isObject(answer) ? answer[name] : undefined;
  return Array.isArray(rows) ? rows.filter((row) => isObject(row)) : [];
}

/** What moves at most: `250.5 USDC`. */
export function outflowOf(movement: unknown): string {
  return rowsOf(movement, 'outflow')
    .map((row) => `${wordOf(row, 'amount') || 'UNBOUNDED'} ${wordOf(row, 'asset')}`)
    .join(', ');
}

type Path = string | ((row: unknown) => string);

/** Columns of the words at these paths, `a.b` for a field of an object. */
export function wordsAt(
  paths: Readonly<Record<string, Path | { readonly right: string }>>,
): readonly Column<unknown>[] {
  const at = (path: string) => (row: unknown) => wordOf(row, ...path.split('.'));
  return Object.entries(paths).map(([title, path]) => {
    if (typeof path === 'object') return { title, of: at(path.right), right: true };
    return { title, of: typeof path === 'string' ? at(path) : path };
  });
}

/** Options by the names of the API: `chainId` is `chain_id`. */
export function namedForApi(options: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(options).map(([name, value]) => [argumentOf(name).replaceAll('-', '_'), value]),
  );
}
