/**
 * The sheet of a decision before it is signed: each field that is sent, and whether sending is
 * still possible.
 */
import { useEffect, useRef, useState } from 'react';
import { SignedSheet } from '../../../parts/signed-sheet.tsx';
import { Text } from '../../../parts/text.tsx';
import { Id, State } from '../../../parts/values.tsx';
import { send, sendWithPasskey, type MovementData } from '../data.ts';
import type { Timeline } from '../model/answers.ts';
import type { Choice, Standpoint } from '../model/choices.ts';
import {
  decidedSince,
  lastSequence,
  missing,
  overtaken,
  presentOf,
  statementOf,
  type Filled,
} from '../model/decision.ts';
import { amountsInWords, type AssetAmount } from '../model/outflow.ts';
import type { PayeeView } from '../model/payees.ts';
import { titleOf } from './actions.tsx';
import { FormFields } from './form-fields.tsx';
import { PayeeList } from './money.tsx';
import { WouldFail } from './now.tsx';
import { PlanTerms } from './terms.tsx';
import { Event } from './timeline.tsx';

export interface DecisionProps {
  readonly choice: Choice;
  /** The present state; the sheet refuses to send when it changes while the sheet is open. */
  readonly at: Standpoint;
  readonly timeline: Timeline;
  readonly look: MovementData['look'];
  readonly operator: string;
  readonly outflow: readonly AssetAmount[] | null;
  readonly payees: readonly PayeeView[];
  readonly onClose: () => void;
}

/** Outcome of the decision. `events`: later events of the timeline, when the response was lost. */
interface Done {
  readonly events: Timeline;
  readonly note: string;
}

const AGAIN =
  'No answer says that it was taken, and the service shows nothing of the decision so far. Where it is offered below, it can be sent again: what was taken meanwhile is refused.';

const FRESHNESS = {
  reading: 'What is shown is read once more.',
  read: null,
  failed: 'What is shown could not be read once more: close the sheet and open it again.',
} as const;

export function DecisionSheet(props: DecisionProps) {
  const { choice, at, timeline, look, onClose } = props;
  // The state when the sheet was opened: the subject of the decision does not change while the
  // sheet is open.
  const opened = useRef({
    sequence: lastSequence(timeline),
    hash: at.plan?.status === 'agrees' ? at.plan.hash : null,
  });
  const { sequence, hash } = opened.current;
  // Whether the shown data was read again since the sheet was opened, or this read failed.
  const [freshness, setFreshness] = useState<'reading' | 'read' | 'failed'>('reading');
  const [isReread, setReread] = useState(false);
  const firstLook = useRef(look);
  useEffect(() => {
    void firstLook.current().then(
      // Only an approval needs the allowlist, which tells whom it pays.
      ({ isListed }) => setFreshness(isListed || choice.verb !== 'approve' ? 'read' : 'failed'),
      () => setFreshness('failed'),
    );
  }, []);
  const [filled, setFilled] = useState<Filled>({ approver_id: props.operator, reason: '' });
  const isApproval = choice.verb === 'approve' || choice.verb === 'reject';
  const statement = statementOf(choice, at.movement, isApproval ? hash : null, filled);
  const changed = overtaken(choice, isApproval ? hash : null, at, filled.outcome);
  // Which outcomes may be stated changes with time alone.
  const present = presentOf(choice, at);
  const { movement_id: id, approvals } = at.movement;
  const needsPasskey = choice.verb === 'approve' && approvals?.you.evidence === 'passkey';
  return (
    <SignedSheet<Done>
      title={`${titleOf(choice)}?`}
      onClose={onClose}
      above={
        <>
          <p>
            <Text>{present.consequence ?? ''}</Text>
          </p>
          {choice.verb === 'approve' && <Approved {...props} hash={hash} />}
        </>
      }
      kind={choice.verb === 'reject' || choice.verb === 'cancel' ? 'danger' : 'main'}
      against={
        changed !== null && (
          <Overtaken why={changed} events={decidedSince(choice.verb, timeline, sequence)} />
        )
      }
      blocked={changed ?? FRESHNESS[freshness] ?? missing(present, filled)}
      signs={statement}
      needsPasskey={needsPasskey}
      send={async () => {
        setReread(false);
        await (needsPasskey
          ? sendWithPasskey(statement, { kind: 'movement', id, hash: hash ?? '' })
          : send(statement));
        return { events: [], note: 'The service has taken it.' };
      }}
      look={async () => {
        const seen = await look();
        setReread(true);
        const events = decidedSince(choice.verb, seen.timeline, sequence);
        const note = 'The answer was lost. This is what happened since:';
        return events.length === 0 ? null : { events, note };
      }}
      again={AGAIN}
      // The page may not show yet what caused the refusal.
      reread={async () => {
        await look();
        setReread(true);
      }}
      done={({ events, note }) => (
        <>
          <p>{note}</p>
          <Events events={events} />
          {isReread ? (
            <p>
              The movement is now <State>{at.movement.request_state}</State>
            </p>
          ) : (
            <p>What the movement is now is not read yet.</p>
          )}
        </>
      )}
    >
      <FormFields choice={present} filled={filled} onChange={setFilled} />
    </SignedSheet>
  );
}

/** Shows the plan that the approval binds: the values from which the hash was computed. */
export function Approved({
  hash,
  outflow,
  payees,
  at: { movement, plan },
}: Pick<DecisionProps, 'outflow' | 'payees' | 'at'> & { hash: string | null }) {
  return (
    <>
      <p>
        Moves at most{' '}
        <strong>
          <Text>{outflow === null ? 'an unknown amount' : amountsInWords(outflow)}</Text>
        </strong>
      </p>
      <PayeeList payees={payees} />
      {plan?.status === 'agrees' && <PlanTerms plan={plan.plan} nodes={movement.nodes} />}
      <WouldFail of={movement} />
      <p>
        Hash of the plan, made in this browser: <Id>{hash ?? 'none'}</Id>
      </p>
    </>
  );
}

function Overtaken({ why, events }: { why: string; events: Timeline }) {
  return (
    <div role="alert" className="problem">
      <p>
        <strong>It can no longer be decided here.</strong> <Text>{why}</Text>
      </p>
      <Events events={events} />
    </div>
  );
}

function Events({ events }: { events: Timeline }) {
  return events.length === 0 ? null : (
    <ul>
      {events.map((event) => (
        <li key={event.sequence}>
          <Event event={event} />
        </li>
      ))}
    </ul>
  );
}
