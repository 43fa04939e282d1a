/** Proposals of agents, their outcome, and the reason. */
import type { QueryOf } from '../../../clients/http/operations.ts';
import { useRead, useRows } from '../../data/reads.ts';
import { AllFields } from '../../parts/all-fields.tsx';
import { Filters, useFilters, type Filter } from '../../parts/filters.tsx';
import { ProposalLink } from '../../parts/links.tsx';
import { MovementLink } from '../../parts/movement-values.tsx';
import { Reading } from '../../parts/reading.tsx';
import { SaveRows } from '../../parts/save-rows.tsx';
import { Section } from '../../parts/section.tsx';
import { Table } from '../../parts/table.tsx';
import { Text } from '../../parts/text.tsx';
import { Reason, State, Time } from '../../parts/values.tsx';
import { Promote, TemplateOf, type Proposal } from './parts.tsx';

const STATUSES = [
  'submitted',
  'auto_promoted',
  'rejected',
  'expired',
] as const satisfies readonly Proposal['status'][];

const FILTERS: readonly Filter[] = [
  { name: 'status', label: 'Status', options: STATUSES },
  { name: 'authority_key', label: 'Agent' },
];

const SAVED = [
  ...(['proposal_id', 'authority_key', 'status', 'promotion_mode', 'template_key'] as const),
  ...(['template_version', 'reasons', 'proposal', 'problem', 'movement_id'] as const),
  ...(['created_at', 'expires_at'] as const),
];

export default function Proposals() {
  const filters = useFilters(FILTERS);
  const query = { ...filters, limit: 50 } as QueryOf<'listTemplateProposals'>;
  const { rows, query: read } = useRows('listTemplateProposals', { query });
  return (
    <>
      <h1>Proposals</h1>
      <Filters filters={FILTERS} />
      <SaveRows name="proposals" columns={SAVED} rows={rows} />
      <Table
        caption="Proposals"
        rows={rows}
        keyOf={({ proposal_id }) => proposal_id}
        query={read}
        none="No proposal fits."
        columns={[
          { title: 'Proposal', cell: ({ proposal_id }) => <ProposalLink id={proposal_id} /> },
          { title: 'Agent', cell: ({ authority_key }) => <Text>{authority_key}</Text> },
          {
            title: 'Status',
            cell: ({ status, promotion_mode: mode }) => (
              <>
                <State>{status}</State> {mode !== null && `promoted by: ${mode}`}
              </>
            ),
          },
          { title: 'Proposed', cell: ({ proposal }) => <AllFields of={proposal} /> },
          { title: 'Template', cell: (row) => <TemplateOf row={row} /> },
          {
            title: 'Why it was not promoted by itself',
            cell: ({ reasons, problem }) => (
              <>
                <Text>{reasons.map((reason) => reason.replaceAll('_', ' ')).join(', ')}</Text>{' '}
                <Reason>{problem}</Reason>
              </>
            ),
          },
          {
            title: 'Movement',
            cell: ({ movement_id: id }) => (id === null ? 'none' : <MovementLink id={id} />),
          },
          { title: 'Made', cell: ({ created_at }) => <Time at={created_at} /> },
          { title: 'Expires', cell: ({ expires_at }) => <Time at={expires_at} /> },
          { title: 'Actions', cell: (row) => <Promote row={row} /> },
        ]}
      />
      <Authority agent={filters['authority_key'] ?? null} />
    </>
  );
}

/** Shows what the agent chosen in the filter may propose and create. */
function Authority({ agent }: { agent: string | null }) {
  const read = useRead(
    'getAgentAuthority',
    { params: { authority_key: agent ?? '' } },
    { enabled: agent !== null },
  );
  return (
    <Section title="What an agent may do">
      {agent === null ? (
        <p>Write an agent in the filter to see its authority.</p>
      ) : (
        <Reading of={read}>{(authority) => <AllFields of={authority} />}</Reading>
      )}
    </Section>
  );
}
