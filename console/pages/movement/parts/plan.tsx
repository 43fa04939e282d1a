/** Shows the plan's text, and the hash computed from it in this browser. */
import { Text } from '../../../parts/text.tsx';
import { Id } from '../../../parts/values.tsx';
import type { PlanReading } from '../model/plan.ts';
import { Scroll, Section } from '../../../parts/section.tsx';

export function Plan({ plan, expected }: { plan: PlanReading | null; expected: string }) {
  return (
    <Section title="Plan and its hash">
      {plan === null ? (
        <p>The plan is being read.</p>
      ) : (
        <>
          <p>
            Made here from the plan’s bytes: <Id>{plan.hash}</Id>
          </p>
          <p>
            {plan.status === 'agrees' ? (
              'It is the hash of the movement: what is shown here is what an approval binds.'
            ) : (
              <strong className="warning">
                <Text>{plan.problem}</Text>
              </strong>
            )}
          </p>
          <p>
            By the movement: <Id>{expected}</Id>
          </p>
          <Scroll label="Canonical plan">
            <pre>
              <Text most={1_000}>{plan.text}</Text>
            </pre>
          </Scroll>
        </>
      )}
    </Section>
  );
}
