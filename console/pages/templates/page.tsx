/** Lists templates and their versions, newest first. */
import { Link } from '@tanstack/react-router';
import type { QueryOf, RowOf } from '../../../clients/http/operations.ts';
import { useRows } from '../../data/reads.ts';
import { Filters, useFilters, type Filter } from '../../parts/filters.tsx';
import { SaveRows } from '../../parts/save-rows.tsx';
import { Table } from '../../parts/table.tsx';
import { Text } from '../../parts/text.tsx';
import { Id, State, Time } from '../../parts/values.tsx';
import { WriteButton, type Write } from '../../parts/write.tsx';

type Row = RowOf<'listPlanTemplates'>;

const FILTERS: readonly Filter[] = [
  { name: 'template_key', label: 'Template' },
  { name: 'status', label: 'Status', options: ['active', 'retired'] },
  { name: 'executable', label: 'Can be executed', options: ['true', 'false'] },
];

const SAVED = [
  ...(['template_id', 'template_key', 'version', 'name', 'owner', 'status'] as const),
  ...(['graph_shape', 'executable_in_v3_0', 'non_executable_reasons', 'created_by'] as const),
  ...(['created_at', 'retired_at', 'retired_by', 'retired_reason'] as const),
];

const REGISTER: Write = {
  operation: 'createPlanTemplate',
  title: 'Register a version',
  consequence: 'Movements can be made of it from then on. A version never changes.',
  entries: [
    {
      at: ['template'],
      label: 'Template',
      kind: 'json',
      empty: 'required',
      hint: 'The body of POST plan-templates, as fundctl takes it.',
    },
  ],
  // The service reports what is not valid in the template.
  inputOf: ({ template }) => ({ body: template as Readonly<Record<string, unknown>> }),
};

export default function Templates() {
  const query = { ...useFilters(FILTERS), limit: 50 } as unknown as QueryOf<'listPlanTemplates'>;
  const { rows, query: read } = useRows('listPlanTemplates', { query });
  return (
    <>
      <h1>Templates</h1>
      <Filters filters={FILTERS} />
      <div className="actions">
        <WriteButton write={REGISTER} />
        <SaveRows name="templates" columns={SAVED} rows={rows} />
      </div>
      <Table
        caption="Template versions"
        rows={rows}
        keyOf={({ template_id }) => template_id}
        query={read}
        none="No template fits."
        columns={[
          { title: 'Template', cell: (row) => <TemplateLink row={row} /> },
          { title: 'Name', cell: ({ name }) => <Text>{name}</Text> },
          { title: 'Status', cell: (row) => <Status row={row} /> },
          {
            title: 'Graph',
            cell: ({ graph_shape, requires_graph_runtime: isGraph }) => (
              <>
                <Text>{graph_shape.replaceAll('_', ' ')}</Text>
                {isGraph && ', with branches'}
              </>
            ),
          },
          {
            title: 'Can be executed',
            cell: ({ executable_in_v3_0: can, non_executable_reasons: reasons }) => (
              <>
                {can ? 'yes' : <strong>no</strong>} <Text>{reasons.join(', ')}</Text>
              </>
            ),
          },
          {
            title: 'Is complete once',
            cell: ({ completion_policy: { completion_assurance } }) => (
              <Text>{completion_assurance.replaceAll('_', ' ')}</Text>
            ),
          },
          { title: 'Owner', cell: ({ owner }) => <Text>{owner ?? 'none'}</Text> },
          {
            title: 'Registered',
            cell: ({ created_at, created_by }) => (
              <>
                <Time at={created_at} /> by <Text>{created_by ?? 'unknown'}</Text>
              </>
            ),
          },
          { title: 'Id', cell: ({ template_id }) => <Id>{template_id}</Id> },
        ]}
      />
    </>
  );
}

function TemplateLink({ row: { template_id, template_key, version } }: { row: Row }) {
  return (
    <Link to={`/templates/${template_id}` as never}>
      <Text>{`${template_key} version ${String(version)}`}</Text>
    </Link>
  );
}

export function Status({
  row: { status, retired_at, retired_by, retired_reason },
}: {
  row: Pick<Row, 'status' | 'retired_at' | 'retired_by' | 'retired_reason'>;
}) {
  return (
    <>
      <State>{status}</State>
      {retired_at !== null && (
        <>
          {' '}
          <Time at={retired_at} /> by <Text>{retired_by ?? 'unknown'}</Text>:{' '}
          <Text>{retired_reason ?? 'no reason'}</Text>
        </>
      )}
    </>
  );
}
