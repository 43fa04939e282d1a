/**
 * Lists what waits for this operator, what waits for others, what is broken, and what somebody
 * changed alone.
 */
import { Link } from '@tanstack/react-router';
import { useEffect, type ReactNode } from 'react';
import { brokenGlass, LAST_WEEK, ofLastWeek } from '../../data/broken-glass.ts';
import { useRows, type Rows } from '../../data/reads.ts';
import { CHANGE_COLUMNS, type ChangeRow } from '../../parts/change-values.tsx';
import { ProposalLink, TransferLink } from '../../parts/links.tsx';
import { MOVEMENT_COLUMNS, type MovementRow } from '../../parts/movement-values.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Table, type TableProps } from '../../parts/table.tsx';
import { Text } from '../../parts/text.tsx';
import { useNow } from '../../parts/use-now.ts';
import { Amount, Reason, Time } from '../../parts/values.tsx';
import { mayApproveChange } from '../change/model.ts';
import { approvableFirst, groupOfMovement, mayApprove, type Group } from './groups.ts';

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
    query: { needs_attention: 'true', limit: 50 },
  });
  const proposals = useRows('listTemplateProposals', {
    query: { status: 'submitted', limit: 50 },
  });
  const changes = useRows('listChangeRequests', { query: { state: 'open', limit: 50 } });
  const alone = useRows('listChangeRequests', { query: LAST_WEEK });
  const letters = useRows('listCallbacks', { query: { status: 'dead_letter', limit: 50 } });
  const of = (group: Group): readonly MovementRow[] =>
    rows.filter((row) => groupOfMovement(row) === group);
  const count =
    of('you').length +
    of('broken').length +
    transfers.rows.length +
    changes.rows.filter(mayApprove).length;
  const more = query.hasNextPage ? '+' : '';
  const inTitle = [query, transfers.query, changes.query];
  const counted = `${String(count)}${inTitle.some(({ hasNextPage }) => hasNextPage) ? '+' : ''}`;
  const isCounted = inTitle.every(({ isSuccess }) => isSuccess);
  useEffect(() => {
    document.title = isCounted
      ? `(${counted}) Needs you · Fund movements`
      : 'Needs you · Fund movements';
  }, [counted, isCounted]);
  return (
    <>
      <h1>Needs you</h1>
      {[...inTitle, proposals.query, alone.query, letters.query].map(
        // A list that could not be read may still contain something that needs a person.
        ({ isError, error }, index) => isError && <Problem key={index} error={error} />,
      )}
      <MadeAlone read={alone} />
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
        title="Changes that wait for approvals"
        caption="Open change requests, those first that you may approve"
        read={{ ...changes, rows: approvableFirst(changes.rows) }}
        all={{}}
        keyOf={({ change_request_id }) => change_request_id}
        columns={[
          CHANGE_COLUMNS.request,
          CHANGE_COLUMNS.kind,
          CHANGE_COLUMNS.call,
          CHANGE_COLUMNS.author,
          CHANGE_COLUMNS.missing,
          { title: 'Your approval', cell: ({ approvals }) => <YourApproval of={approvals} /> },
          CHANGE_COLUMNS.expires,
        ]}
      />
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

/** Lists what was changed alone within the last seven days, in place of the banner. */
function MadeAlone({ read: { rows, query } }: { read: Rows<ChangeRow> }) {
  const made = ofLastWeek(rows, useNow());
  return (
    <Waiting
      title="Made alone"
      caption="Changes that were made alone"
      read={{ rows: made, query }}
      all={{ state: 'any', break_glass: 'true' }}
      keyOf={({ change_request_id }) => change_request_id}
      columns={[
        CHANGE_COLUMNS.request,
        CHANGE_COLUMNS.kind,
        CHANGE_COLUMNS.author,
        { title: 'Reason', cell: ({ reason }) => <Text>{reason ?? 'none'}</Text> },
        CHANGE_COLUMNS.created,
      ]}
    >
      <div role="status" className="notice">
        <p>
          <strong>{brokenGlass(made.length, query.hasNextPage)}.</strong>
        </p>
      </div>
    </Waiting>
  );
}

/** Shows whether this operator may approve a change request, and else why not. */
function YourApproval({ of: { you } }: { of: ChangeRow['approvals'] }) {
  if (you.may) return <strong>{mayApproveChange(null)}</strong>;
  return <Reason code={you.why_not}>{mayApproveChange(you.why_not)}</Reason>;
}

/**
 * Lists what needs the operator besides movements; renders nothing when there is none. `all`: the
 * filters of the page of changes that show all rows when there are more than these.
 */
function Waiting<Row>({
  title,
  caption,
  read: { rows, query },
  all,
  children,
  ...table
}: Pick<TableProps<Row>, 'caption' | 'keyOf' | 'columns'> & {
  title: string;
  read: Rows<Row>;
  all?: Readonly<Record<string, string>>;
  children?: ReactNode;
}) {
  if (rows.length === 0) return null;
  return (
    <section aria-label={title}>
      <h2>
        {title} ({rows.length}
        {query.hasNextPage ? '+' : ''})
      </h2>
      {children}
      <Table caption={caption} rows={rows} {...table} />
      {all !== undefined && query.hasNextPage && (
        <p>
          There are more than these;{' '}
          <Link to={'/changes' as never} search={all as never}>
            the list
          </Link>{' '}
          has all.
        </p>
      )}
    </section>
  );
}
