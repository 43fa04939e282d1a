/** Parts that the list of proposals and the page of one proposal share. */
import { Link } from '@tanstack/react-router';
import type { RowOf } from '../../../clients/http/operations.ts';
import { Text } from '../../parts/text.tsx';
import { WriteButton, type Write } from '../../parts/write.tsx';

export type Proposal = RowOf<'listTemplateProposals'>;

export function TemplateOf({ row }: { row: Pick<Proposal, 'template_key' | 'template_version'> }) {
  const { template_key: key, template_version: version } = row;
  return key === null ? (
    'none'
  ) : (
    <Link to={'/templates' as never} search={{ template_key: key } as never}>
      <Text>{`${key} version ${String(version)}`}</Text>
    </Link>
  );
}

export function Promote({
  row,
}: {
  row: Pick<Proposal, 'proposal_id' | 'status' | 'template_key'>;
}) {
  const { proposal_id, status, template_key } = row;
  const write: Write = {
    operation: 'promoteTemplateProposal',
    title: `Promote ${template_key ?? proposal_id}`,
    consequence:
      'Its plan becomes a template version that the agent may use. The limits of its authority are waived for this version and its amount; allowlist, signer and bridge path are checked again.',
    inputOf: () => ({ params: { proposal_id } }),
    standing: status,
  };
  const because = status === 'submitted' ? null : `It is ${status.replaceAll('_', ' ')} already.`;
  return <WriteButton write={write} disabledBecause={because} />;
}
