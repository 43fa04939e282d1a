/**
 * One capital transfer: what it moves, why it waits, its history, and its resolution by a person.
 */
import { useParams } from '@tanstack/react-router';
import type { ResultOf } from '../../../clients/http/operations.ts';
import { resolvableStates, TRANSFER_RESOLUTIONS } from '../../../domain/states/capital-transfer.ts';
import { useRead } from '../../data/reads.ts';
import { AllFields } from '../../parts/all-fields.tsx';
import type { Entry } from '../../parts/form-model.ts';
import { Reading } from '../../parts/reading.tsx';
import { Section } from '../../parts/section.tsx';
import { Table } from '../../parts/table.tsx';
import { Text } from '../../parts/text.tsx';
import { Amount, Id, State, Time } from '../../parts/values.tsx';
import { WriteButton } from '../../parts/write.tsx';

type Transfer = ResultOf<'getCapitalTransfer'>;
type Events = ResultOf<'getCapitalTransferTimeline'>;

export default function TransferPage() {
  const { transfer_id = '' } = useParams({ strict: false });
  // The key discards all state when the page changes to another transfer, most of all an open
  // sheet.
  return <OneTransfer key={transfer_id} params={{ transfer_id }} />;
}

function OneTransfer({ params }: { params: { readonly transfer_id: string } }) {
  const transfer = useRead('getCapitalTransfer', { params });
  const timeline = useRead('getCapitalTransferTimeline', { params });
  return (
    <>
      <h1>Capital transfer</h1>
      <Reading of={transfer}>{(answer) => <View transfer={answer} />}</Reading>
      <Section title="Timeline">
        <Reading of={timeline}>{(events) => <Timeline events={events} />}</Reading>
      </Section>
    </>
  );
}

const SHOWN_ABOVE = [
  ...(['transfer_id', 'request_state', 'amount', 'asset', 'source_venue', 'attention'] as const),
  ...(['source_account_type', 'destination_venue', 'destination_account_type'] as const),
];

function View({ transfer }: { transfer: Transfer }) {
  const { attention } = transfer;
  return (
    <>
      <p>
        <State>{transfer.request_state}</State> <Id>{transfer.transfer_id}</Id>
      </p>
      <p>
        <Amount amount={transfer.amount} asset={transfer.asset} /> from{' '}
        <Text>{`${transfer.source_venue} ${transfer.source_account_type}`}</Text> to{' '}
        <Text>{`${transfer.destination_venue} ${transfer.destination_account_type}`}</Text>
      </p>
      {attention !== null && (
        <Section title="A person is needed">
          <AllFields of={attention} />
        </Section>
      )}
      <Section title="Actions">
        <Resolve transfer={transfer} />
      </Section>
      <Section title="About it">
        <AllFields of={transfer} without={SHOWN_ABOVE} />
      </Section>
    </>
  );
}

const RESOLUTION: Entry = {
  at: ['resolution'],
  label: 'What became of it',
  kind: 'text',
  empty: 'required',
  hint: 'completed: the funds were moved; failed: proven that they were not; manual_intervention: left open for a person.',
};
const ENTRIES: readonly Entry[] = [
  { at: ['reason'], label: 'Reason', kind: 'long', empty: 'required' },
  {
    at: ['provider_transfer_id'],
    kind: 'text',
    empty: 'left_out',
    label: 'The provider’s id of the record that proves it',
  },
];

function Resolve({ transfer: { transfer_id, request_state, attention } }: { transfer: Transfer }) {
  const offered = attention?.actions.find(({ action }) => action === 'resolve');
  const options = TRANSFER_RESOLUTIONS.filter((each) =>
    resolvableStates(each).includes(request_state),
  );
  return (
    <WriteButton
      write={{
        operation: 'resolveCapitalTransfer',
        title: 'Resolve',
        consequence:
          offered?.consequence ??
          (request_state === 'CREATED'
            ? 'It is not sent, and fails at once, which releases its hold.'
            : 'A person decides its outcome while the service still asks the provider. Completed consumes its hold; failed releases it.'),
        entries: [{ ...RESOLUTION, options }, ...ENTRIES],
        inputOf: (body) => ({ params: { transfer_id }, body }),
        standing: request_state,
      }}
      disabledBecause={
        options.length > 0
          ? null
          : `It is ${request_state}: what is not sent yet can be stopped, and what waits for its provider can be resolved.`
      }
    />
  );
}

function Timeline({ events }: { events: Events }) {
  return (
    <Table
      caption="Events, newest first"
      rows={events.toReversed()}
      keyOf={({ event_id }) => event_id}
      none="Nothing yet."
      columns={[
        { title: 'No.', cell: ({ sequence }) => sequence },
        { title: 'When', cell: ({ occurred_at }) => <Time at={occurred_at} /> },
        { title: 'What', cell: ({ event_type }) => event_type.replaceAll('_', ' ') },
        {
          title: 'State',
          cell: ({ from_state: from, to_state: to }) =>
            from === null && to === null ? '' : `${from ?? 'nothing'} to ${to ?? 'nothing'}`,
        },
        { title: 'Why', cell: ({ message }) => <Text>{message}</Text> },
        { title: 'By', cell: ({ actor }) => <AllFields of={actor} /> },
        { title: 'Data', cell: ({ data }) => <AllFields of={data} /> },
        { title: 'Event', cell: ({ event_id }) => <Id>{event_id}</Id> },
      ]}
    />
  );
}
