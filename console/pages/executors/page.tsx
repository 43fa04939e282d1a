/** Executors, which run nodes: whether each is up and enabled. */
import type { ResultOf } from '../../../clients/http/operations.ts';
import { useRead } from '../../data/reads.ts';
import type { Entry } from '../../parts/form-model.ts';
import { Filters, useFilters, type Filter } from '../../parts/filters.tsx';
import { Reading } from '../../parts/reading.tsx';
import { SaveRows } from '../../parts/save-rows.tsx';
import { Table } from '../../parts/table.tsx';
import { Text } from '../../parts/text.tsx';
import { State, Time } from '../../parts/values.tsx';
import { WriteButton, type Write } from '../../parts/write.tsx';

type Executor = ResultOf<'listExecutors'>[number];

const FILTERS: readonly Filter[] = [
  { name: 'status', label: 'Status', options: ['active', 'disabled'] },
  { name: 'health_state', label: 'Health', options: ['up', 'down', 'unknown'] },
];

const SAVED = [
  ...(['executor_key', 'kind', 'status', 'health_state', 'health_checked_at'] as const),
  ...(['action_types', 'provider', 'chain_family', 'endpoint', 'source', 'updated_at'] as const),
];

/** Compares the stored registries with the running ones, for executors and signers. */
export const DRIFT: Write = {
  operation: 'verifyRegistryDrift',
  title: 'Compare registries',
  consequence:
    'Compares what is stored with what this process has registered, and asks each signer who it is. It changes nothing.',
  inputOf: () => ({}),
};

export const REASON: Entry = {
  at: ['reason'],
  label: 'Reason',
  kind: 'long',
  empty: 'left_out',
};

export default function Executors() {
  const filters = useFilters(FILTERS);
  const read = useRead('listExecutors', {});
  return (
    <>
      <h1>Executors</h1>
      <Filters filters={FILTERS} />
      <div className="actions">
        <WriteButton write={DRIFT} />
      </div>
      <Reading of={read}>
        {(executors) => {
          const rows = executors.filter(
            ({ status, health_state }) =>
              [undefined, status].includes(filters['status'] as typeof status | undefined) &&
              [undefined, health_state].includes(
                filters['health_state'] as typeof health_state | undefined,
              ),
          );
          return (
            <>
              <SaveRows name="executors" columns={SAVED} rows={rows} />
              <Rows rows={rows} />
            </>
          );
        }}
      </Reading>
    </>
  );
}

function Rows({ rows }: { rows: readonly Executor[] }) {
  return (
    <Table
      caption="Executors"
      rows={rows}
      keyOf={({ executor_key }) => executor_key}
      none="No executor fits."
      columns={[
        { title: 'Executor', cell: ({ executor_key }) => <Text>{executor_key}</Text> },
        { title: 'Status', cell: ({ status }) => <State>{status}</State> },
        {
          title: 'Health',
          cell: ({ health_state, health_checked_at }) => (
            <>
              <State>{health_state}</State> seen <Time at={health_checked_at} />
            </>
          ),
        },
        { title: 'Does', cell: ({ action_types }) => <Text>{action_types.join(', ')}</Text> },
        {
          title: 'For',
          cell: ({ provider, chain_family }) => (
            <Text>{[provider, chain_family].filter((each) => each !== null).join(', ')}</Text>
          ),
        },
        {
          title: 'Runs',
          cell: ({ kind, endpoint }) => (
            <>
              {kind.replaceAll('_', ' ')} <Text>{endpoint ?? ''}</Text>
            </>
          ),
        },
        { title: 'Known', cell: ({ source }) => SOURCES[source] },
        { title: 'Changed', cell: ({ updated_at }) => <Time at={updated_at} /> },
        { title: 'Actions', cell: (row) => <WriteButton write={switchOf(row)} /> },
      ]}
    />
  );
}

export const SOURCES: Readonly<Record<Executor['source'], string>> = {
  persisted: 'stored, and not registered in this process',
  memory: 'registered in this process, and not stored',
  both: 'stored and registered',
};

function switchOf({ executor_key, status }: Executor): Write {
  const isActive = status === 'active';
  return {
    operation: 'updateExecutorStatus',
    title: `${isActive ? 'Disable' : 'Enable'} ${executor_key}`,
    consequence: isActive
      ? 'Nothing new begins with it. What is sent already is followed to its end.'
      : 'Nodes that wait for it go on.',
    entries: [REASON],
    inputOf: (body) => ({
      params: { executor_key },
      body: { status: isActive ? 'disabled' : 'active', ...body },
    }),
    kind: isActive ? 'danger' : 'plain',
    standing: status,
  };
}
