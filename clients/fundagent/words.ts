/** Values of answers as words; what is not there is no word. */
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
