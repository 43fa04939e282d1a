/**
 * The page of one movement: what it does, why it waits, whom it pays, and which commands are
 * possible.
 */
import { useParams } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { mayApproveSentence } from '../../../domain/approval/why-not.ts';
import { gateTexts, plannedSends } from '../../../domain/send/planned-sends.ts';
import { Approvals } from '../../parts/approvals.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Text } from '../../parts/text.tsx';
import { useNow } from '../../parts/use-now.ts';
import { State } from '../../parts/values.tsx';
import { useBehind, useMovement, useOperator, type MovementData } from './data.ts';
import type { Movement } from './model/answers.ts';
import { choicesOf, elsewhereOf, type Choice } from './model/choices.ts';
import { placed } from './model/graph.ts';
import { feesOf, outflowOf } from './model/outflow.ts';
import { payeesOf } from './model/payees.ts';
import { sentenceOf } from './model/sentence.ts';
import { Actions } from './parts/actions.tsx';
import { DecisionSheet } from './parts/decision-sheet.tsx';
import { GraphDrawing } from './parts/graph.tsx';
import { About, Allowances, Artifacts, Attention, Failure } from './parts/more.tsx';
import { Outflow, Payees } from './parts/money.tsx';
import { Edges, Nodes } from './parts/nodes.tsx';
import { WouldHappen } from './parts/now.tsx';
import { Plan } from './parts/plan.tsx';
import { PlanTerms } from './parts/terms.tsx';
import { Section } from '../../parts/section.tsx';
import { Timeline } from './parts/timeline.tsx';

export default function MovementPage() {
  const { movement_id = '' } = useParams({ strict: false });
  const data = useMovement(movement_id);
  const operator = useOperator();
  const behind = useBehind(data);
  if (data.movement === null)
    return (
      <>
        <h1>Movement</h1>
        {data.errors.movement === null ? (
          <p role="status">It is being read.</p>
        ) : (
          <Problem error={data.errors.movement} />
        )}
      </>
    );
  // The key discards all state when the page changes to another movement, most of all an open
  // sheet.
  return (
    <MovementView key={movement_id} movement={data.movement} {...{ data, operator, behind }} />
  );
}

export interface MovementViewProps {
  readonly movement: Movement;
  readonly data: MovementData;
  readonly operator: { readonly operator: string; readonly role: string } | null;
  readonly behind: string | null;
}

/** Renders the movement page from its properties alone; reads nothing itself. */
export function MovementView({ movement, data, operator, behind }: MovementViewProps) {
  const { plan, rows, graph, timeline, errors } = data;
  const now = useNow();
  const [choice, setChoice] = useState<Choice | null>(null);
  const read = plan?.status === 'agrees' ? plan.plan : null;
  const sends = useMemo(() => (read === null ? [] : plannedSends(read)), [read]);
  const payees = payeesOf({ sends, movement, rows, now });
  const outflow = read === null ? null : outflowOf(read);
  const drawn = useMemo(() => (graph === null ? null : placed(graph)), [graph]);
  const at = { movement, plan, role: operator?.role ?? null, behind };
  return (
    <>
      <h1>
        <Text most={600}>{sentenceOf(movement, outflow, payees)}</Text>
      </h1>
      <p>
        <State>{movement.request_state}</State>
      </p>
      <Failure movement={movement} />
      {behind !== null && (
        <div role="status" className="notice">
          <p>{behind}</p>
        </div>
      )}
      <Attention movement={movement} />
      <Actions choices={choicesOf(at)} elsewhere={elsewhereOf(movement)} onChoose={setChoice} />
      {read === null ? (
        <Section title="Moves at most">
          <p className="warning">
            Not known:{' '}
            {plan === null ? 'the plan is not read yet.' : 'the plan cannot be believed.'}
          </p>
        </Section>
      ) : (
        <>
          <Outflow outflow={outflow} fees={feesOf(sends)} />
          <Payees payees={payees} rowsProblem={errors.rows?.message ?? null} />
        </>
      )}
      {movement.approvals !== undefined && (
        <Approvals
          approvals={movement.approvals}
          says={mayApproveSentence(movement.approvals.you.why_not)}
        />
      )}
      <WouldHappen movement={movement} />
      <Section title="Graph">
        <Problem error={errors.graph} />
        {drawn !== null && <GraphDrawing graph={drawn} />}
        <Nodes nodes={movement.nodes} graph={drawn} />
        {drawn !== null && <Edges edges={drawn.edges} />}
      </Section>
      <Allowances open={movement.open_allowances} />
      {read !== null && (sends.length > 0 || gateTexts(read).length > 0) && (
        <Section title="Terms of the plan">
          <PlanTerms plan={read} nodes={movement.nodes} />
        </Section>
      )}
      <Problem error={errors.timeline} />
      {timeline !== null && <Timeline events={timeline} />}
      <Problem error={errors.plan} />
      <Plan plan={plan} expected={movement.compiled_plan_hash} />
      <Artifacts artifacts={movement.artifacts} />
      <About movement={movement} />
      {choice !== null && operator !== null && (
        <DecisionSheet
          key={`${choice.verb} ${choice.node?.node_key ?? ''}`}
          {...{ choice, at, outflow, payees }}
          timeline={timeline ?? []}
          look={data.look}
          operator={operator.operator}
          onClose={() => setChoice(null)}
        />
      )}
    </>
  );
}
