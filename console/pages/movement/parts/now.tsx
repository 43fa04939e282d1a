/** What would happen now: limits, balances, and expected refusals. */
import { Amount, Time } from '../../../parts/values.tsx';
import { Text } from '../../../parts/text.tsx';
import type { Movement, Review } from '../model/answers.ts';
import { Fields, field } from '../../../parts/fields.tsx';
import { Scroll, Section } from '../../../parts/section.tsx';

/** Shows the service's review of a movement, or of the preview of a new movement. */
export function WouldHappen({
  movement,
}: {
  movement: Pick<Movement, 'review' | 'agent_authority'>;
}) {
  const { review, agent_authority: authority } = movement;
  if (review === undefined) return null;
  return (
    <Section title="What would happen now">
      <WouldFail of={movement} />
      <Limits limits={review.limits} />
      <Balances balances={review.balances} />
      {authority !== undefined && <Authority authority={authority} />}
    </Section>
  );
}

/** Lists what the service would refuse now; renders nothing when there is no review. */
export function WouldFail({ of: { review } }: { of: Pick<Movement, 'review'> }) {
  if (review === undefined) return null;
  if (review.would_fail.length === 0)
    return <p>As things stand, nothing of it would be refused.</p>;
  return (
    <ul className="warnings" aria-label="What would fail now">
      {review.would_fail.map(({ at, node_key, error, message }, index) => (
        <li key={index}>
          <strong>
            {at === 'approve' ? 'The approval' : 'The send'} of{' '}
            <Text>{node_key ?? 'the plan'}</Text> would be refused:
          </strong>{' '}
          <Text>{message}</Text> <code>{error}</code>
        </li>
      ))}
    </ul>
  );
}

function Limits({ limits }: { limits: Review['limits'] }) {
  if (limits.length === 0) return null;
  return (
    <Scroll label="Limits">
      <table>
        <caption>Limits</caption>
        <thead>
          <tr>
            <th scope="col">Limit</th>
            <th scope="col">At most</th>
            <th scope="col">Used</th>
            <th scope="col">After</th>
            <th scope="col">Within</th>
          </tr>
        </thead>
        <tbody>
          {limits.map(({ control, limit, used, after, ok }) => (
            <tr key={control}>
              <td>
                <Text>{control}</Text>
              </td>
              <td>
                <Amount amount={limit} />
              </td>
              <td>{used === null ? 'not counted' : <Amount amount={used} />}</td>
              <td>
                <Amount amount={after} />
              </td>
              <td>{ok === null ? 'an output decides' : ok ? 'yes' : <strong>NO</strong>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function Balances({ balances }: { balances: Review['balances'] }) {
  if (balances.length === 0) return null;
  return (
    <Scroll label="Where it is taken from">
      <table>
        <caption>Where it is taken from</caption>
        <thead>
          <tr>
            <th scope="col">Venue</th>
            <th scope="col">Account</th>
            <th scope="col">Takes at most</th>
            <th scope="col">Free</th>
            <th scope="col">Withdrawable</th>
            <th scope="col">Seen</th>
          </tr>
        </thead>
        <tbody>
          {balances.map((each, index) => (
            <tr key={index}>
              <td>
                <Text>{each.venue_key}</Text>
              </td>
              <td>
                <Text>{each.account_type}</Text>
              </td>
              <td>
                {each.draws === null ? (
                  <strong>unbounded</strong>
                ) : (
                  <Amount amount={each.draws} asset={each.asset} />
                )}
              </td>
              <td>
                <Amount amount={each.effective_withdrawable} asset={each.asset} />
              </td>
              <td>
                <Amount amount={each.withdrawable} asset={each.asset} />
              </td>
              <td>
                <Time at={each.fetched_at} />
                {each.stale === true && <strong> too old</strong>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function Authority({ authority }: { authority: NonNullable<Movement['agent_authority']> }) {
  const { uncovered, granted } = authority;
  return (
    <>
      <h3>
        Requested by the agent <Text>{authority.authority_key}</Text>
      </h3>
      <Fields
        of={[
          field(
            'Not covered',
            uncovered.length === 0 ? (
              'nothing: its authority covers all of it'
            ) : (
              <strong>{uncovered.join(', ')}</strong>
            ),
          ),
          field(
            'At most each',
            authority.max_notional === null ? null : <Amount amount={authority.max_notional} />,
          ),
          field('Assets', <Text>{authority.allowed_assets.join(', ')}</Text>),
          field('Chains', <Text>{authority.allowed_chains.join(', ')}</Text>),
          field(
            'Promoted to',
            granted === null ? null : <Amount amount={granted.amount} asset={granted.asset} />,
          ),
        ]}
      />
    </>
  );
}
