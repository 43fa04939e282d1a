/** What approval rules require of a movement, who has approved, and whether the operator may. */
import { mayApproveSentence } from '../../../../domain/approval/why-not.ts';
import { Section } from '../../../parts/section.tsx';
import { Text } from '../../../parts/text.tsx';
import { Id, Reason, Time } from '../../../parts/values.tsx';
import type { Movement } from '../model/answers.ts';

type ApprovalsView = NonNullable<Movement['approvals']>;

/** Renders nothing for a movement that does not wait for approval under a rule. */
export function Approvals({ approvals }: { approvals: Movement['approvals'] }) {
  if (approvals === undefined) return null;
  const { rules, required, decisions, you } = approvals;
  return (
    <Section title="Approvals">
      <p>
        <Reason code={you.why_not}>{mayApproveSentence(you.why_not)}</Reason>
      </p>
      <p>
        Rules that hold, all of them together: <Text most={10_000}>{rules.join(', ')}</Text>
      </p>
      <ul aria-label="What each rule requires">
        {required.map(({ rule, group, threshold, received, missing }, nr) => (
          <li key={JSON.stringify([rule, group, nr])}>
            <Text>{group}</Text>: {received} of {threshold},{' '}
            {missing === 0 ? '0 missing' : <strong>{missing} missing</strong>} (rule{' '}
            <Text>{rule}</Text>)
          </li>
        ))}
      </ul>
      <Decisions decisions={decisions} />
    </Section>
  );
}

function Decisions({ decisions }: Pick<ApprovalsView, 'decisions'>) {
  if (decisions.length === 0) return <p>No one has approved yet.</p>;
  return (
    <ul aria-label="Who has approved">
      {decisions.map(({ person, name, at, reason, counts }) => (
        <li key={person}>
          <Text>{name}</Text> <Id>{person}</Id> approved <Time at={at} />
          {!counts && <strong>, which no longer counts</strong>}
          {reason !== null && (
            <>
              : <Text>{reason}</Text>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}
