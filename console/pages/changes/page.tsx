/** Change requests: changes that let more money go, which wait for people or were made alone. */
import type { QueryOf, RowOf } from '../../../clients/http/operations.ts';
import { REQUEST_KINDS } from '../../../domain/approval/power.ts';
import { useRows } from '../../data/reads.ts';
import { Filters, useFilters, type Filter } from '../../parts/filters.tsx';
import { ChangeLink } from '../../parts/links.tsx';
import { Table } from '../../parts/table.tsx';
import { Text } from '../../parts/text.tsx';
import { State, Time } from '../../parts/values.tsx';

type Row = RowOf<'listChangeRequests'>;

const STATES = [
  'open',
  'applied',
  'rejected',
  'withdrawn',
  'failed',
  'outdated',
  'expired',
] as const satisfies readonly Row['state'][];

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
          {
            title: 'Change request',
            cell: ({ change_request_id: id }) => <ChangeLink id={id} />,
          },
          {
            title: 'State',
            cell: ({ state, break_glass }) => (
              <>
                <State>{state}</State>
                {break_glass && <strong className="warning"> made alone</strong>}
              </>
            ),
          },
          { title: 'Kind', cell: ({ kind }) => kind.replaceAll('_', ' ') },
          { title: 'Author', cell: ({ author }) => <Text>{author ?? 'unknown'}</Text> },
          {
            title: 'Call',
            cell: ({ method, path }) => (
              <code>
                <Text>{`${method} ${path}`}</Text>
              </code>
            ),
          },
          { title: 'Missing', cell: ({ approvals }) => <Missing approvals={approvals} /> },
          { title: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
          { title: 'Expires', cell: ({ expires_at }) => <Time at={expires_at} /> },
        ]}
      />
    </>
  );
}

/** Shows how many approvals of which groups are missing. */
function Missing({ approvals: { required } }: Pick<Row, 'approvals'>) {
  const open = required.filter(({ missing }) => missing > 0);
  if (open.length === 0) return <span className="none">none</span>;
  return (
    <>
      {open.map(({ rule, group, missing }, nr) => (
        <div key={JSON.stringify([rule, group, nr])}>
          <Text>{group}</Text>: {missing}
        </div>
      ))}
    </>
  );
}
