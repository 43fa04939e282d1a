/**
 * One version of a template: its graph, its nodes and terms, and its differences from another
 * version.
 */
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useId, useMemo } from 'react';
import type { ResultOf, RowOf } from '../../../clients/http/operations.ts';
import { useRead, useRows } from '../../data/reads.ts';
import { AllFields } from '../../parts/all-fields.tsx';
import { Reading } from '../../parts/reading.tsx';
import { Section } from '../../parts/section.tsx';
import { Table } from '../../parts/table.tsx';
import { Text } from '../../parts/text.tsx';
import { Amount } from '../../parts/values.tsx';
import { WriteButton, type Write } from '../../parts/write.tsx';
import { placed, type Drawable } from '../movement/model/graph.ts';
import { GraphDrawing } from '../movement/parts/graph.tsx';
import { Edges } from '../movement/parts/nodes.tsx';
import { Status } from '../templates/page.tsx';
import { differencesOf } from './compare.ts';

type Template = ResultOf<'getPlanTemplate'>;

export default function TemplatePage() {
  const { template_id = '' } = useParams({ strict: false });
  const read = useRead('getPlanTemplate', { params: { template_id } });
  return (
    <>
      {read.data === undefined && <h1>Template</h1>}
      <Reading of={read}>{(template) => <TemplateView template={template} />}</Reading>
    </>
  );
}

function TemplateView({ template }: { template: Template }) {
  const { template_key, version, name, nodes } = template;
  const isActive = template.status === 'active';
  return (
    <>
      <h1>
        <Text>{`${template_key} version ${String(version)}`}</Text>
      </h1>
      <p>
        <Text>{name}</Text> <Status row={template} />
      </p>
      {!template.executable_in_v3_0 && (
        <p className="warning">
          It cannot be executed: <Text>{template.non_executable_reasons.join(', ')}</Text>
        </p>
      )}
      <p className="actions">
        {isActive && template.executable_in_v3_0 && (
          <Link
            to={'/new' as never}
            search={{ template_key, template_version: String(version) } as never}
          >
            New movement
          </Link>
        )}
        <WriteButton
          write={retireOf(template)}
          disabledBecause={isActive ? null : 'It is retired already.'}
        />
        <WriteButton write={adminOf(template)} />
      </p>
      <Section title="Graph">
        <TemplateGraph template={template} />
      </Section>
      <Section title="Nodes">
        <ul className="nodes" aria-label="Nodes">
          {nodes.map((node) => (
            <li key={node.id}>
              <h3>
                <Text>{node.node_key}</Text>
              </h3>
              <AllFields of={node} without={['node_key']} />
            </li>
          ))}
        </ul>
      </Section>
      <Section title="Automatic approval">
        <p>
          {template.auto_approve_enabled ? 'Allowed by policies' : 'Switched off for this template'}
          {template.daily_cap_amount !== null && (
            <>
              , at most{' '}
              <Amount amount={template.daily_cap_amount} asset={template.daily_cap_asset} /> a day
            </>
          )}
        </p>
      </Section>
      <Section title="Terms">
        <AllFields
          of={template}
          without={[
            'template_key',
            'version',
            'name',
            'nodes',
            'edges',
            'status',
            'retired_at',
            'retired_by',
            'retired_reason',
            'auto_approve_enabled',
            'daily_cap_amount',
            'daily_cap_asset',
          ]}
        />
      </Section>
      <Compare template={template} />
    </>
  );
}

function TemplateGraph({ template: { nodes, edges } }: { template: Template }) {
  const drawn = useMemo(() => placed({ nodes, edges } satisfies Drawable), [nodes, edges]);
  return (
    <>
      <GraphDrawing graph={drawn} label="Graph of the template" />
      <Edges edges={drawn.edges} />
    </>
  );
}

/** Compares the template with another version of the same key, which the URL names. */
function Compare({ template }: { template: Template }) {
  const { template_key, template_id } = template;
  const id = useId();
  const navigate = useNavigate();
  const search: Readonly<Record<string, string | undefined>> = useSearch({ strict: false });
  const { rows } = useRows('listPlanTemplates', { query: { template_key, limit: 200 } });
  const others = rows.filter((row) => row.template_id !== template_id);
  const chosen = search['with'] ?? '';
  const other = useRead(
    'getPlanTemplate',
    { params: { template_id: chosen } },
    { enabled: chosen !== '' },
  );
  return (
    <Section title="Compare versions">
      {others.length === 0 ? (
        <p>There is no other version.</p>
      ) : (
        <p>
          <label htmlFor={id}>Compare with </label>
          <select
            id={id}
            value={chosen}
            onChange={({ target }) =>
              void navigate({ to: '.', search: { with: target.value } as never })
            }
          >
            <option value="">none</option>
            {others.map((row) => (
              <Version key={row.template_id} row={row} />
            ))}
          </select>
        </p>
      )}
      {chosen !== '' && (
        <Reading of={other}>{(before) => <Differences before={before} after={template} />}</Reading>
      )}
    </Section>
  );
}

function Version({ row: { template_id, version } }: { row: RowOf<'listPlanTemplates'> }) {
  return <option value={template_id}>{`version ${String(version)}`}</option>;
}

function Differences({ before, after }: { before: Template; after: Template }) {
  const rows = useMemo(() => differencesOf(before, after), [before, after]);
  return (
    <Table
      caption={`From version ${String(before.version)} to version ${String(after.version)}`}
      rows={rows}
      keyOf={({ of, field }) => `${of}\n${field ?? ''}`}
      none="They differ in nothing."
      columns={[
        { title: 'Of', cell: ({ of }) => <Text>{of}</Text> },
        { title: 'Field', cell: ({ field }) => <Text>{field ?? 'all of it'}</Text> },
        {
          title: `Version ${String(before.version)}`,
          cell: ({ before: was }) => (was === null ? 'none' : <Text>{was}</Text>),
        },
        {
          title: `Version ${String(after.version)}, shown here`,
          cell: ({ after: is }) => (is === null ? 'none' : <Text>{is}</Text>),
        },
      ]}
    />
  );
}

function retireOf({ template_id, template_key, version, status }: Template): Write {
  return {
    operation: 'retirePlanTemplate',
    title: `Retire version ${String(version)}`,
    consequence: `No new movement uses version ${String(version)} of ${template_key}. Its movements go on.`,
    entries: [{ at: ['reason'], label: 'Reason', kind: 'long', empty: 'required' }],
    inputOf: (body) => ({ params: { template_id }, body }),
    kind: 'danger',
    standing: status,
  };
}

function adminOf(template: Template): Write {
  const { template_key, auto_approve_enabled, daily_cap_amount, daily_cap_asset } = template;
  return {
    operation: 'updatePlanTemplateAdmin',
    title: 'Automatic approval',
    consequence: `Holds for every version of ${template_key}. Without both caps it cannot be allowed.`,
    entries: [
      {
        at: ['auto_approve_enabled'],
        label: 'Allowed by policies',
        kind: 'boolean',
        empty: 'required',
        initial: String(auto_approve_enabled),
      },
      {
        at: ['daily_cap_amount'],
        label: 'At most a day',
        kind: 'decimal',
        empty: 'null',
        initial: daily_cap_amount ?? '',
      },
      {
        at: ['daily_cap_asset'],
        label: 'Of the asset',
        kind: 'text',
        empty: 'null',
        initial: daily_cap_asset ?? '',
      },
    ],
    inputOf: (body) => ({ params: { template_key }, body }),
    standing: JSON.stringify([auto_approve_enabled, daily_cap_amount, daily_cap_asset]),
  };
}
