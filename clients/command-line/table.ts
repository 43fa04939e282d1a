/** Draws tables and records for people. Every cell is made safe for the terminal here. */
import type { Paint, Tone } from './paint.ts';
import { printable } from './printable.ts';

export interface Styled {
  readonly text: string;
  readonly tone?: Tone | undefined;
}
export type Cell = Styled | string | number | boolean | null | undefined;

/** A column: `of` returns the cell of a row; `right` aligns cells to the right, as for amounts. */
export interface Column<Row> {
  readonly title: string;
  readonly of: (row: Row) => Cell;
  readonly right?: true;
}

const NOTHING = '-';

/**
 * Returns columns under their titles, without frames, so that people and `awk` can read the table.
 * A table wider than `width` becomes one block for each row, so that no cell is cut or wrapped.
 */
export async function table<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  paint: Paint,
  width?: number,
): Promise<string> {
  if (rows.length === 0) return '';
  if (width !== undefined && naturalWidth(rows, columns) > width)
    return rows.map((row) => record(fieldsOf(row, columns), paint)).join('\n');
  const { default: Table } = await import('cli-table3');
  const drawn = new Table({
    head: columns.map(({ title }) => paint('dim', title)),
    chars: WITHOUT_FRAME,
    colAligns: columns.map(({ right }) => (right === true ? 'right' : 'left')),
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 2 },
  });
  for (const row of rows) drawn.push(columns.map((column) => shown(column.of(row), paint)));
  return `${drawn
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')}\n`;
}

const BETWEEN = 2;

function naturalWidth<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): number {
  const plain: Paint = (_tone, text) => text;
  const widths = columns.map(({ title, of }) =>
    Math.max(title.length, ...rows.map((row) => shown(of(row), plain).length)),
  );
  return widths.reduce((sum, each) => sum + each + BETWEEN, -BETWEEN);
}

/** Returns a row's cells with their column titles; empty cells are left out. */
function fieldsOf<Row>(
  row: Row,
  columns: readonly Column<Row>[],
): readonly (readonly [string, Cell])[] {
  return columns.flatMap(({ title, of }) => {
    const cell = of(row);
    const text = typeof cell === 'object' && cell !== null ? cell.text : cell;
    return text === null || text === undefined || text === '' ? [] : [[title, cell] as const];
  });
}

const FRAME = `top top-mid top-left top-right bottom bottom-mid bottom-left bottom-right
  left left-mid mid mid-mid right right-mid middle`;
const WITHOUT_FRAME = Object.fromEntries(FRAME.split(/\s+/).map((name) => [name, '']));

/** Returns one line for each field; fields that are null or undefined are left out. */
export function record(fields: readonly (readonly [string, Cell])[], paint: Paint): string {
  const present = fields.filter(([, value]) => value !== null && value !== undefined);
  const width = Math.max(0, ...present.map(([name]) => name.length)) + 2;
  return present
    .map(([name, value]) => `${paint('dim', name.padEnd(width))}${shown(value, paint)}\n`)
    .join('');
}

function shown(cell: Cell, paint: Paint): string {
  if (cell === null || cell === undefined || cell === '') return NOTHING;
  if (typeof cell !== 'object') return printable(String(cell));
  return cell.text === '' ? NOTHING : paint(cell.tone, printable(cell.text));
}
