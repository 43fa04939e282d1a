/** Describes table columns by the row fields that they show. */
import { toneOf } from './paint.ts';
import type { Cell, Column, Styled } from './table.ts';
import { age, when } from './times.ts';

type FieldOf<Row> = {
  [K in keyof Row]-?: Row[K] extends Cell ? K : never;
}[keyof Row];
type TextOf<Row> = {
  [K in keyof Row]-?: Row[K] extends string | null | undefined ? K : never;
}[keyof Row];
type Made<Row> = FieldOf<Row> | ((row: Row) => Cell);

/**
 * How a cell is made from a row: the name of a row field, or a function of the row. `right` aligns
 * the cell to the right, as for amounts. `state` shows a state in its colour, `when` a time, and
 * `age` how long ago a time was.
 */
type Show<Row> = Made<Row> | { readonly right: Made<Row> } | Drawn<Row>;
type Drawn<Row> =
  { readonly state: TextOf<Row> } | { readonly when: TextOf<Row> } | { readonly age: TextOf<Row> };

/** Columns in display order: each title, with the description of the cells below the title. */
export type Columns<Row> = Readonly<Record<string, Show<Row>>>;

/** Returns the columns with the functions that make their cells. */
export function columnsOf<Row>(columns: Columns<Row>): readonly Column<Row>[] {
  return Object.entries(columns).map(([title, show]) =>
    typeof show === 'object' && 'right' in show
      ? { title, of: cellOf(show.right), right: true }
      : { title, of: cellOf(show) },
  );
}

function cellOf<Row>(show: Made<Row> | Drawn<Row>): (row: Row) => Cell {
  if (typeof show === 'function') return show;
  // The casts are safe: the types allow only cell fields, and text fields for state, when and age.
  const field = (name: keyof Row) => (row: Row) => row[name] as Cell;
  if (typeof show !== 'object') return field(show);
  const text = (name: keyof Row) => (row: Row) => row[name] as string | null | undefined;
  if ('state' in show) return (row) => state(text(show.state)(row));
  if ('when' in show) return (row) => when(text(show.when)(row)) || null;
  return (row) => age(text(show.age)(row)) || null;
}

/** Returns a cell that shows a state in its colour. */
export function state(text: string | null | undefined): Styled {
  return { text: text ?? '', tone: toneOf(text ?? '') };
}
