/** Draws for one stream, in its colours. */
import { printable } from './printable.ts';
import { toneOf, type Paint } from './paint.ts';
import { columnsOf, type Columns } from './columns.ts';
import { record, table, type Cell } from './table.ts';

export { state } from './columns.ts';

export class View {
  readonly paint: Paint;

  readonly #width: number | undefined;

  /** `width`: how many characters fit on a line; undefined: as many as there are. */
  constructor(paint: Paint, width?: number) {
    this.paint = paint;
    this.#width = width;
  }

  /** Columns under their titles, or a block for each row where they do not fit; empty without. */
  table<Row>(rows: readonly Row[], columns: Columns<Row>): Promise<string> {
    return table(rows, columnsOf(columns), this.paint, this.#width);
  }

  /** A line for each field that there is. */
  record(fields: readonly (readonly [string, Cell])[]): string {
    return record(fields, this.paint);
  }

  /** A line for each field of the row that there is. */
  fields<Row>(row: Row, columns: Columns<Row>): string {
    return this.record(columnsOf(columns).map(({ title, of }) => [title, of(row)]));
  }

  /** Lines of a drawn graph, each state in its colour. */
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

  /** A heading over what follows. */
  heading(text: string): string {
    return `\n${this.paint('strong', printable(text))}\n`;
  }
}

const STATE = /(?<=\s)[A-Z_]{4,}(?=\s|$)/g;
