/** Draws tables, records and graphs for one output stream, with colours if that stream has them. */
import { printable } from './printable.ts';
import { toneOf, type Paint } from './paint.ts';
import { columnsOf, type Columns } from './columns.ts';
import { record, table, type Cell } from './table.ts';

export { state } from './columns.ts';

export class View {
  readonly paint: Paint;

  readonly #width: number | undefined;

  /** `width`: maximum characters on a line; undefined means no limit. */
  constructor(paint: Paint, width?: number) {
    this.paint = paint;
    this.#width = width;
  }

  /** Returns a table, or one block for each row if the table is too wide; '' without rows. */
  table<Row>(rows: readonly Row[], columns: Columns<Row>): Promise<string> {
    return table(rows, columnsOf(columns), this.paint, this.#width);
  }

  /** Returns one line for each field; null and undefined fields are left out. */
  record(fields: readonly (readonly [string, Cell])[]): string {
    return record(fields, this.paint);
  }

  /** Returns one line for each column of the row; null and undefined cells are left out. */
  fields<Row>(row: Row, columns: Columns<Row>): string {
    return this.record(columnsOf(columns).map(({ title, of }) => [title, of(row)]));
  }

  /** Returns the lines of a graph as text, with each state in its colour. */
  graph(lines: readonly string[]): string {
    return lines
      .map((line) =>
        printable(line)
          .trimEnd()
          .replace(STATE, (word) => this.paint(toneOf(word), word)),
      )
      .map((line) => `${line}\n`)
      .join('');
  }

  /** Returns a heading, with an empty line before it. */
  heading(text: string): string {
    return `\n${this.paint('strong', printable(text))}\n`;
  }
}

const STATE = /(?<=\s)[A-Z_]{4,}(?=\s|$)/g;
