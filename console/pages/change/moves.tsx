/** What the movements that a change request acts on move: read from the bytes of their plans. */
import { plannedSends } from '../../../domain/send/planned-sends.ts';
import type { CompiledPlan } from '../../../domain/plan/types.ts';
import { MovementLink, Outflow } from '../../parts/movement-values.tsx';
import { Section } from '../../parts/section.tsx';
import { Text } from '../../parts/text.tsx';
import { useNow } from '../../parts/use-now.ts';
import { Id } from '../../parts/values.tsx';
import type { Movement } from '../movement/model/answers.ts';
import { outflowOf } from '../movement/model/outflow.ts';
import { payeesOf } from '../movement/model/payees.ts';
import { PayeeList } from '../movement/parts/money.tsx';
import { PlanTerms } from '../movement/parts/terms.tsx';
import { planProblem, whyNotKnown, type Moves } from './model.ts';

/** Shows nothing for a request that acts on no movement. */
export function WhatMoves({ moves }: { moves: Moves }) {
  const { plans, rows, rowsError } = moves;
  if (plans?.length === 0) return null;
  return (
    <Section title="What moves">
      {rowsError !== null && (
        <p className="warning">
          The allowlist’s labels are not known: <Text>{rowsError.message}</Text>
        </p>
      )}
      {plans === null ? (
        <p className="warning">{whyNotKnown(moves)}</p>
      ) : (
        plans.map((each) => (
          <div key={each.movement_id}>
            <h3>
              Movement <MovementLink id={each.movement_id} />
            </h3>
            {each.reading?.status === 'agrees' && each.movement !== null ? (
              <Moved of={each.movement} plan={each.reading} rows={rows} />
            ) : (
              <p className="warning">
                <Text most={600}>{planProblem(each) ?? ''}</Text>
              </p>
            )}
          </div>
        ))
      )}
    </Section>
  );
}

function Moved({
  of: movement,
  plan: { plan, hash },
  rows,
}: {
  of: Movement;
  plan: { readonly plan: CompiledPlan; readonly hash: string };
  rows: Moves['rows'];
}) {
  const now = useNow();
  const payees = payeesOf({ sends: plannedSends(plan), movement, rows, now });
  const outflow = outflowOf(plan);
  return (
    <>
      {outflow === null ? <p>What it moves is not known.</p> : <Outflow entries={outflow} />}
      <PayeeList payees={payees} />
      <PlanTerms plan={plan} nodes={movement.nodes} />
      <p className="small">
        Plan <Id>{hash}</Id>, hashed here, as the request names it
      </p>
    </>
  );
}
