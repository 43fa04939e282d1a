/** All commands: each with its consequence, or with the reason why it is not offered. */
import { Button } from '../../../parts/button.tsx';
import { Text } from '../../../parts/text.tsx';
import type { Choice, Elsewhere, Verb } from '../model/choices.ts';
import { short } from '../model/graph.ts';
import { Section } from '../../../parts/section.tsx';

export const TITLES: Readonly<Record<Verb, string>> = {
  approve: 'Approve',
  withdraw_approval: 'Withdraw my approval',
  reject: 'Reject',
  resume: 'Resume',
  retry: 'Retry',
  cancel: 'Cancel',
  resolve: 'Resolve',
  acknowledge: 'Acknowledge',
  cancel_transaction: 'Cancel transaction',
  reassign: 'Reassign payment',
  reset_allowances: 'Reset allowances',
};

const KINDS: Readonly<Partial<Record<Verb, 'main' | 'danger'>>> = {
  approve: 'main',
  resume: 'main',
  reject: 'danger',
  cancel: 'danger',
};

/** Returns the title of a command; a command on a node names the node, such as `Retry pay`. */
export function titleOf({ verb, node }: Choice): string {
  return node === null ? TITLES[verb] : `${TITLES[verb]} ${short(node.node_key)}`;
}

export function Actions({
  choices,
  elsewhere,
  onChoose,
}: {
  choices: readonly Choice[];
  elsewhere: readonly Elsewhere[];
  onChoose: (choice: Choice) => void;
}) {
  return (
    <Section title="Actions">
      <ul className="actions">
        {choices
          .toSorted((one, other) => Number(one.reason !== null) - Number(other.reason !== null))
          .map((choice) => (
            <li key={`${choice.verb} ${choice.node?.node_key ?? ''}`}>
              <Button
                kind={choice.reason === null ? (KINDS[choice.verb] ?? 'plain') : 'plain'}
                disabledBecause={choice.reason}
                onClick={() => onChoose(choice)}
              >
                {titleOf(choice)}
              </Button>
              {choice.consequence !== null && (
                <span className="small">
                  {' '}
                  <Text>{choice.consequence}</Text>
                </span>
              )}
            </li>
          ))}
      </ul>
      {elsewhere.map(({ action, consequence, node_key }) => (
        <p key={action}>
          The service also offers <code>{action}</code>
          {node_key !== null && (
            <>
              {' '}
              for <Text>{node_key}</Text>
            </>
          )}
          , with fundctl: <Text>{consequence}</Text>
        </p>
      ))}
    </Section>
  );
}
