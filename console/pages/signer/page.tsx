/** One signer: its pinned identity, what it holds, its rotation and retirement, and its history. */
import { useParams } from '@tanstack/react-router';
import type { ResultOf } from '../../../clients/http/operations.ts';
import { useRead } from '../../data/reads.ts';
import { AllFields } from '../../parts/all-fields.tsx';
import type { Entry } from '../../parts/form-model.ts';
import { Reading } from '../../parts/reading.tsx';
import { Section } from '../../parts/section.tsx';
import { Table } from '../../parts/table.tsx';
import { Text } from '../../parts/text.tsx';
import { Id, State, Time } from '../../parts/values.tsx';
import { WriteButton, type Write } from '../../parts/write.tsx';
import type { Signer } from '../signers/page.tsx';

type History = ResultOf<'getSignerRotationHistory'>;

export default function SignerPage() {
  const { signer_key = '' } = useParams({ strict: false });
  const signers = useRead('listSigners', {});
  const history = useRead('getSignerRotationHistory', { params: { signer_key } });
  const signer = signers.data?.find((each) => each.signer_key === signer_key);
  return (
    <>
      <h1>
        Signer <Text>{signer_key}</Text>
      </h1>
      <Reading of={signers}>
        {() =>
          signer === undefined ? (
            <p role="status">There is no such signer.</p>
          ) : (
            <Actions signer={signer} />
          )
        }
      </Reading>
      <Section title="What was done">
        <Reading of={history}>{(answer) => <Events history={answer} />}</Reading>
      </Section>
    </>
  );
}

function Events({ history: { signer_key, status, replaced_by, events } }: { history: History }) {
  return (
    <>
      <p>
        <Text>{signer_key}</Text> is <State>{status}</State>
        {replaced_by !== null && (
          <>
            {' '}
            and replaced by <Text>{replaced_by}</Text>
          </>
        )}
      </p>
      <Table
        caption="What was done with it"
        rows={events}
        keyOf={({ event_id }) => event_id}
        none="Nothing yet."
        columns={[
          { title: 'When', cell: ({ occurred_at }) => <Time at={occurred_at} /> },
          { title: 'What', cell: ({ event_type }) => event_type.replaceAll('_', ' ') },
          { title: 'Of', cell: (event) => <Text>{event.signer_key}</Text> },
          { title: 'Replaced with', cell: ({ replace_with }) => <Text>{replace_with ?? ''}</Text> },
          { title: 'Why', cell: ({ reason }) => <Text>{reason ?? ''}</Text> },
          { title: 'By', cell: ({ done_by }) => <AllFields of={done_by} /> },
          { title: 'Seen', cell: ({ data }) => <AllFields of={data} /> },
          {
            title: 'Event, audit',
            cell: ({ event_id, audit_event_id }) => (
              <>
                <Id>{event_id}</Id> <Id>{audit_event_id ?? 'none'}</Id>
              </>
            ),
          },
        ]}
      />
    </>
  );
}

const reason: Entry = { at: ['reason'], label: 'Reason', kind: 'long', empty: 'required' };
const chains: Entry = {
  at: ['chains'],
  label: 'Chains',
  kind: 'list',
  empty: 'left_out',
  hint: 'Decimal ids between commas; all that are bound where it is left out.',
};

function Actions({ signer }: { signer: Signer }) {
  return (
    <Section title="Actions">
      <ul className="actions">
        {writesOf(signer).map((write) => (
          <li key={write.title}>
            <WriteButton write={write} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

function writesOf({ signer_key, status, expected_signer_address: pin }: Signer): readonly Write[] {
  const params = { signer_key };
  return [
    {
      operation: 'setExpectedSignerIdentity',
      title: 'Pin its address',
      consequence: 'The signer is used only while it shows this address.',
      entries: [
        { at: ['expected_address'], label: 'Address', kind: 'text', empty: 'required' },
        reason,
      ],
      inputOf: (body) => ({ params, body: { ...body, previous_expected_address: pin } }),
      standing: pin ?? '',
    },
    {
      operation: 'listSignerHoldings',
      title: 'What it holds',
      consequence: 'Reads its balances on each chain, and keeps them as evidence where you say so.',
      entries: [
        chains,
        {
          at: ['persist'],
          label: 'Keep as evidence',
          kind: 'boolean',
          empty: 'required',
          initial: 'true',
        },
      ],
      inputOf: (body) => ({ params, body }),
    },
    {
      operation: 'listSignerAllowances',
      title: 'What others may pull',
      consequence: 'Reads its open allowances on each chain, and keeps them as evidence.',
      entries: [chains],
      inputOf: (body) => ({ params, body }),
    },
    {
      operation: 'rotateSigner',
      title: 'Rotate',
      consequence:
        'The replacement signs what is not sent yet. A drill plays it through and takes it back.',
      entries: [
        { at: ['replace_with'], label: 'Replacement', kind: 'text', empty: 'required' },
        reason,
        {
          at: ['drill'],
          label: 'Drill',
          kind: 'boolean',
          empty: 'required',
          initial: 'true',
        },
        {
          at: ['ack_impact'],
          label: 'I have seen what it changes',
          kind: 'boolean',
          empty: 'left_out',
          hint: 'Must be true where it is no drill.',
        },
      ],
      inputOf: (body) => ({ params, body }),
      kind: 'danger',
      standing: status,
    },
    {
      operation: 'retireSigner',
      title: 'Retire',
      consequence: 'It never signs again. It is refused while the account holds more than dust.',
      entries: [
        {
          at: ['ack_allowances'],
          label: 'Open allowances are known',
          kind: 'boolean',
          empty: 'left_out',
        },
        {
          at: ['dust_threshold_usd'],
          label: 'Dust: at most',
          kind: 'json',
          empty: 'left_out',
          hint: 'A number: whole units of each asset; nothing is converted.',
        },
      ],
      inputOf: (body) => ({ params, body }),
      kind: 'danger',
      standing: status,
    },
  ];
}
