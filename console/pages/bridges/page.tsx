/**
 * The bridge registry: its chains and paths, with their limits on cost and time, and their drills.
 */
import type { ResultOf } from '../../../clients/http/operations.ts';
import { useRead } from '../../data/reads.ts';
import { AllFields } from '../../parts/all-fields.tsx';
import type { Entry } from '../../parts/form-model.ts';
import { Reading } from '../../parts/reading.tsx';
import { SaveRows } from '../../parts/save-rows.tsx';
import { Section } from '../../parts/section.tsx';
import { Table } from '../../parts/table.tsx';
import { Text } from '../../parts/text.tsx';
import { Amount, Id, State, Time } from '../../parts/values.tsx';
import { WriteButton, type Write } from '../../parts/write.tsx';

type Chain = ResultOf<'listBridgeChains'>[number];
type Path = ResultOf<'listPathBaselines'>[number];

const CHAIN_COLUMNS = [
  ...(['chain', 'endpoint_identity', 'finality_age_seconds', 'snapshot_version'] as const),
  ...(['snapshot_stale', 'snapshot_at', 'operator_label', 'updated_at'] as const),
];
const PATH_COLUMNS = [
  ...(['src_chain', 'dst_chain', 'asset', 'enabled', 'expected_latency_seconds'] as const),
  ...(['detection_latency_budget_seconds', 'fee_native_budget', 'last_drill_pass_at'] as const),
];

export default function Bridges() {
  const chains = useRead('listBridgeChains', {});
  const paths = useRead('listPathBaselines', {});
  return (
    <>
      <h1>Bridges</h1>
      <Section title="Chains">
        <div className="actions">
          <WriteButton write={REFRESH} />
          <WriteButton write={ADD_CHAIN} />
        </div>
        <Reading of={chains}>
          {(rows) => (
            <>
              <SaveRows name="bridge-chains" columns={CHAIN_COLUMNS} rows={rows} />
              <Chains rows={rows} />
            </>
          )}
        </Reading>
      </Section>
      <Section title="Paths">
        <div className="actions">
          <WriteButton write={ADD_PATH} />
        </div>
        <Reading of={paths}>
          {(rows) => (
            <>
              <SaveRows name="bridge-paths" columns={PATH_COLUMNS} rows={rows} />
              <Paths rows={rows} />
            </>
          )}
        </Reading>
      </Section>
    </>
  );
}

function Chains({ rows }: { rows: readonly Chain[] }) {
  return (
    <Table
      caption="Chains"
      rows={rows}
      keyOf={({ chain }) => chain}
      none="No chain is registered."
      columns={[
        { title: 'Chain', cell: ({ chain }) => <Text>{chain}</Text> },
        { title: 'Endpoint', cell: ({ endpoint_identity }) => <Id>{endpoint_identity}</Id> },
        {
          title: 'Snapshot',
          cell: ({ snapshot_stale, snapshot_at, snapshot_version, stale_detected_at }) => (
            <>
              <State>{snapshot_stale ? 'STALE' : 'FRESH'}</State> version {snapshot_version},{' '}
              answered <Time at={snapshot_at} />
              {stale_detected_at !== null && (
                <>
                  , stale since <Time at={stale_detected_at} />
                </>
              )}
            </>
          ),
        },
        { title: 'Final after', cell: ({ finality_age_seconds: s }) => `${String(s)} s` },
        { title: 'Label', cell: ({ operator_label }) => <Text>{operator_label ?? ''}</Text> },
        {
          title: 'Made, changed',
          cell: ({ created_at, updated_at }) => (
            <>
              <Time at={created_at} />, <Time at={updated_at} />
            </>
          ),
        },
        {
          title: 'Actions',
          cell: (row) => (
            <>
              <WriteButton write={changeChain(row)} /> <WriteButton write={removeChain(row)} />
            </>
          ),
        },
      ]}
    />
  );
}

function Paths({ rows }: { rows: readonly Path[] }) {
  return (
    <Table
      caption="Paths"
      rows={rows}
      keyOf={({ src_chain, dst_chain, asset }) => [src_chain, dst_chain, asset].join('\n')}
      none="No path has a baseline."
      columns={[
        { title: 'Path', cell: (row) => <Text>{nameOf(row)}</Text> },
        {
          title: 'State',
          cell: ({ enabled, disabled_reason }) => (
            <>
              <State>{enabled ? 'ENABLED' : 'DISABLED'}</State> <Text>{disabled_reason ?? ''}</Text>
            </>
          ),
        },
        {
          title: 'A send may cost',
          cell: ({ fee_native_budget }) => <Amount amount={fee_native_budget} />,
        },
        {
          title: 'Drill passed',
          cell: ({
            last_drill_pass_at: at,
            last_drill_evidence_path: evidence,
            last_drill_contracts: contracts,
          }) => (
            <>
              <Time at={at} /> <Text>{evidence ?? ''}</Text> <Text>{contracts ?? ''}</Text>
            </>
          ),
        },
        {
          title: 'More',
          cell: (row) => (
            <AllFields
              of={row}
              without={[
                ...['src_chain', 'dst_chain', 'asset', 'enabled', 'disabled_reason'],
                ...['fee_native_budget', 'last_drill_pass_at', 'last_drill_evidence_path'],
                'last_drill_contracts',
              ]}
            />
          ),
        },
        {
          title: 'Actions',
          cell: (row) => (
            <>
              <WriteButton write={changePath(row)} /> <WriteButton write={drillOf(row)} />{' '}
              <WriteButton write={removePath(row)} />
            </>
          ),
        },
      ]}
    />
  );
}

function nameOf({ src_chain, dst_chain, asset }: Path): string {
  return `${src_chain} to ${dst_chain}, ${asset}`;
}

const REFRESH: Write = {
  operation: 'refreshBridgeRegistry',
  title: 'Ask the endpoints',
  consequence:
    'Asks each chain’s endpoint for its facts. What changed ends the drills of its paths.',
  inputOf: () => ({}),
};

function chainEntries(chain: Chain | null): readonly Entry[] {
  return [
    {
      at: ['endpoint_identity'],
      ...{ label: 'Endpoint', kind: 'text', empty: 'required', hint: 'eid:address' },
      initial: chain?.endpoint_identity ?? '',
    },
    {
      at: ['finality_age_seconds'],
      ...{ label: 'Final after (seconds)', kind: 'integer', empty: 'required' },
      initial: String(chain?.finality_age_seconds ?? ''),
    },
    {
      at: ['operator_label'],
      ...{ label: 'Label', kind: 'text', empty: 'null', initial: chain?.operator_label ?? '' },
    },
  ];
}

const ADD_CHAIN: Write = {
  operation: 'createBridgeChain',
  title: 'Add a chain',
  consequence: 'Paths can be made over it.',
  entries: [
    { at: ['chain'], label: 'Chain', kind: 'text', empty: 'required' },
    ...chainEntries(null),
  ],
  inputOf: (body) => ({ body }),
};

function changeChain(row: Chain): Write {
  const { chain, updated_at } = row;
  return {
    operation: 'replaceBridgeChain',
    title: `Change ${chain}`,
    consequence: 'All of it is replaced by what stands below. Another endpoint ends its drills.',
    entries: chainEntries(row),
    inputOf: (body) => ({ params: { chain }, body }),
    standing: updated_at,
  };
}

function removeChain({ chain, updated_at }: Chain): Write {
  return {
    operation: 'deleteBridgeChain',
    title: `Remove ${chain}`,
    consequence: 'It is refused while a path uses it.',
    inputOf: () => ({ params: { chain } }),
    kind: 'danger',
    standing: updated_at,
  };
}

function pathEntries(path: Path | null): readonly Entry[] {
  return [
    {
      at: ['expected_latency_seconds'],
      ...{ label: 'Usually takes (seconds)', kind: 'integer', empty: 'required' },
      initial: String(path?.expected_latency_seconds ?? ''),
    },
    {
      at: ['detection_latency_budget_seconds'],
      ...{ label: 'Needs a person after (seconds)', kind: 'integer', empty: 'required' },
      initial: String(path?.detection_latency_budget_seconds ?? ''),
    },
    {
      at: ['fee_native_budget'],
      ...{ label: 'A send may cost', kind: 'decimal', empty: 'required' },
      hint: 'In the coin of the source chain.',
      initial: path?.fee_native_budget ?? '',
    },
    {
      at: ['enabled'],
      ...{ label: 'Enabled', kind: 'boolean', empty: 'required' },
      initial: String(path?.enabled ?? true),
    },
    {
      at: ['disabled_reason'],
      ...{ label: 'Why it is disabled', kind: 'text', empty: 'null' },
      initial: path?.disabled_reason ?? '',
    },
    {
      at: ['baseline_source'],
      ...{ label: 'Where the figures come from', kind: 'text', empty: 'null' },
      initial: path?.baseline_source ?? '',
    },
    {
      at: ['operator_label'],
      ...{ label: 'Label', kind: 'text', empty: 'null', initial: path?.operator_label ?? '' },
    },
  ];
}

const ADD_PATH: Write = {
  operation: 'createPathBaseline',
  title: 'Add a path',
  consequence: 'It is ready once a drill has passed.',
  entries: [
    { at: ['src_chain'], label: 'From chain', kind: 'text', empty: 'required' },
    { at: ['dst_chain'], label: 'To chain', kind: 'text', empty: 'required' },
    { at: ['asset'], label: 'Asset', kind: 'text', empty: 'required' },
    ...pathEntries(null),
  ],
  inputOf: (body) => ({ body }),
};

function paramsOf({ src_chain, dst_chain, asset }: Path) {
  return { src_chain, dst_chain, asset };
}

function changePath(row: Path): Write {
  return {
    operation: 'replacePathBaseline',
    title: `Change ${nameOf(row)}`,
    consequence: 'All of it is replaced by what stands below.',
    entries: pathEntries(row),
    inputOf: (body) => ({ params: paramsOf(row), body }),
    standing: row.updated_at,
  };
}

function drillOf(row: Path): Write {
  return {
    operation: 'recordDrillPass',
    title: `Drill passed: ${nameOf(row)}`,
    consequence: 'The path is ready with the contracts that the venues file names now.',
    entries: [
      {
        at: ['evidence_path'],
        ...{ label: 'Where the evidence is kept', kind: 'text', empty: 'required' },
      },
    ],
    inputOf: (body) => ({ params: paramsOf(row), body }),
    standing: row.updated_at,
  };
}

function removePath(row: Path): Write {
  return {
    operation: 'deletePathBaseline',
    title: `Remove ${nameOf(row)}`,
    consequence: 'Nothing is sent over it from now on.',
    inputOf: () => ({ params: paramsOf(row) }),
    kind: 'danger',
    standing: row.updated_at,
  };
}
