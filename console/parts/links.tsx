/** Links to the page of a transfer or proposal. */
import { Link } from '@tanstack/react-router';
import { Id } from './values.tsx';

export function TransferLink({ id }: { id: string }) {
  return <PageLink to={`/transfers/${id}`} id={id} />;
}

export function ProposalLink({ id }: { id: string }) {
  return <PageLink to={`/proposals/${id}`} id={id} />;
}

function PageLink({ to, id }: { to: string; id: string }) {
  return (
    <Link to={to as never}>
      <Id>{id}</Id>
    </Link>
  );
}
