/** All movements; the filters are in the URL. */
import type { QueryOf, RowOf } from '../../../clients/http/operations.ts';
import { useRows } from '../../data/reads.ts';
import { Filters, useFilters, type Filter } from '../../parts/filters.tsx';
import { MOVEMENT_COLUMNS } from '../../parts/movement-values.tsx';
import { SaveCsv } from '../../parts/save-csv.tsx';
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
  { name: 'external_reference', label: 'Reference' },
];
const NAMES = ['movement_id', 'template_key', 'request_state', 'asset', 'amount_at_most'];

export default function Movements() {
  const filters = useFilters(FILTERS);
  // The service checks the filters and their format.
  const query = { ...filters, limit: 50 } as QueryOf<'listMovements'>;
  const { rows, query: read } = useRows('listMovements', { query });
  return (
    <>
      <h1>Movements</h1>
      <Filters filters={FILTERS} />
      <SaveCsv
        id="listMovements"
        file="movements.csv"
        query={{ ...query, limit: 200 }}
        names={NAMES}
        lines={linesOf}
      />
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

/** Returns one CSV line for each asset of the movement. */
function linesOf(row: RowOf<'listMovements'>): readonly (readonly (string | null)[])[] {
  const { movement_id, template_key, request_state } = row;
  const outflow = row.outflow.length === 0 ? [{ asset: null, amount: null }] : row.outflow;
  return outflow.map(({ asset, amount }) => [
    movement_id,
    template_key,
    request_state,
    asset,
    amount,
  ]);
}
