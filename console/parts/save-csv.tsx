/** The button that saves a list, with its filters, as a file for spreadsheets. */
import { useState } from 'react';
import type { PagedId, QueryOf, RowOf } from '../../clients/http/operations.ts';
import { theClient } from '../data/session.ts';
import { Button } from './button.tsx';
import { csvOf, saveFile } from './csv.ts';
import { Problem } from './problem.tsx';

const MOST_LINES = 10_000;

export function SaveCsv<Id extends PagedId>({
  id,
  file,
  query,
  names,
  lines,
}: {
  id: Id;
  file: string;
  query: QueryOf<Id>;
  names: readonly string[];
  /** Returns the CSV lines of a row; each line has a value for every name. */
  lines: (row: RowOf<Id>) => readonly (readonly (string | null)[])[];
}) {
  const [problem, setProblem] = useState<unknown>(null);
  const [isSaving, setSaving] = useState(false);
  const save = async (): Promise<void> => {
    setSaving(true);
    setProblem(null);
    try {
      const pages = theClient().pages as (
        id: Id,
        input: { readonly query: QueryOf<Id> },
      ) => AsyncIterable<RowOf<Id>>;
      const all: (readonly (string | null)[])[] = [];
      for await (const row of pages(id, { query })) {
        all.push(...lines(row));
        if (all.length > MOST_LINES)
          throw new Error(
            `More than ${String(MOST_LINES)} lines: filter the list before it is saved.`,
          );
      }
      saveFile(file, csvOf(names, all));
    } catch (error) {
      setProblem(error);
    } finally {
      setSaving(false);
    }
  };
  return (
    <>
      <p>
        <Button onClick={() => void save()} disabledBecause={isSaving ? 'Reading…' : null}>
          Save as CSV
        </Button>
      </p>
      <Problem error={problem} />
    </>
  );
}
