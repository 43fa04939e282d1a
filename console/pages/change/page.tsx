/** One change request: what changes, the call that makes it, who has approved, and decisions. */
import { useParams } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useRead } from '../../data/reads.ts';
import { useSession } from '../../data/session.ts';
import { AllFields, AnyValue } from '../../parts/all-fields.tsx';
import { Approvals } from '../../parts/approvals.tsx';
import type { Entry } from '../../parts/form-model.ts';
import { Json } from '../../parts/json.tsx';
import { Reading } from '../../parts/reading.tsx';
import { Section } from '../../parts/section.tsx';
import { Table } from '../../parts/table.tsx';
import { Text } from '../../parts/text.tsx';
import { Id, State } from '../../parts/values.tsx';
import { WriteButton, type Write } from '../../parts/write.tsx';
import { comparedFields } from './compare.ts';
import { useDocument, useMoves } from './data.ts';
import {
  documentProblem,
  isAuthor,
  isOfFundadmin,
  mayApproveChange,
  outcomeOf,
  remainsOf,
  whyNotKnown,
  type Change,
} from './model.ts';
import { WhatMoves } from './moves.tsx';

export default function ChangePage() {
  const { change_request_id = '' } = useParams({ strict: false });
  // The key discards all state when the page changes to another change request, most of all an open
  // sheet.
  return <OneChange key={change_request_id} params={{ change_request_id }} />;
}

const SHOWN_ABOVE = [
  ...(['change_request_id', 'state', 'method', 'path', 'body', 'hash', 'subject'] as const),
  ...(['before', 'after', 'approvals', 'break_glass'] as const),
];

function OneChange({ params }: { params: { readonly change_request_id: string } }) {
  const read = useRead('getChangeRequest', { params });
  return (
    <>
      <h1>Change request</h1>
      <Reading of={read}>{(change) => <ChangeView change={change} />}</Reading>
    </>
  );
}

function ChangeView({ change: read }: { change: Change }) {
  const document = useDocument(read);
  const { reading } = document;
  const problem = documentProblem(document);
  // What is approved is the document, so it is shown once it has the hash.
  const change = reading?.status === 'agrees' ? { ...read, ...reading.wanted } : read;
  const moves = useMoves(change);
  return (
    <>
      <p>
        <State>{change.state}</State> <Id>{change.change_request_id}</Id>
      </p>
      <Notices change={change} />
      <Section title="Actions">
        <Actions change={change} unknown={problem ?? whyNotKnown(moves)} />
      </Section>
      <WhatMoves moves={moves} />
      <WhatChanges change={change} />
      <Call change={change} problem={problem} />
      <Approvals
        approvals={change.approvals}
        says={mayApproveChange(change.approvals.you.why_not)}
      />
      <Section title="About it">
        <AllFields of={change} without={SHOWN_ABOVE} />
      </Section>
    </>
  );
}

function Notices({ change }: { change: Change }) {
  const remains = remainsOf(change);
  if (remains === null && !change.break_glass) return null;
  return (
    <div className="notice">
      {change.break_glass && (
        <p>
          <strong>The glass was broken:</strong> this change needs no approval of others.
        </p>
      )}
      {remains !== null && <p>{remains}</p>}
    </div>
  );
}

function WhatChanges({ change: { subject, before, after } }: { change: Change }) {
  const rows = useMemo(() => comparedFields(before, after), [before, after]);
  return (
    <Section title="What changes">
      <p>
        A row of <Text>{subject}</Text>
        {before === null && ', which was not there before'}
      </p>
      <Table
        caption="Fields before and after"
        rows={rows}
        keyOf={({ path }) => JSON.stringify(path)}
        columns={[
          {
            title: 'Field',
            cell: ({ path }) => (path.length === 0 ? 'all of it' : <Text>{path.join(' / ')}</Text>),
          },
          { title: 'Before', cell: ({ before: was }) => <AnyValue of={was} /> },
          { title: 'After', cell: ({ after: will }) => <AnyValue of={will} /> },
          {
            title: 'Differs',
            cell: ({ is }) =>
              is === 'same' ? (
                <span className="none">same</span>
              ) : (
                <strong className="warning">{is}</strong>
              ),
          },
        ]}
      />
    </Section>
  );
}

function Call({
  change: { method, path, body, hash },
  problem,
}: {
  change: Change;
  problem: string | null;
}) {
  return (
    <Section title="The call that makes it">
      <p>
        <code>
          <Text>{method}</Text> <Text>{path}</Text>
        </code>
      </p>
      {body !== null && <Json value={body} />}
      <p>
        An approval names the hash <Id>{hash}</Id>
        {problem === null && ', made here from the document that this page shows'}
      </p>
      {problem !== null && (
        <p className="warning">
          <Text most={600}>{problem}</Text>
        </p>
      )}
    </Section>
  );
}

function Actions({ change, unknown }: { change: Change; unknown: string | null }) {
  const { approvals, state } = change;
  const session = useSession();
  const { data } = useRead('listApprovalRules', {});
  const needsReason =
    data?.rules.some((rule) => rule.reason_required && approvals.rules.includes(rule.name)) ===
    true;
  const ended = state === 'open' ? null : `It is ${state} already.`;
  const isOwn = session.kind === 'open' && isAuthor(change, session.whoami.client_id);
  return (
    <div className="actions">
      <WriteButton
        write={approveOf(change, needsReason)}
        disabledBecause={
          approvals.you.may ? (ended ?? unknown) : mayApproveChange(approvals.you.why_not)
        }
      />
      <WriteButton
        write={withdrawApprovalOf(change)}
        disabledBecause={ended ?? (approvals.you.approved ? null : 'You have not approved it.')}
      />
      <WriteButton write={rejectOf(change)} disabledBecause={ended} />
      <WriteButton
        write={withdrawOf(change)}
        disabledBecause={ended ?? (isOwn ? null : 'Only its author may withdraw it.')}
      />
    </div>
  );
}

const REASON: Entry = { at: ['reason'], label: 'Reason', kind: 'long', empty: 'left_out' };

function approveOf(change: Change, needsReason: boolean): Write {
  const { change_request_id: id, hash, state, approvals } = change;
  const { evidence } = approvals.you;
  return {
    ...about(change),
    // A rule that meanwhile requires a passkey is shown before anything is signed.
    standing: `${state} ${hash} ${evidence}`,
    passkey: evidence === 'passkey' ? { kind: 'change_request', id, hash } : null,
    operation: 'approveChangeRequest',
    title: 'Approve',
    consequence: isOfFundadmin(change)
      ? 'It is recorded that you approve exactly this change. Once no approval is missing, the same fundadmin command makes the change when it is run again.'
      : 'It is recorded that you approve exactly this change. The last approval that is needed makes the call as its author.',
    entries: [
      needsReason
        ? { ...REASON, empty: 'required', hint: 'A rule requires it.' }
        : { ...REASON, hint: 'A rule may require it.' },
    ],
    // The hash that this page shows: of another change it would approve nothing.
    inputOf: (filled) => ({ ...paramsOf(change), body: { ...filled, hash } }),
    kind: 'main',
  };
}

function withdrawApprovalOf(change: Change): Write {
  const { change_request_id, state, hash, approvals } = change;
  return {
    standing: `${state} ${hash} ${String(approvals.you.approved)}`,
    outcome: () => 'Your approval is withdrawn: it no longer counts, and is missing again.',
    operation: 'withdrawChangeRequestApproval',
    title: 'Withdraw my approval',
    consequence: 'Your approval is missing again. The request stays open.',
    inputOf: () => ({ params: { change_request_id } }),
  };
}

function rejectOf(change: Change): Write {
  return {
    ...about(change),
    operation: 'rejectChangeRequest',
    title: 'Reject',
    consequence: 'The change request ends, and nothing is changed.',
    entries: [REASON],
    inputOf: (body) => ({ ...paramsOf(change), body }),
    kind: 'danger',
  };
}

function withdrawOf(change: Change): Write {
  return {
    ...about(change),
    operation: 'withdrawChangeRequest',
    title: 'Withdraw',
    consequence: 'Your change request ends, and nothing is changed.',
    inputOf: () => paramsOf(change),
  };
}

function paramsOf({ change_request_id }: Change) {
  return { params: { change_request_id } };
}

function about({ state, hash }: Change): Pick<Write, 'standing' | 'outcome'> {
  return {
    standing: `${state} ${hash}`,
    outcome: (answer) => outcomeOf(answer as Change),
  };
}
