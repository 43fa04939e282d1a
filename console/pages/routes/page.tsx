/**
 * Routes for funds: templates as routes, their results so far, and which route is best for an
 * amount.
 */
import { Link } from '@tanstack/react-router';
import type { QueryOf, ResultOf } from '../../../clients/http/operations.ts';
import { useRead } from '../../data/reads.ts';
import { AllFields } from '../../parts/all-fields.tsx';
import { Filters, useFilters, type Filter } from '../../parts/filters.tsx';
import { durationInWords } from '../../parts/format.ts';
import { Reading } from '../../parts/reading.tsx';
import { SaveRows } from '../../parts/save-rows.tsx';
import { Table } from '../../parts/table.tsx';
import { Text } from '../../parts/text.tsx';
import { State, Time } from '../../parts/values.tsx';
import { WriteButton, type Write } from '../../parts/write.tsx';

type Route = ResultOf<'listRoutes'>['routes'][number];

const FILTERS: readonly Filter[] = [
  { name: 'status', label: 'Routes', options: ['executable', 'non_executable', 'all'] },
  { name: 'asset', label: 'Asset' },
];

const SAVED = [
  ...(['template_key', 'version', 'name', 'executable', 'graph_shape', 'node_count'] as const),
  ...(['metadata', 'bridge', 'stats', 'fee_policy', 'risk_controls', 'health'] as const),
];

const RECOMMEND: Write = {
  operation: 'recommendRoutes',
  title: 'Which route?',
  consequence: 'Ranks the routes for an amount. Nothing is made.',
  entries: [
    { at: ['asset'], label: 'Asset', kind: 'text', empty: 'required' },
    { at: ['amount'], label: 'Amount', kind: 'decimal', empty: 'null' },
    { at: ['source_venue'], label: 'From venue', kind: 'text', empty: 'null' },
    { at: ['destination_venue'], label: 'To venue', kind: 'text', empty: 'null' },
    {
      at: ['priority'],
      label: 'Prefer',
      kind: 'text',
      empty: 'required',
      initial: 'speed',
      options: ['speed', 'cost', 'health'],
    },
  ],
  inputOf: (body) => ({ body }),
};

export default function Routes() {
  const { status, asset } = useFilters(FILTERS);
  const query = { include_health: true, ...(status === undefined ? {} : { status }) };
  const read = useRead('listRoutes', { query: query as QueryOf<'listRoutes'> });
  return (
    <>
      <h1>Routes</h1>
      <Filters filters={FILTERS} />
      <div className="actions">
        <WriteButton write={RECOMMEND} />
      </div>
      <Reading of={read}>
        {({ routes, generated_at }) => {
          // A route without an asset carries the asset of the movement, so it passes every filter.
          const rows = routes.filter(
            ({ metadata }) =>
              asset === undefined || metadata.asset === null || metadata.asset === asset,
          );
          return (
            <>
              <p className="small">
                As of <Time at={generated_at} />
              </p>
              <SaveRows name="routes" columns={SAVED} rows={rows} />
              <Rows rows={rows} />
            </>
          );
        }}
      </Reading>
    </>
  );
}

function Rows({ rows }: { rows: readonly Route[] }) {
  return (
    <Table
      caption="Routes"
      rows={rows}
      keyOf={({ template_key }) => template_key}
      none="No route fits."
      columns={[
        { title: 'Route', cell: (row) => <UseRoute row={row} /> },
        { title: 'Name', cell: ({ name }) => <Text>{name}</Text> },
        {
          title: 'Can be executed',
          cell: ({ executable }) => (executable ? 'yes' : <strong>no</strong>),
        },
        { title: 'From, to', cell: ({ metadata }) => <AllFields of={metadata} /> },
        {
          title: 'Health',
          cell: ({ health }) =>
            health === undefined ? (
              'unknown'
            ) : (
              <>
                <State>{health.status}</State> <AllFields of={{ executors: health.executors }} />
              </>
            ),
        },
        { title: 'Did', cell: ({ stats }) => <Stats stats={stats} /> },
        {
          title: 'Bridge',
          cell: ({ bridge }) => (bridge === null ? 'none' : <AllFields of={bridge} />),
        },
        { title: 'Fees', cell: ({ fee_policy }) => <AllFields of={fee_policy} /> },
        { title: 'Limits', cell: ({ risk_controls }) => <AllFields of={risk_controls} /> },
        {
          title: 'Graph',
          cell: ({ graph_shape, node_count }) => (
            <Text>{`${graph_shape.replaceAll('_', ' ')}, ${String(node_count)} nodes`}</Text>
          ),
        },
      ]}
    />
  );
}

function UseRoute({ row: { template_key, version, metadata, executable } }: { row: Route }) {
  const text = <Text>{`${template_key} version ${String(version)}`}</Text>;
  if (!executable) return text;
  const search = {
    template_key,
    template_version: String(version),
    asset: metadata.asset ?? '',
    source_venue: metadata.source_venue ?? '',
    destination_venue: metadata.destination_venue ?? '',
  };
  return (
    <Link to={'/new' as never} search={search as never}>
      {text}
    </Link>
  );
}

function Stats({ stats }: { stats: Route['stats'] }) {
  if (stats === null) return <>nothing yet</>;
  const { avg_duration_seconds: usual, max_duration_seconds: longest } = stats;
  return (
    <>
      {stats.total_completed} completed, {stats.total_failed} failed (
      {Math.round(stats.success_rate * 100)}%)
      {usual !== null && `, usually ${lasts(usual)}`}
      {longest !== null && `, at most ${lasts(longest)}`}
    </>
  );
}

function lasts(seconds: number): string {
  return `${durationInWords(seconds)} (${String(seconds)} s)`;
}
