/**
 * The terms of a plan besides its payees, read from the plan's bytes: those of each send, what each
 * gate says, and the inputs of teams' executors. Shown wherever a plan is approved.
 */
import { useId } from 'react';
import {
  executorInputs,
  gateTexts,
  plannedSends,
  signerNow,
  type PlannedSend,
} from '../../../../domain/send/planned-sends.ts';
import type { CompiledPlan } from '../../../../domain/plan/types.ts';
import { field, Fields } from '../../../parts/fields.tsx';
import { Json } from '../../../parts/json.tsx';
import { Text } from '../../../parts/text.tsx';
import { Amount, Id } from '../../../parts/values.tsx';
import type { Movement } from '../model/answers.ts';

type Terms = PlannedSend['terms'];

/** A title for each term, in the order in which they are shown. */
const TITLES: Readonly<Record<keyof Terms, string>> = {
  venue: 'Venue',
  account_type: 'From account',
  destination_venue: 'To venue',
  destination_account_type: 'To account',
  sub_account_address: 'To sub-account',
  chain_id: 'On chain',
  destination_chain_id: 'To chain',
  token_address: 'Token',
  amount_ref: 'Amount by',
  burn_from: 'Burnt by',
  network: 'Network',
  tag: 'Tag',
  max_fee: 'Fee at most',
  finality: 'Finality',
  destination_caller: 'Minted by',
};
const NAMES = Object.keys(TITLES) as (keyof Terms)[];

/** `nodes`: those of the movement, which name the signer after a rotation. */
export function PlanTerms({ plan, nodes }: { plan: CompiledPlan; nodes: Movement['nodes'] }) {
  const sends = plannedSends(plan);
  return (
    <>
      {sends.length > 0 && (
        <ul className="terms" aria-label="Terms of each send">
          {sends.map((send) => (
            <li key={send.node_key}>
              <strong>
                <Text>{send.node_key}</Text>
              </strong>{' '}
              <span className="small">
                <Text>{send.action_type}</Text>
              </span>
              <Send send={send} nodes={nodes} />
            </li>
          ))}
        </ul>
      )}
      <Inputs of={executorInputs(plan)} />
      <Gates of={gateTexts(plan)} />
    </>
  );
}

function Send({ send, nodes }: { send: PlannedSend; nodes: Movement['nodes'] }) {
  const { terms, asset, amount } = send;
  const signer = signerNow(send, nodes);
  return (
    <Fields
      of={[
        field(
          'Amount',
          amount === null ? (
            <>
              as much <Text>{asset}</Text> as an output says
            </>
          ) : (
            <Amount amount={amount} asset={asset} />
          ),
        ),
        ...NAMES.map((name) => {
          const term = termOf(terms, name);
          return field(TITLES[name], term === null ? null : <Id>{term}</Id>);
        }),
        field('Pulled by', send.pulled_by === null ? null : <Id>{send.pulled_by}</Id>),
        field('Pulled token', send.pulled_token === null ? null : <Id>{send.pulled_token}</Id>),
        field('Executor', <Id>{send.executor_key}</Id>),
        field('Signer', signer === null ? null : <Id>{signer}</Id>),
      ]}
    />
  );
}

/** Returns a term as it is shown: a burn that names no caller may be minted by any account. */
function termOf(terms: Terms, name: keyof Terms): string | null {
  const anyCaller = name === 'destination_caller' && terms.finality !== null;
  return terms[name] ?? (anyCaller ? 'any account' : null);
}

function Inputs({ of }: { of: ReturnType<typeof executorInputs> }) {
  const id = useId();
  if (of.length === 0) return null;
  return (
    <>
      <p id={id}>Inputs from which these teams’ executors decide whom they pay</p>
      <ul className="terms" aria-labelledby={id}>
        {of.map(([name, input], index) => (
          <li key={index}>
            <Text>{name}</Text> <Json value={input} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Gates({ of }: { of: ReturnType<typeof gateTexts> }) {
  const id = useId();
  if (of.length === 0) return null;
  return (
    <>
      <p id={id}>Where it waits for a person</p>
      <ul className="terms" aria-labelledby={id}>
        {of.map(([node_key, says]) => (
          <li key={node_key}>
            <Text>{node_key}</Text>: <Text>{says}</Text>
          </li>
        ))}
      </ul>
    </>
  );
}
