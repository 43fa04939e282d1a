/** Lists capital transfers between accounts of one venue. */
import type { QueryOf } from '../../../clients/http/operations.ts';
import { TRANSFER_STATES } from '../../../domain/states/capital-transfer.ts';
import { useRows } from '../../data/reads.ts';
import { Filters, useFilters, type Filter } from '../../parts/filters.tsx';
import { TransferLink } from '../../parts/links.tsx';
import { Table } from '../../parts/table.tsx';
import { Text } from '../../parts/text.tsx';
import { Amount, Reason, State, Time } from '../../parts/values.tsx';

const FILTERS: readonly Filter[] = [
  { name: 'state', label: 'State', options: TRANSFER_STATES },
  { name: 'needs_attention', label: 'Needs a person', options: ['true'] },
  { name: 'asset', label: 'Asset' },
  { name: 'source_venue', label: 'From' },
  { name: 'destination_venue', label: 'To' },
  { name: 'strategy_id', label: 'Strategy' },
];

export default function Transfers() {
  const query = { ...useFilters(FILTERS), limit: 50 } as QueryOf<'listCapitalTransfers'>;
  const { rows, query: read } = useRows('listCapitalTransfers', { query });
  return (
    <>
      <h1>Capital transfers</h1>
      <Filters filters={FILTERS} />
      <Table
        caption="Capital transfers"
        rows={rows}
        keyOf={({ transfer_id }) => transfer_id}
        query={read}
        none="No transfer fits."
        columns={[
          { title: 'Transfer', cell: ({ transfer_id }) => <TransferLink id={transfer_id} /> },
          { title: 'State', cell: ({ request_state }) => <State>{request_state}</State> },
          {
            title: 'Amount',
            cell: ({ amount, asset }) => <Amount amount={amount} asset={asset} />,
          },
          {
            title: 'From',
            cell: (row) => <Text>{`${row.source_venue} ${row.source_account_type}`}</Text>,
          },
          {
            title: 'To',
            cell: (row) => (
              <Text>{`${row.destination_venue} ${row.destination_account_type}`}</Text>
            ),
          },
          {
            title: 'Needs a person',
            cell: ({ attention, error_code }) => (
              <Reason code={error_code}>{attention?.message ?? null}</Reason>
            ),
          },
          { title: 'Why', cell: ({ reason }) => <Text>{reason}</Text> },
          { title: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
        ]}
      />
    </>
  );
}
