/** What approval rules require, who has approved, and whether the operator may. */
import type { Schema } from '../../clients/http/operations.ts';
import { Section } from './section.tsx';
import { Text } from './text.tsx';
import { Id, Reason, Time } from './values.tsx';

type ApprovalsView = Schema<'MovementApprovals'>;

const EVIDENCE: Readonly<Record<ApprovalsView['decisions'][number]['evidence'], string>> = {
  passkey: 'with a passkey',
  shared_secret: 'with a key that the service knows, too',
};

/** Shows the approvals of a movement or change request. `says`: whether the operator may. */
export function Approvals({
  approvals: { rules, required, decisions, you },
  says,
}: {
  approvals: ApprovalsView;
  says: string;
}) {
  return (
    <Section title="Approvals">
      <p>
        <Reason code={you.why_not}>{says}</Reason>
      </p>
      {you.may && you.evidence === 'passkey' && <p>Your approval counts only with your passkey.</p>}
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
      {decisions.map(({ person, name, at, reason, evidence, counts }) => (
        <li key={person}>
          <Text>{name}</Text> <Id>{person}</Id> approved <Time at={at} />, {EVIDENCE[evidence]}
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
