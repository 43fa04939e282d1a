/** One proposal of an agent: its content, its outcome, and the reason. */
import { Link, useParams } from '@tanstack/react-router';
import { useRead } from '../../data/reads.ts';
import { AllFields } from '../../parts/all-fields.tsx';
import { MovementLink } from '../../parts/movement-values.tsx';
import { Reading } from '../../parts/reading.tsx';
import { Section } from '../../parts/section.tsx';
import { Text } from '../../parts/text.tsx';
import { Id, State } from '../../parts/values.tsx';
import { Promote, TemplateOf } from '../proposals/parts.tsx';

export default function ProposalPage() {
  const { proposal_id = '' } = useParams({ strict: false });
  // The key discards all state when the page changes to another proposal, most of all an open
  // sheet.
  return <OneProposal key={proposal_id} params={{ proposal_id }} />;
}

function OneProposal({ params }: { params: { readonly proposal_id: string } }) {
  const read = useRead('getTemplateProposal', { params });
  return (
    <>
      <h1>Proposal</h1>
      <Reading of={read}>
        {(row) => (
          <>
            <p>
              <State>{row.status}</State> <Id>{row.proposal_id}</Id> of{' '}
              <Link
                to={'/proposals' as never}
                search={{ authority_key: row.authority_key } as never}
              >
                <Text>{row.authority_key}</Text>
              </Link>
            </p>
            <p>
              Its template: <TemplateOf row={row} />. Its movement:{' '}
              {row.movement_id === null ? 'none' : <MovementLink id={row.movement_id} />}
            </p>
            <Section title="Actions">
              <Promote row={row} />
            </Section>
            <Section title="What is proposed">
              <AllFields of={row.proposal} />
            </Section>
            <Section title="About it">
              <AllFields of={row} without={['proposal_id', 'status', 'proposal', 'movement_id']} />
            </Section>
          </>
        )}
      </Reading>
    </>
  );
}
