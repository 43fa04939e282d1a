/** Callbacks to callers, including those that could not be delivered. */
import type { QueryOf, RowOf } from '../../../clients/http/operations.ts';
import { useRows } from '../../data/reads.ts';
import { Filters, useFilters, type Filter } from '../../parts/filters.tsx';
import { TransferLink } from '../../parts/links.tsx';
import { MovementLink } from '../../parts/movement-values.tsx';
import { Table } from '../../parts/table.tsx';
import { Text } from '../../parts/text.tsx';
import { Reason, State, Time } from '../../parts/values.tsx';
import { WriteButton } from '../../parts/write.tsx';

const FILTERS: readonly Filter[] = [
  { name: 'status', label: 'Status', options: ['pending', 'delivered', 'dead_letter'] },
  { name: 'movement_id', label: 'Movement' },
  { name: 'transfer_id', label: 'Transfer' },
  { name: 'webhook', label: 'Webhook' },
];

export default function Callbacks() {
  const query = { ...useFilters(FILTERS), limit: 50 } as QueryOf<'listCallbacks'>;
  const { rows, query: read } = useRows('listCallbacks', { query });
  return (
    <>
      <h1>Callbacks</h1>
      <Filters filters={FILTERS} />
      <Table
        caption="Callbacks"
        rows={rows}
        keyOf={({ event_id }) => event_id}
        query={read}
        none="No callback fits."
        columns={[
          { title: 'Event', cell: ({ event_type }) => <Text>{event_type}</Text> },
          {
            title: 'Of',
            cell: ({ movement_id, transfer_id, webhook }) =>
              movement_id !== null ? (
                <MovementLink id={movement_id} />
              ) : transfer_id !== null ? (
                <TransferLink id={transfer_id} />
              ) : (
                <Text>{webhook ?? ''}</Text>
              ),
          },
          { title: 'Goes to', cell: ({ url }) => <Text>{url}</Text> },
          { title: 'Status', cell: ({ status }) => <State>{status}</State> },
          {
            title: 'Attempts',
            cell: ({ attempts, last_error }) => (
              <>
                {attempts} <Reason>{last_error}</Reason>
              </>
            ),
          },
          { title: 'Written', cell: ({ created_at }) => <Time at={created_at} /> },
          { title: 'Send again', cell: (row) => <Redeliver row={row} /> },
        ]}
      />
    </>
  );
}

function Redeliver({ row: { event_id, status } }: { row: RowOf<'listCallbacks'> }) {
  return (
    <WriteButton
      write={{
        operation: 'redeliverCallback',
        title: 'Send again',
        consequence: 'The same event, under the same id, is sent to its address again.',
        inputOf: () => ({ params: { event_id } }),
        standing: status,
      }}
      disabledBecause={status === 'dead_letter' ? null : 'It is no dead letter.'}
    />
  );
}
