/** Links to the page of a transfer, proposal or change request. */
import { Link } from '@tanstack/react-router';
import { shortAddress } from './format.ts';
import { Id } from './values.tsx';

export function TransferLink({ id }: { id: string }) {
  return <PageLink to={`/transfers/${id}`} id={id} />;
}

export function ProposalLink({ id }: { id: string }) {
  return <PageLink to={`/proposals/${id}`} id={id} />;
}

/** Renders a link to a change request. `isShort`: with the two ends of its id. */
export function ChangeLink({ id, isShort = false }: { id: string; isShort?: boolean }) {
  return <PageLink to={`/changes/${id}`} id={isShort ? shortAddress(id) : id} />;
}

function PageLink({ to, id }: { to: string; id: string }) {
  return (
    <Link to={to as never}>
      <Id>{id}</Id>
    </Link>
  );
}
