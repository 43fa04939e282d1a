/** Policies: what is approved automatically, within which limits, and how much of them remains. */
import type { ResultOf } from '../../../clients/http/operations.ts';
import { useRead } from '../../data/reads.ts';
import type { Entry } from '../../parts/form-model.ts';
import { Filters, useFilters, type Filter } from '../../parts/filters.tsx';
import { Reading } from '../../parts/reading.tsx';
import { SaveRows } from '../../parts/save-rows.tsx';
import { Section } from '../../parts/section.tsx';
import { Table } from '../../parts/table.tsx';
import { Text } from '../../parts/text.tsx';
import { Amount, Id, State, Time } from '../../parts/values.tsx';
import { WriteButton, type Write } from '../../parts/write.tsx';

type Policy = ResultOf<'listAutoApprovePolicies'>[number];
type Budget = ResultOf<'getBudget'>['policies'][number];

const FILTERS: readonly Filter[] = [
  { name: 'strategy_id', label: 'Strategy' },
  { name: 'is_active', label: 'Active', options: ['true', 'false'] },
];

const SAVED = [
  ...(['policy_id', 'client_id', 'strategy_id', 'is_active', 'allowed_templates'] as const),
  ...(['allowed_assets', 'max_amount_per_request', 'window_hours'] as const),
  ...(['max_amount_per_window', 'max_count_per_window', 'created_by'] as const),
  ...(['created_at', 'updated_at'] as const),
];

export default function Policies() {
  const { strategy_id, is_active } = useFilters(FILTERS);
  const read = useRead('listAutoApprovePolicies', {});
  const fits = (policy: Policy): boolean =>
    (strategy_id === undefined || policy.strategy_id === strategy_id) &&
    (is_active === undefined || String(policy.is_active) === is_active);
  return (
    <>
      <h1>Policies and budgets</h1>
      <p>A movement that fits a policy is approved without a person.</p>
      <Filters filters={FILTERS} />
      <div className="actions">
        <WriteButton write={CREATE} />
      </div>
      <Reading of={read}>
        {(policies) => (
          <>
            <SaveRows name="policies" columns={SAVED} rows={policies.filter(fits)} />
            <Rows rows={policies.filter(fits)} />
          </>
        )}
      </Reading>
      <Budgets strategy={strategy_id ?? null} />
    </>
  );
}

function Rows({ rows }: { rows: readonly Policy[] }) {
  return (
    <Table
      caption="Policies"
      rows={rows}
      keyOf={({ policy_id }) => policy_id}
      none="No policy fits: every movement waits for a person."
      columns={[
        { title: 'Policy', cell: ({ policy_id }) => <Id>{policy_id}</Id> },
        { title: 'Strategy', cell: ({ strategy_id }) => <Text>{strategy_id}</Text> },
        { title: 'Client', cell: ({ client_id }) => <Id>{client_id}</Id> },
        {
          title: 'State',
          cell: ({ is_active }) => <State>{is_active ? 'ACTIVE' : 'INACTIVE'}</State>,
        },
        {
          title: 'Templates',
          cell: ({ allowed_templates }) =>
            allowed_templates.length === 0 ? (
              'none'
            ) : (
              <ul className="values">
                {allowed_templates.map(({ template_key, template_version: version }) => (
                  <li key={`${template_key}@${String(version)}`}>
                    <Text>{template_key}</Text>{' '}
                    {version === null ? 'every version' : `version ${String(version)}`}
                  </li>
                ))}
              </ul>
            ),
        },
        {
          title: 'Assets',
          cell: ({ allowed_assets }) => <Text>{allowed_assets.join(', ') || 'none'}</Text>,
        },
        {
          title: 'Each at most',
          cell: ({ max_amount_per_request: most }) =>
            most === null ? 'no limit' : <Amount amount={most} />,
        },
        { title: 'In its window', cell: (row) => <Window policy={row} /> },
        {
          title: 'Made',
          cell: ({ created_at, created_by }) => (
            <>
              <Time at={created_at} /> by <Text>{created_by ?? 'unknown'}</Text>
            </>
          ),
        },
        { title: 'Changed', cell: ({ updated_at }) => <Time at={updated_at} /> },
        {
          title: 'Actions',
          cell: (row) => (
            <>
              <WriteButton write={switchOf(row)} /> <WriteButton write={changeOf(row)} />
            </>
          ),
        },
      ]}
    />
  );
}

function Window({ policy }: { policy: Policy }) {
  const {
    window_hours: hours,
    max_amount_per_window: amount,
    max_count_per_window: times,
  } = policy;
  if (hours === null) return <>no window</>;
  return (
    <>
      {hours} h: {amount === null ? 'any amount' : <Amount amount={amount} />},{' '}
      {times === null ? 'any number' : `${String(times)} movements`}
    </>
  );
}

/** Shows how much remains of a strategy's budget windows. */
function Budgets({ strategy }: { strategy: string | null }) {
  const read = useRead(
    'getBudget',
    { params: { strategy_id: strategy ?? '' } },
    { enabled: strategy !== null },
  );
  return (
    <Section title="What is left of the budgets">
      {strategy === null ? (
        <p>Write a strategy in the filter to see what its windows have left.</p>
      ) : (
        <Reading of={read}>
          {({ strategy_id, policies }) => <BudgetRows strategy={strategy_id} rows={policies} />}
        </Reading>
      )}
    </Section>
  );
}

function BudgetRows({ strategy, rows }: { strategy: string; rows: readonly Budget[] }) {
  return (
    <>
      <p>
        Of the strategy <Text>{strategy}</Text>
      </p>
      <Table
        caption="Budgets"
        rows={rows}
        keyOf={({ policy_id }) => policy_id}
        none="No active policy of it caps a window."
        columns={[
          { title: 'Policy', cell: ({ policy_id }) => <Id>{policy_id}</Id> },
          { title: 'Window', cell: ({ window_hours }) => `${String(window_hours)} h` },
          {
            title: 'Left',
            cell: ({ available_amount: left }) =>
              left === null ? 'no cap of the amount' : <Amount amount={left} />,
          },
          {
            title: 'At most',
            cell: ({ max_amount_per_window: most }) =>
              most === null ? 'no cap' : <Amount amount={most} />,
          },
          { title: 'Open', cell: ({ reserved_amount }) => <Amount amount={reserved_amount} /> },
          {
            title: 'Completed',
            cell: ({ consumed_amount }) => <Amount amount={consumed_amount} />,
          },
          {
            title: 'Movements',
            cell: ({ count_in_window: count, max_count_per_window: most }) =>
              most === null ? String(count) : `${String(count)} of ${String(most)}`,
          },
        ]}
      />
    </>
  );
}

function limitEntries(policy: Policy | null): readonly Entry[] {
  const text = (value: string | number | null | undefined): string => String(value ?? '');
  return [
    {
      at: ['allowed_templates'],
      label: 'Templates',
      kind: 'json',
      empty: 'required',
      hint: 'A list of {"template_key": …, "template_version": …}; version null allows all. An empty list allows none.',
      initial: JSON.stringify(policy?.allowed_templates ?? [], null, 1),
    },
    {
      at: ['allowed_assets'],
      label: 'Assets',
      kind: 'list',
      empty: 'required',
      hint: 'Words between commas.',
      initial: (policy?.allowed_assets ?? []).join(', '),
    },
    {
      at: ['max_amount_per_request'],
      label: 'Each at most',
      kind: 'decimal',
      empty: 'null',
      initial: text(policy?.max_amount_per_request),
    },
    {
      at: ['window_hours'],
      label: 'Window in hours',
      kind: 'integer',
      empty: 'null',
      initial: text(policy?.window_hours),
    },
    {
      at: ['max_amount_per_window'],
      label: 'Amount in the window at most',
      kind: 'decimal',
      empty: 'null',
      hint: 'Of all assets together.',
      initial: text(policy?.max_amount_per_window),
    },
    {
      at: ['max_count_per_window'],
      label: 'Movements in the window at most',
      kind: 'integer',
      empty: 'null',
      initial: text(policy?.max_count_per_window),
    },
  ];
}

const CREATE: Write = {
  operation: 'createAutoApprovePolicy',
  title: 'New policy',
  consequence: 'It approves movements of this client and strategy that fit it, without a person.',
  entries: [
    { at: ['client_id'], label: 'Client', kind: 'text', empty: 'required', hint: 'Its id.' },
    { at: ['strategy_id'], label: 'Strategy', kind: 'text', empty: 'required' },
    ...limitEntries(null),
  ],
  inputOf: (body) => ({ body }),
};

function switchOf({ policy_id, is_active, strategy_id, updated_at }: Policy): Write {
  return {
    operation: 'updateAutoApprovePolicy',
    title: `${is_active ? 'Switch off' : 'Switch on'} ${strategy_id}`,
    consequence: is_active
      ? 'Its movements wait for a person from now on; what it has approved goes on.'
      : 'It approves movements that fit it, without a person.',
    inputOf: () => ({ params: { policy_id }, body: { is_active: !is_active } }),
    kind: is_active ? 'danger' : 'plain',
    standing: updated_at,
  };
}

function changeOf(policy: Policy): Write {
  const { policy_id, strategy_id, updated_at } = policy;
  return {
    operation: 'updateAutoApprovePolicy',
    title: `Change ${strategy_id}`,
    consequence: 'The limits as they stand below hold for what is created from now on.',
    entries: limitEntries(policy),
    inputOf: (body) => ({ params: { policy_id }, body }),
    standing: updated_at,
  };
}
