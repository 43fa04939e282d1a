/** Signers, the identity pinned for each, and their nonce lanes. */
import { Link } from '@tanstack/react-router';
import type { ResultOf } from '../../../clients/http/operations.ts';
import { useRead } from '../../data/reads.ts';
import { AllFields } from '../../parts/all-fields.tsx';
import { Filters, useFilters, type Filter } from '../../parts/filters.tsx';
import { Reading } from '../../parts/reading.tsx';
import { SaveRows } from '../../parts/save-rows.tsx';
import { Section } from '../../parts/section.tsx';
import { List, Table } from '../../parts/table.tsx';
import { Text } from '../../parts/text.tsx';
import { Address, State, Time } from '../../parts/values.tsx';
import { WriteButton, type Write } from '../../parts/write.tsx';
import { DRIFT, REASON, SOURCES } from '../executors/page.tsx';

export type Signer = ResultOf<'listSigners'>[number];
type Lane = Signer['lanes'][number];

const FILTERS: readonly Filter[] = [{ name: 'signer_key', label: 'Signer' }];

const SAVED = [
  ...(['signer_key', 'status', 'backend', 'chain_family', 'profile', 'identity_state'] as const),
  ...(['expected_signer_address', 'observed_signer_address', 'observed_at'] as const),
  ...(['source', 'updated_at'] as const),
];

export default function Signers() {
  const { signer_key } = useFilters(FILTERS);
  const read = useRead('listSigners', {});
  return (
    <>
      <h1>Signers and nonce lanes</h1>
      <Filters filters={FILTERS} />
      <div className="actions">
        <WriteButton write={DRIFT} />
      </div>
      <Reading of={read}>
        {(signers) => {
          const rows = signers.filter(
            (signer) => signer_key === undefined || signer.signer_key === signer_key,
          );
          const lanes = rows.flatMap((signer) => signer.lanes.map((lane) => ({ signer, lane })));
          return (
            <>
              <SaveRows name="signers" columns={SAVED} rows={rows} />
              <Rows rows={rows} />
              <Section title="Nonce lanes">
                {lanes.length === 0 && <p>No signer has sent on a chain yet.</p>}
                <List
                  label="Nonce lanes"
                  className="nodes"
                  height={300}
                  rows={lanes}
                  keyOf={({ signer, lane }) => `${signer.signer_key} ${String(lane.chain_id)}`}
                  entry={({ signer, lane }) => <OneLane signer={signer} lane={lane} />}
                />
              </Section>
            </>
          );
        }}
      </Reading>
    </>
  );
}

function Rows({ rows }: { rows: readonly Signer[] }) {
  return (
    <Table
      caption="Signers"
      rows={rows}
      keyOf={({ signer_key }) => signer_key}
      none="No signer fits."
      columns={[
        { title: 'Signer', cell: ({ signer_key }) => <SignerLink signer={signer_key} /> },
        { title: 'Status', cell: ({ status }) => <State>{status}</State> },
        {
          title: 'Who it is',
          cell: ({ identity_state }) => <Text>{identity_state.replaceAll('_', ' ')}</Text>,
        },
        {
          title: 'Pinned address',
          cell: ({ expected_signer_address: address }) =>
            address === null ? 'none' : <Address address={address} />,
        },
        {
          title: 'Seen address',
          cell: ({ observed_signer_address: address, observed_at }) =>
            address === null ? (
              'none'
            ) : (
              <>
                <Address address={address} /> <Time at={observed_at} />
              </>
            ),
        },
        {
          title: 'Signs for',
          cell: ({ chain_family, profile }) => (
            <Text>{[chain_family, profile].filter((each) => each !== null).join(', ')}</Text>
          ),
        },
        { title: 'Key is in', cell: ({ backend }) => <Text>{backend}</Text> },
        { title: 'Known', cell: ({ source }) => SOURCES[source] },
        { title: 'Changed', cell: ({ updated_at }) => <Time at={updated_at} /> },
        { title: 'Actions', cell: (row) => <Switch signer={row} /> },
      ]}
    />
  );
}

function SignerLink({ signer }: { signer: string }) {
  return (
    <Link to={`/signers/${encodeURIComponent(signer)}` as never}>
      <Text>{signer}</Text>
    </Link>
  );
}

function Switch({ signer: { signer_key, status } }: { signer: Signer }) {
  const isActive = status === 'active';
  const write: Write = {
    operation: 'updateSignerStatus',
    title: `${isActive ? 'Disable' : 'Enable'} ${signer_key}`,
    consequence: isActive
      ? 'It signs nothing new. What it has signed is followed to its end.'
      : 'Nodes that wait for it go on.',
    entries: [REASON],
    inputOf: (body) => ({
      params: { signer_key },
      body: { status: isActive ? 'disabled' : 'active', ...body },
    }),
    kind: isActive ? 'danger' : 'plain',
    standing: status,
  };
  const because =
    isActive || status === 'disabled' ? null : `It is ${status.replaceAll('_', ' ')}.`;
  return <WriteButton write={write} disabledBecause={because} />;
}

function OneLane({ signer: { signer_key }, lane }: { signer: Signer; lane: Lane }) {
  const { chain_id, address, stuck } = lane;
  return (
    <article aria-label={`Lane of ${signer_key} on chain ${String(chain_id)}`}>
      <h3>
        <Text>{signer_key}</Text> on chain {chain_id}
      </h3>
      {stuck !== null && (
        <p className="problem">
          Nonce {stuck.nonce} is stuck since <Time at={stuck.since} />: <Text>{stuck.why}</Text>
        </p>
      )}
      <p>
        <Address address={address} />
      </p>
      <AllFields of={lane} without={['chain_id', 'address', 'stuck']} />
      <WriteButton write={raiseOf(lane)} />
    </article>
  );
}

function raiseOf({ chain_id, address, raise }: Lane): Write {
  return {
    operation: 'raiseLaneCaps',
    title: `Raise the caps of ${String(chain_id)}`,
    consequence:
      'A transaction that takes a used nonce of this lane may cost so much for so long. First sends keep the caps of the chain.',
    entries: [
      {
        at: ['max_gas_cost_wei'],
        label: 'One transaction at most (wei)',
        kind: 'text',
        empty: 'left_out',
      },
      {
        at: ['max_fee_per_gas_gwei'],
        label: 'Gas at most (gwei)',
        kind: 'decimal',
        empty: 'left_out',
      },
      {
        at: ['ttl_seconds'],
        label: 'For (seconds)',
        kind: 'integer',
        empty: 'required',
        hint: '0 ends it.',
      },
      { ...REASON, empty: 'required' },
    ],
    inputOf: (body) => ({ params: { chain_id: String(chain_id), address }, body }),
    standing: JSON.stringify(raise),
  };
}
