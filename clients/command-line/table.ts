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
  const lines = [
    columns.map(({ title }): Styled => ({ text: title, tone: 'dim' })),
    ...rows.map((row) => columns.map(({ of }) => shown(of(row)))),
  ];
  const natural = widthsOf(lines, columns).reduce((sum, each) => sum + each + BETWEEN, -BETWEEN);
  if (width !== undefined && natural > width)
    return rows.map((row) => record(fieldsOf(row, columns), paint)).join('\n');
  const isAscii = lines.every((line) => line.every(({ text }) => ASCII.test(text)));
  const drawn = isAscii ? padded(lines, columns, paint) : await measured(lines, columns, paint);
  return drawn.map((line) => `${line.trimEnd()}\n`).join('');
}

const BETWEEN = 2;
/** Text with one terminal column for each character. */
const ASCII = /^[ -~]*$/;

type Lines = readonly (readonly Styled[])[];

/** Returns the number of characters in the longest cell of each column. */
function widthsOf<Row>(lines: Lines, columns: readonly Column<Row>[]): readonly number[] {
  return columns.map((_, at) =>
    lines.reduce((widest, line) => Math.max(widest, line[at]?.text.length ?? 0), 0),
  );
}

/** Returns each line as text, with its cells padded to the widths of their columns. */
function padded<Row>(
  lines: Lines,
  columns: readonly Column<Row>[],
  paint: Paint,
): readonly string[] {
  const widths = widthsOf(lines, columns);
  const between = ' '.repeat(BETWEEN);
  return lines.map((line) =>
    line
      .map(({ text, tone }, at) => {
        const space = ' '.repeat((widths[at] ?? 0) - text.length);
        const cell = paint(tone, text);
        return (columns[at]?.right === true ? space + cell : cell + space) + between;
      })
      .join(''),
  );
}

/** Returns the same as `padded`, but by a library that measures wide and combining characters. */
async function measured<Row>(
  lines: Lines,
  columns: readonly Column<Row>[],
  paint: Paint,
): Promise<readonly string[]> {
  const { default: Table } = await import('cli-table3');
  const [head = [], ...rows] = lines.map((line) => line.map(({ text, tone }) => paint(tone, text)));
  const drawn = new Table({
    head,
    chars: WITHOUT_FRAME,
    colAligns: columns.map(({ right }) => (right === true ? 'right' : 'left')),
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': BETWEEN },
  });
  for (const row of rows) drawn.push(row);
  return drawn.toString().split('\n');
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
    .map(([name, value]) => {
      const { text, tone } = shown(value);
      return `${paint('dim', name.padEnd(width))}${paint(tone, text)}\n`;
    })
    .join('');
}

/** Returns the printable text of a cell, and its tone; an empty cell is shown as `-`. */
function shown(cell: Cell): Styled {
  const { text, tone }: Styled =
    typeof cell === 'object' && cell !== null ? cell : { text: String(cell ?? '') };
  return text === '' ? { text: NOTHING } : { text: printable(text), tone };
}
