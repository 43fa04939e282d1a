/** All other information that the service returns about the movement. */
import type { Movement } from '../model/answers.ts';
import { stateInWords } from '../../../parts/format.ts';
import { Text } from '../../../parts/text.tsx';
import { Address, Amount, Id, Time } from '../../../parts/values.tsx';
import { Fields, field } from '../../../parts/fields.tsx';
import { isEmpty, Json } from '../../../parts/json.tsx';
import { Section } from '../../../parts/section.tsx';

export function Attention({ movement: { attention } }: { movement: Movement }) {
  if (attention === null) return null;
  const { attempt, max_attempts, errors } = attention;
  return (
    <Section title="A person is needed">
      <div className="notice">
        <p>
          <Text>{attention.message}</Text> <code>{attention.reason}</code>
        </p>
        <Fields
          of={[
            field('Node', attention.node_key === null ? null : <Text>{attention.node_key}</Text>),
            field(
              'What to look at',
              attention.description === null ? null : <Text>{attention.description}</Text>,
            ),
            field(
              'Last answer',
              attention.last_answer === null ? null : <Text>{attention.last_answer}</Text>,
            ),
            field(
              'Ask by the key',
              attention.idempotency_key === null ? null : <Id>{attention.idempotency_key}</Id>,
            ),
            field('Attempt', attempt === null ? null : String(attempt)),
            field(
              'Errors so far',
              errors === null
                ? null
                : `${String(errors)}${max_attempts === null ? '' : ` of ${String(max_attempts)}`}`,
            ),
            field(
              'Next look',
              attention.next_look_at === null ? null : <Time at={attention.next_look_at} />,
            ),
          ]}
        />
      </div>
    </Section>
  );
}

export function Failure({ movement: { error_code, error_message } }: { movement: Movement }) {
  if (error_code === null && error_message === null) return null;
  return (
    <p className="problem">
      {error_code !== null && <code>{error_code}</code>}{' '}
      {error_message !== null && <Text>{error_message}</Text>}
    </p>
  );
}

export function Allowances({ open = [] }: { open: Movement['open_allowances'] | undefined }) {
  if (open.length === 0) return null;
  return (
    <Section title="Allowances that are open">
      <ul>
        {open.map((each, index) => (
          <li key={index}>
            <Fields
              of={[
                field('By', <Text>{each.node_key}</Text>),
                field('Amount', <Amount amount={each.amount} asset={each.asset} />),
                field('Spender', <Address address={each.spender} />),
                field('Owner', <Address address={each.owner} />),
                field('Token', <Address address={each.token_address} />),
                field('Chain', String(each.chain_id)),
              ]}
            />
          </li>
        ))}
      </ul>
    </Section>
  );
}

export function About({ movement }: { movement: Movement }) {
  const { intent, workflow, callbacks, created_by, approved_by, approver_id } = movement;
  return (
    <Section title="About">
      <Fields
        of={[
          field('Movement', <Id>{movement.movement_id}</Id>),
          field(
            'Template',
            <Text>{`${movement.template.template_key}@${String(movement.template.version)}`}</Text>,
          ),
          field(
            'Strategy',
            movement.strategy_id === null ? null : <Text>{movement.strategy_id}</Text>,
          ),
          field(
            'Reference',
            movement.external_reference === null ? null : (
              <Text>{movement.external_reference}</Text>
            ),
          ),
          field('Metadata', isEmpty(movement.metadata) ? null : <Json value={movement.metadata} />),
          field('Intent', <Json value={intent} />),
          field(
            'Parameters',
            isEmpty(movement.input_params) ? null : <Json value={movement.input_params} />,
          ),
          field('Labels', isEmpty(movement.labels) ? null : <Json value={movement.labels} />),
          field('Requested by', <Json value={created_by} />),
          field('Approval', stateInWords(movement.approval_status)),
          field('Decided as', approver_id === null ? null : <Text>{approver_id}</Text>),
          field('Approved by the key', approved_by === null ? null : <Text>{approved_by}</Text>),
          field(
            'Automatic approval',
            movement.auto_approve_result === null ? null : (
              <Json value={movement.auto_approve_result} />
            ),
          ),
          field('Reservation', stateInWords(movement.reservation_status)),
          field(
            'Frontier',
            movement.current_frontier.length === 0 ? null : (
              <Text>{movement.current_frontier.join(', ')}</Text>
            ),
          ),
          field(
            'Callbacks',
            `${String(callbacks.delivered)} delivered, ${String(callbacks.pending)} pending, ${String(callbacks.dead_letter)} dead letters`,
          ),
          field('Created', <Time at={movement.created_at} />),
          field('Changed', <Time at={movement.updated_at} />),
          field(
            'Approval expires',
            movement.approval_status === 'pending' ? <Time at={movement.expires_at} /> : null,
          ),
          field('Run', <Run workflow={workflow} />),
        ]}
      />
    </Section>
  );
}

function Run({ workflow: { ui_url, namespace, workflow_id, run_id } }: Pick<Movement, 'workflow'>) {
  return (
    <>
      {isWeb(ui_url) && (
        <a href={ui_url} target="_blank" rel="noreferrer noopener">
          Open in Temporal
        </a>
      )}{' '}
      <Text>{`${workflow_id} in ${namespace}${run_id === null ? '' : `, run ${run_id}`}`}</Text>
    </>
  );
}

/** Returns whether an address is http or https; only these become links. */
function isWeb(address: string): boolean {
  return URL.canParse(address) && ['http:', 'https:'].includes(new URL(address).protocol);
}

export function Artifacts({ artifacts }: { artifacts: Movement['artifacts'] }) {
  if (artifacts.length === 0) return null;
  return (
    <Section title="Artifacts">
      <ul>
        {artifacts.map((each) => (
          <li key={each.artifact_id}>
            <Text>{each.kind}</Text> of <Text>{each.node_key}</Text>, attempt {each.attempt},{' '}
            <Time at={each.created_at} /> <Json value={each.data} />
          </li>
        ))}
      </ul>
    </Section>
  );
}
