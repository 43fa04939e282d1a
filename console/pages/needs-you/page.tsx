/** Lists what waits for this operator, what waits for others, and what is broken. */
import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useRows, type Rows } from '../../data/reads.ts';
import { ProposalLink, TransferLink } from '../../parts/links.tsx';
import { MOVEMENT_COLUMNS, type MovementRow } from '../../parts/movement-values.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Table, type TableProps } from '../../parts/table.tsx';
import { Text } from '../../parts/text.tsx';
import { Amount, Reason, Time } from '../../parts/values.tsx';
import { groupOf, type Group } from './groups.ts';

const SECTIONS: readonly {
  readonly group: Group;
  readonly title: string;
  readonly none: string;
}[] = [
  { group: 'you', title: 'Waits for you', none: 'Nothing waits for you.' },
  { group: 'broken', title: 'Broken', none: 'Nothing is broken.' },
  { group: 'others', title: 'Waits for others', none: 'Nothing waits for a venue or a team.' },
];

export default function NeedsYou() {
  const { rows, query } = useRows('listMovements', {
    query: { needs_attention: 'true', limit: 200 },
  });
  const transfers = useRows('listCapitalTransfers', {
    query: { state: 'MANUAL_INTERVENTION', limit: 50 },
  });
  const proposals = useRows('listTemplateProposals', {
    query: { status: 'submitted', limit: 50 },
  });
  const letters = useRows('listCallbacks', { query: { status: 'dead_letter', limit: 50 } });
  const of = (group: Group): readonly MovementRow[] =>
    rows.filter(({ attention_reason }) => groupOf(attention_reason) === group);
  const count = of('you').length + of('broken').length + transfers.rows.length;
  const more = query.hasNextPage ? '+' : '';
  const counted = `${String(count)}${query.hasNextPage || transfers.query.hasNextPage ? '+' : ''}`;
  const isCounted = query.isSuccess && transfers.query.isSuccess;
  useEffect(() => {
    document.title = isCounted
      ? `(${counted}) Needs you · Fund movements`
      : 'Needs you · Fund movements';
  }, [counted, isCounted]);
  return (
    <>
      <h1>Needs you</h1>
      {[query, transfers.query, proposals.query, letters.query].map(
        // A list that could not be read may still contain something that needs a person.
        ({ isError, error }, index) => isError && <Problem key={index} error={error} />,
      )}
      {query.isPending && <p role="status">Reading…</p>}
      {query.data !== undefined &&
        SECTIONS.map(({ group, title, none }) => (
          <section key={group} aria-label={title}>
            <h2>
              {title} ({of(group).length}
              {more})
            </h2>
            {group === 'you' && of('you').length > 0 && (
              <p>
                <Link to={'/approvals' as never}>Decide several at once</Link>
              </p>
            )}
            <Table
              caption={title}
              columns={MOVEMENT_COLUMNS}
              rows={of(group)}
              keyOf={({ movement_id }) => movement_id}
              none={none}
            />
          </section>
        ))}
      {query.hasNextPage && (
        <p>
          There are more than these; <Link to={'/movements' as never}>the list</Link> has all.
        </p>
      )}
      <Waiting
        title="Capital transfers"
        caption="Capital transfers that need a person"
        read={transfers}
        keyOf={({ transfer_id }) => transfer_id}
        columns={[
          { title: 'Transfer', cell: ({ transfer_id: id }) => <TransferLink id={id} /> },
          {
            title: 'Amount',
            cell: ({ amount, asset }) => <Amount amount={amount} asset={asset} />,
          },
          {
            title: 'Needs a person',
            cell: ({ attention, error_code }) => (
              <Reason code={error_code}>{attention?.message ?? null}</Reason>
            ),
          },
          { title: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
        ]}
      />
      <Waiting
        title="Proposals"
        caption="Proposals that wait for an administrator"
        read={proposals}
        keyOf={({ proposal_id }) => proposal_id}
        columns={[
          { title: 'Proposal', cell: ({ proposal_id: id }) => <ProposalLink id={id} /> },
          { title: 'Agent', cell: ({ authority_key }) => <Text>{authority_key}</Text> },
          {
            title: 'Why it was not promoted by itself',
            cell: ({ reasons }) => (
              <Text>{reasons.map((reason) => reason.replaceAll('_', ' ')).join(', ')}</Text>
            ),
          },
          { title: 'Expires', cell: ({ expires_at }) => <Time at={expires_at} /> },
        ]}
      />
      {letters.rows.length > 0 && (
        <section aria-label="Callbacks that were not delivered">
          <h2>Callbacks that were not delivered</h2>
          <p>
            <Link to={'/callbacks' as never} search={{ status: 'dead_letter' } as never}>
              {letters.rows.length}
              {letters.query.hasNextPage ? '+' : ''} dead letters
            </Link>
          </p>
        </section>
      )}
    </>
  );
}

/** Lists what needs the operator besides movements; renders nothing when there is none. */
function Waiting<Row>({
  title,
  caption,
  read: { rows, query },
  ...table
}: Pick<TableProps<Row>, 'caption' | 'keyOf' | 'columns'> & {
  title: string;
  read: Rows<Row>;
}) {
  if (rows.length === 0) return null;
  return (
    <section aria-label={title}>
      <h2>
        {title} ({rows.length}
        {query.hasNextPage ? '+' : ''})
      </h2>
      <Table caption={caption} rows={rows} {...table} />
    </section>
  );
}
