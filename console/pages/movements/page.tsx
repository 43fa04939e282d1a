/** Every movement, by filters that stand in the address. */
import { useState } from 'react';
import type { QueryOf, RowOf } from '../../../clients/http/operations.ts';
import { useRows } from '../../data/reads.ts';
import { theClient } from '../../data/session.ts';
import { Button } from '../../parts/button.tsx';
import { csvOf, saveFile } from '../../parts/csv.ts';
import { Filters, useFilters, type Filter } from '../../parts/filters.tsx';
import { MOVEMENT_COLUMNS } from '../../parts/movement-values.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Table } from '../../parts/table.tsx';

const STATES = [
  'PENDING_APPROVAL',
  'APPROVED',
  'EXECUTING',
  'WAITING_MANUAL_ACTION',
  'MANUAL_INTERVENTION',
  'COMPLETED',
  'FAILED',
  'CANCELLED',
  'REJECTED',
  'EXPIRED',
] as const satisfies readonly RowOf<'listMovements'>['request_state'][];
const FILTERS: readonly Filter[] = [
  { name: 'state', label: 'State', options: STATES },
  { name: 'needs_attention', label: 'Needs a person', options: ['true'] },
  { name: 'asset', label: 'Asset' },
  { name: 'template_key', label: 'Template' },
  { name: 'strategy_id', label: 'Strategy' },
];
const MOST_IN_A_FILE = 10_000;
const NAMES = ['movement_id', 'template_key', 'request_state', 'asset', 'amount_at_most'];

export default function Movements() {
  const filters = useFilters(FILTERS);
  // The service says which filters it takes, and of which form.
  const query = { ...filters, limit: 50 } as QueryOf<'listMovements'>;
  const { rows, query: read } = useRows('listMovements', { query });
  const [problem, setProblem] = useState<unknown>(null);
  const [isSaving, setSaving] = useState(false);
  const save = async (): Promise<void> => {
    setSaving(true);
    setProblem(null);
    try {
      saveFile('movements.csv', await fileOf({ ...query, limit: 200 }));
    } catch (error) {
      setProblem(error);
    } finally {
      setSaving(false);
    }
  };
  return (
    <>
      <h1>Movements</h1>
      <Filters filters={FILTERS} />
      <p>
        <Button onClick={() => void save()} disabledBecause={isSaving ? 'Reading…' : null}>
          Save as CSV
        </Button>
      </p>
      <Problem error={problem} />
      <Table
        caption="Movements"
        columns={MOVEMENT_COLUMNS}
        rows={rows}
        keyOf={({ movement_id }) => movement_id}
        query={read}
        none="No movement fits."
      />
    </>
  );
}

/** A line for each asset of each movement. */
async function fileOf(query: QueryOf<'listMovements'>): Promise<string> {
  const lines: (string | null)[][] = [];
  for await (const row of theClient().pages('listMovements', { query })) {
    const { movement_id, template_key, request_state } = row;
    const outflow = row.outflow.length === 0 ? [{ asset: null, amount: null }] : row.outflow;
    for (const { asset, amount } of outflow)
      lines.push([movement_id, template_key, request_state, asset, amount]);
    if (lines.length > MOST_IN_A_FILE)
      throw new Error(
        `More than ${String(MOST_IN_A_FILE)} lines: filter the list before it is saved.`,
      );
  }
  return csvOf(NAMES, lines);
}
