/** The button that saves the rows of a page as a CSV file. */
import { Button } from './button.tsx';
import { csvOf, saveFile } from './csv.ts';

export function SaveRows<Row extends object>({
  name,
  columns,
  rows,
}: {
  /** File name without its extension: `balances` becomes `balances.csv`. */
  name: string;
  columns: readonly (keyof Row & string)[];
  rows: readonly Row[];
}) {
  const text = (value: unknown): string | null =>
    value === null || value === undefined
      ? null
      : typeof value === 'string'
        ? value
        : JSON.stringify(value);
  return (
    <Button
      disabledBecause={rows.length === 0 ? 'There are no rows' : null}
      onClick={() =>
        saveFile(
          `${name}.csv`,
          csvOf(
            columns,
            rows.map((row) => columns.map((column) => text(row[column]))),
          ),
        )
      }
    >
      Save as CSV
    </Button>
  );
}
