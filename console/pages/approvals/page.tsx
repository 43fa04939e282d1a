/** Movements that wait for approval; several can be decided in one sheet that shows their sums. */
import { useState } from 'react';
import { queryClient } from '../../data/query-client.ts';
import { useRows } from '../../data/reads.ts';
import { useSession } from '../../data/session.ts';
import { Button } from '../../parts/button.tsx';
import { MOVEMENT_COLUMNS, MovementLink, Outflow } from '../../parts/movement-values.tsx';
import { Sheet } from '../../parts/sheet.tsx';
import { useCannotSign } from '../../parts/signed-sheet.tsx';
import { Problem } from '../../parts/problem.tsx';
import { sumByAsset } from '../../parts/sums.ts';
import { Table } from '../../parts/table.tsx';
import { Text } from '../../parts/text.tsx';
import { Id } from '../../parts/values.tsx';
import { readRows } from '../movement/data.ts';
import { PayeeList } from '../movement/parts/money.tsx';
import { WouldFail } from '../movement/parts/now.tsx';
import { PlanTerms } from '../movement/parts/terms.tsx';
import { candidateOf, decide, type Candidate, type Outcome } from './decide.ts';
import type { Detail, Verb } from './model.ts';

/** Most movements in one sheet: a person would not read more before they decide. */
const MOST = 25;

export default function Approvals() {
  const { rows, query } = useRows('listMovements', {
    query: { state: 'PENDING_APPROVAL', limit: 100 },
  });
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [verb, setVerb] = useState<Verb | null>(null);
  const ids = rows.map(({ movement_id }) => movement_id).filter((id) => chosen.has(id));
  const toggle = (id: string): void => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    setChosen(next);
  };
  const because =
    ids.length === 0
      ? 'Choose movements first'
      : ids.length > MOST
        ? `At most ${String(MOST)} at once`
        : null;
  return (
    <>
      <h1>Approvals</h1>
      <p className="actions">
        <Button kind="main" onClick={() => setVerb('approve')} disabledBecause={because}>
          Approve {ids.length}…
        </Button>
        <Button kind="danger" onClick={() => setVerb('reject')} disabledBecause={because}>
          Reject {ids.length}…
        </Button>
      </p>
      <Table
        caption="Movements that wait for their approval"
        rows={rows}
        keyOf={({ movement_id }) => movement_id}
        query={query}
        none="No movement waits for its approval."
        columns={[
          {
            title: 'Choose',
            cell: ({ movement_id }) => (
              <input
                type="checkbox"
                aria-label={`Choose ${movement_id}`}
                checked={chosen.has(movement_id)}
                onChange={() => toggle(movement_id)}
              />
            ),
          },
          ...MOVEMENT_COLUMNS,
        ]}
      />
      {verb !== null && (
        <DecisionSheet
          verb={verb}
          ids={ids}
          onClose={() => {
            setVerb(null);
            setChosen(new Set());
            void queryClient.invalidateQueries();
          }}
        />
      )}
    </>
  );
}

function DecisionSheet({
  verb,
  ids: first,
  onClose,
}: {
  verb: Verb;
  ids: readonly string[];
  onClose: () => void;
}) {
  // The selection when the sheet was opened; later changes of the list do not change it.
  const [ids] = useState(first);
  const [candidates, setCandidates] = useState<readonly Candidate[] | null>(null);
  const [reason, setReason] = useState('');
  const [outcomes, setOutcomes] = useState<readonly Outcome[]>([]);
  const [isSending, setSending] = useState(false);
  /** Why the allowlist could not be read, so labels and look-alikes are unknown. */
  const [problem, setProblem] = useState<unknown>(null);
  const cannotSign = useCannotSign();
  const session = useSession();
  const operator = session.kind === 'open' ? session.key.operator : '';
  const words = verb === 'approve' ? 'Approve' : 'Reject';
  const listed = () =>
    readRows().then(
      (rows) => {
        setProblem(null);
        return rows;
      },
      (error: unknown) => {
        setProblem(error);
        return null;
      },
    );
  const read = async (): Promise<void> => {
    const rows = await listed();
    const found: Candidate[] = [];
    for (const id of ids) found.push(await candidateOf(id, verb, rows));
    setCandidates(found);
  };
  const [isReading, setReading] = useState(false);
  if (!isReading) {
    setReading(true);
    void read();
  }
  const ready = (candidates ?? []).filter(
    (each): each is Candidate & { readonly detail: Detail } =>
      each.refused === null && each.detail !== null,
  );
  const sent = outcomes.filter(({ isSent }) => isSent);
  const left = ready.filter((each) => sent.every((of) => of.movement_id !== each.movement_id));
  const send = async (): Promise<void> => {
    setSending(true);
    const rows = await listed();
    for (const { movement_id, detail } of left) {
      // Reads again: the sheet's data may be an hour old.
      const now = await candidateOf(movement_id, verb, rows);
      const refused =
        now.detail?.compiled_plan_hash === detail.compiled_plan_hash
          ? now.refused
          : (now.refused ?? 'Its plan is another one now.');
      const outcome: Outcome =
        refused === null
          ? await decide(detail, { verb, operator, reason })
          : { movement_id, isSent: false, isLost: false, isDone: false, says: refused };
      setOutcomes((before) => [
        ...before.filter(({ movement_id }) => movement_id !== outcome.movement_id),
        outcome,
      ]);
      if (outcome.isLost) break;
    }
    setSending(false);
  };
  const because =
    cannotSign ??
    (isSending
      ? 'Sending'
      : ready.length === 0
        ? 'None of them can be decided here'
        : left.length === 0
          ? 'Sent'
          : verb === 'reject' && reason.trim() === ''
            ? 'Say why first'
            : null);
  return (
    <Sheet
      open
      onClose={onClose}
      title={`${words} ${String(ids.length)} movements`}
      stays={isSending ? 'They are being sent: the sheet stays until each has its answer.' : null}
    >
      {candidates === null ? (
        <p role="status">Reading each plan…</p>
      ) : (
        <>
          <Problem error={problem} />
          <h3>Together at most</h3>
          <Outflow entries={sumByAsset(ready.flatMap(({ outflow }) => outflow ?? []))} />
          {candidates.map((each) => (
            <CandidateView
              key={each.movement_id}
              candidate={each}
              outcome={outcomes.find(({ movement_id }) => movement_id === each.movement_id)}
            />
          ))}
          <p>
            <label>
              {verb === 'reject' ? 'Why' : 'Why (a rule may require it)'}
              <textarea
                value={reason}
                maxLength={1000}
                onChange={({ target }) => setReason(target.value)}
              />
            </label>
          </p>
          <Button
            kind={verb === 'approve' ? 'main' : 'danger'}
            onClick={() => void send()}
            disabledBecause={because}
          >
            {words} {left.length === 0 ? ready.length : left.length}, each signed by itself
          </Button>
          {outcomes.length > 0 && (
            <p role="status">
              {sent.length} of {ready.length} sent, {sent.filter(({ isDone }) => isDone).length}{' '}
              done
            </p>
          )}
        </>
      )}
    </Sheet>
  );
}

/** Shows all that one decision of several would bind, and what has become of it. */
export function CandidateView({
  candidate: { movement_id, detail, outflow, payees, plan, refused },
  outcome,
}: {
  candidate: Candidate;
  outcome: Outcome | undefined;
}) {
  return (
    <section className="candidate" aria-label={movement_id}>
      <h3>
        <MovementLink id={movement_id} />
      </h3>
      {detail !== null && (
        <>
          <Text>{detail.template_key}</Text> version {detail.template_version}
          {outflow === null ? <p>What it moves is not known.</p> : <Outflow entries={outflow} />}
          <PayeeList payees={payees} />
          {plan !== null && <PlanTerms plan={plan} nodes={detail.nodes} />}
          <WouldFail of={detail} />
          {plan !== null && (
            <div className="small">
              Plan <Id>{detail.compiled_plan_hash}</Id>, hashed here
            </div>
          )}
        </>
      )}
      {refused !== null && <p className="refused">Left out: {refused}</p>}
      {outcome !== undefined && (
        <p role="status" className={outcome.isDone ? 'done' : 'refused'}>
          <Text>{outcome.says}</Text>
        </p>
      )}
    </section>
  );
}
