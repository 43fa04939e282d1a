/** The audit log: who did what and when, what was refused, and how much of it is sealed. */
import type { QueryOf, RowOf } from '../../../clients/http/operations.ts';
import { useRead, useRows } from '../../data/reads.ts';
import { Filters, useFilters, type Filter } from '../../parts/filters.tsx';
import { Problem } from '../../parts/problem.tsx';
import { SaveCsv } from '../../parts/save-csv.tsx';
import { Table } from '../../parts/table.tsx';
import { Text } from '../../parts/text.tsx';
import { MovementLink } from '../../parts/movement-values.tsx';
import { State, Time } from '../../parts/values.tsx';

const OUTCOMES = ['success', 'denied', 'failed'] as const satisfies readonly Event['outcome'][];
const FILTERS: readonly Filter[] = [
  { name: 'outcome', label: 'Outcome', options: OUTCOMES },
  { name: 'action', label: 'Action' },
  { name: 'entity_type', label: 'Kind of thing' },
  { name: 'entity_key', label: 'Thing' },
  { name: 'actor_client_id', label: 'Client' },
  { name: 'actor_key_id', label: 'Key' },
  { name: 'request_id', label: 'Request' },
  { name: 'namespace', label: 'Namespace' },
  { name: 'time_range_start', label: 'From (ISO 8601)' },
  { name: 'time_range_end', label: 'Before (ISO 8601)' },
];
type Event = RowOf<'listAuditEvents'>;

const COLUMNS = [
  ...(['event_id', 'occurred_at', 'action', 'outcome', 'entity_type', 'entity_key'] as const),
  ...(['actor_role', 'actor_client_id', 'actor_key_id', 'namespace'] as const),
  ...(['request_id', 'reason'] as const),
];

export default function Audit() {
  const query = { ...useFilters(FILTERS), limit: 50 } as QueryOf<'listAuditEvents'>;
  const { rows, query: read } = useRows('listAuditEvents', { query });
  return (
    <>
      <h1>Audit</h1>
      <Seal />
      <Filters filters={FILTERS} />
      <SaveCsv
        id="listAuditEvents"
        file="audit.csv"
        query={{ ...query, limit: 500 }}
        names={[...COLUMNS, 'details']}
        lines={(row) => [[...COLUMNS.map((name) => row[name]), JSON.stringify(row.details)]]}
      />
      <Table
        caption="Audit events"
        rows={rows}
        keyOf={({ event_id }) => event_id}
        query={read}
        none="No event fits."
        columns={[
          { title: 'When', cell: ({ occurred_at }) => <Time at={occurred_at} /> },
          { title: 'Action', cell: ({ action }) => <Text>{action}</Text> },
          { title: 'Outcome', cell: ({ outcome }) => <State>{outcome}</State> },
          { title: 'Thing', cell: (row) => <Thing row={row} /> },
          { title: 'Who', cell: (row) => <Who row={row} /> },
          { title: 'Reason', cell: ({ reason }) => <Text>{reason ?? ''}</Text> },
          { title: 'Request', cell: ({ request_id }) => <Text>{request_id ?? ''}</Text> },
          { title: 'Details', cell: ({ details }) => <Details details={details} /> },
        ]}
      />
    </>
  );
}

function Thing({ row: { entity_type, entity_key } }: { row: Event }) {
  return (
    <>
      <Text>{entity_type.replaceAll('_', ' ')}</Text>{' '}
      {entity_type === 'movement' ? <MovementLink id={entity_key} /> : <Text>{entity_key}</Text>}
    </>
  );
}

function Who({ row: { actor_role, actor_client_id, actor_key_id, namespace } }: { row: Event }) {
  if (actor_role === null && actor_key_id === null) return 'the service';
  return (
    <>
      <Text>{[actor_role, actor_key_id].filter((each) => each !== null).join(' ')}</Text>
      {actor_client_id !== actor_key_id && actor_client_id !== null && (
        <>
          {' '}
          of <Text>{actor_client_id}</Text>
        </>
      )}
      {namespace !== null && (
        <>
          {' '}
          in <Text>{namespace}</Text>
        </>
      )}
    </>
  );
}

function Details({ details }: { details: Event['details'] }) {
  const text = JSON.stringify(details, null, 2);
  if (text === '{}') return <span className="none">none</span>;
  return (
    <details>
      <summary>Details</summary>
      <pre>
        <Text most={10_000}>{text}</Text>
      </pre>
    </details>
  );
}

/**
 * Shows whether sealing is on time; `fundadmin audit verify` checks whether a record was changed.
 */
function Seal() {
  const { data, error } = useRead('getAuditSeal', {});
  if (data === undefined) return <Problem error={error} />;
  return (
    <p role={data.overdue ? 'alert' : 'status'}>
      {data.overdue ? (
        <strong className="alarm">
          Events of more than a minute ago are not sealed: no worker runs, or rows were inserted.
        </strong>
      ) : (
        'Sealed up to the last minute.'
      )}{' '}
      {data.sealed} {data.sealed === 1 ? 'event' : 'events'} sealed, the last{' '}
      <Time at={data.sealed_at} />. Whether any was changed since,{' '}
      <code>fundadmin audit verify</code> says.
    </p>
  );
}
