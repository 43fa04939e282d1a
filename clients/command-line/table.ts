/** Tables and records as people read them. Every cell is made printable here. */
import { toneOf, type Paint, type Tone } from './paint.ts';
import { printable } from './printable.ts';
import { age, when } from './times.ts';

export interface Styled {
  readonly text: string;
  readonly tone?: Tone | undefined;
}
export type Cell = Styled | string | number | boolean | null | undefined;

type FieldOf<Row> = {
  [K in keyof Row]-?: Row[K] extends Cell ? K : never;
}[keyof Row];
type TextOf<Row> = {
  [K in keyof Row]-?: Row[K] extends string | null | undefined ? K : never;
}[keyof Row];
type Made<Row> = FieldOf<Row> | ((row: Row) => Cell);

/**
 * How a cell is made of a row: its field of that name, or what a function makes of it. `right`: its
 * right end stands under the others', as amounts do; `state` in its colour; `when` the time, and
 * `age` how long ago.
 */
type Show<Row> = Made<Row> | { readonly right: Made<Row> } | Drawn<Row>;
type Drawn<Row> =
  { readonly state: TextOf<Row> } | { readonly when: TextOf<Row> } | { readonly age: TextOf<Row> };

/** Titles with what stands under them, in their order. */
export type Columns<Row> = Readonly<Record<string, Show<Row>>>;

export interface Column<Row> {
  readonly title: string;
  readonly of: (row: Row) => Cell;
  readonly right?: true;
}

/** The columns with the functions that make their cells. */
export function columnsOf<Row>(columns: Columns<Row>): readonly Column<Row>[] {
  return Object.entries(columns).map(([title, show]) =>
    typeof show === 'object' && 'right' in show
      ? { title, of: cellOf(show.right), right: true }
      : { title, of: cellOf(show) },
  );
}

function cellOf<Row>(show: Made<Row> | Drawn<Row>): (row: Row) => Cell {
  if (typeof show === 'function') return show;
  // The types let in fields that are cells, and texts behind `state`, `when` and `age`.
  const field = (name: keyof Row) => (row: Row) => row[name] as Cell;
  if (typeof show !== 'object') return field(show);
  const text = (name: keyof Row) => (row: Row) => row[name] as string | null | undefined;
  if ('state' in show) return (row) => state(text(show.state)(row));
  if ('when' in show) return (row) => when(text(show.when)(row)) || null;
  return (row) => age(text(show.age)(row)) || null;
}

/** A state in its colour. */
export function state(text: string | null | undefined): Styled {
  return { text: text ?? '', tone: toneOf(text ?? '') };
}

const NOTHING = '-';

/**
 * Columns under their titles, without frames, so that `awk` and people both can read it. Where that
 * is wider than `width`, a block for each row: no cell is cut, and no address broken by a column.
 */
export async function table<Row>(
  rows: readonly Row[],
  given: Columns<Row> | readonly Column<Row>[],
  paint: Paint,
  width?: number,
): Promise<string> {
  const columns = isList(given) ? given : columnsOf(given);
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

const isList = <Row>(
  columns: Columns<Row> | readonly Column<Row>[],
): columns is readonly Column<Row>[] => Array.isArray(columns);

const BETWEEN = 2;

function naturalWidth<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): number {
  const plain: Paint = (_tone, text) => text;
  const widths = columns.map(({ title, of }) =>
    Math.max(title.length, ...rows.map((row) => shown(of(row), plain).length)),
  );
  return widths.reduce((sum, each) => sum + each + BETWEEN, -BETWEEN);
}

/** What a row has, by its column's title; a cell that is empty has no line. */
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

const WITHOUT_FRAME = Object.fromEntries(
  [
    'top',
    'top-mid',
    'top-left',
    'top-right',
    'bottom',
    'bottom-mid',
    'bottom-left',
    'bottom-right',
    'left',
    'left-mid',
    'mid',
    'mid-mid',
    'right',
    'right-mid',
    'middle',
  ].map((name) => [name, '']),
);

/** The fields of a record that come from one row. */
export function fieldsFrom<Row>(
  row: Row,
  columns: Columns<Row>,
): readonly (readonly [string, Cell])[] {
  return columnsOf(columns).map(({ title, of }) => [title, of(row)]);
}

/** A line for each field that there is; what is null is left out. */
export function record(fields: readonly (readonly [string, Cell])[], paint: Paint): string {
  const given = fields.filter(([, value]) => value !== null && value !== undefined);
  const width = Math.max(0, ...given.map(([name]) => name.length)) + 2;
  return given
    .map(([name, value]) => `${paint('dim', name.padEnd(width))}${shown(value, paint)}\n`)
    .join('');
}

function shown(cell: Cell, paint: Paint): string {
  if (cell === null || cell === undefined || cell === '') return NOTHING;
  if (typeof cell !== 'object') return printable(String(cell));
  return cell.text === '' ? NOTHING : paint(cell.tone, printable(cell.text));
}
