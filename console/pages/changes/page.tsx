/** Change requests: changes that let more money go, which wait for people or were made alone. */
import type { QueryOf } from '../../../clients/http/operations.ts';
import { REQUEST_KINDS } from '../../../domain/approval/power.ts';
import { useRows } from '../../data/reads.ts';
import { CHANGE_COLUMNS, type ChangeRow } from '../../parts/change-values.tsx';
import { Filters, useFilters, type Filter } from '../../parts/filters.tsx';
import { Table } from '../../parts/table.tsx';
import { State } from '../../parts/values.tsx';

const STATES = [
  'open',
  'applied',
  'rejected',
  'withdrawn',
  'failed',
  'outdated',
  'expired',
] as const satisfies readonly ChangeRow['state'][];

const FILTERS: readonly Filter[] = [
  { name: 'state', label: 'State', options: STATES, initial: 'open' },
  { name: 'kind', label: 'Kind', options: REQUEST_KINDS },
  { name: 'break_glass', label: 'Made alone', options: ['true', 'false'] },
];

export default function Changes() {
  const query = { ...useFilters(FILTERS), limit: 50 } as QueryOf<'listChangeRequests'>;
  const { rows, query: read } = useRows('listChangeRequests', { query });
  return (
    <>
      <h1>Changes</h1>
      <Filters filters={FILTERS} />
      <Table
        caption="Change requests"
        rows={rows}
        keyOf={({ change_request_id }) => change_request_id}
        query={read}
        none="No change request fits."
        columns={[
          CHANGE_COLUMNS.request,
          {
            title: 'State',
            cell: ({ state, break_glass }) => (
              <>
                <State>{state}</State>
                {break_glass && <strong className="warning"> made alone</strong>}
              </>
            ),
          },
          CHANGE_COLUMNS.kind,
          CHANGE_COLUMNS.author,
          CHANGE_COLUMNS.call,
          CHANGE_COLUMNS.missing,
          CHANGE_COLUMNS.created,
          CHANGE_COLUMNS.expires,
        ]}
      />
    </>
  );
}
