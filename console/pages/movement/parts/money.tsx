/** The most that leaves, the payees, and the fees: read from the plan's bytes. */
import { Address, Amount, Id, Time } from '../../../parts/values.tsx';
import { Text } from '../../../parts/text.tsx';
import type { AssetAmount, Fees } from '../model/outflow.ts';
import type { PayeeView } from '../model/payees.ts';
import { Fields, field } from '../../../parts/fields.tsx';
import { Section } from '../../../parts/section.tsx';

export function Outflow({ outflow, fees }: { outflow: readonly AssetAmount[] | null; fees: Fees }) {
  return (
    <Section title="Moves at most">
      {outflow === null ? (
        <p>
          <strong>Unknown: the plan is from before plans said it.</strong>
        </p>
      ) : outflow.length === 0 ? (
        <p>Nothing.</p>
      ) : (
        <ul className="amounts">
          {outflow.map(({ asset, amount }) => (
            <li key={asset}>
              <Bounded asset={asset} amount={amount} />
            </li>
          ))}
        </ul>
      )}
      <h3>Fees at most</h3>
      <ul>
        {fees.atMost.map(({ asset, amount }) => (
          <li key={asset}>
            <Bounded asset={asset} amount={amount} />, by the plan (
            {fees.named
              .filter((each) => each.asset === asset)
              .map(({ node_key }) => node_key)
              .join(', ')}
            )
          </li>
        ))}
        {fees.unnamed.length > 0 && (
          <li>
            The plan names no fee of <Text>{fees.unnamed.join(', ')}</Text>: gas and fees of venues
            come beside, within the caps of the signer’s lane and the venue’s settings.
          </li>
        )}
        {fees.atMost.length === 0 && fees.unnamed.length === 0 && <li>None: nothing is sent.</li>}
      </ul>
    </Section>
  );
}

function Bounded({ asset, amount }: AssetAmount) {
  return amount === null ? (
    <strong className="warning">
      An unbounded amount of <Text>{asset}</Text>
    </strong>
  ) : (
    <Amount amount={amount} asset={asset} />
  );
}

export function Payees({
  payees,
  rowsProblem,
}: {
  payees: readonly PayeeView[];
  /** Why the allowlist could not be read; null when it was read. */
  rowsProblem: string | null;
}) {
  return (
    <Section title="Who is paid">
      {rowsProblem !== null && (
        <p className="warning">The allowlist’s labels are not known: {rowsProblem}</p>
      )}
      {payees.length === 0 && <p>The plan names no payee: it moves between own accounts.</p>}
      <ul className="payees">
        {payees.map((payee) => (
          <li key={keyOf(payee)}>
            <Payee payee={payee} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** Lists payees in a sheet, with whole addresses and all warnings. */
export function PayeeList({ payees }: { payees: readonly PayeeView[] }) {
  const warned = payees.flatMap(({ warnings }) => warnings);
  return (
    <>
      <ul aria-label="Payees">
        {payees.map((payee) => (
          <li key={keyOf(payee)}>
            {payee.label === null ? 'No label' : <Text>{payee.label}</Text>}:{' '}
            <Id>{payee.address}</Id>
            {payee.chain_id !== null && ` on chain ${String(payee.chain_id)}`}
            <NetworkAndTag of={payee} />
          </li>
        ))}
      </ul>
      {warned.length > 0 && (
        <ul className="warnings" aria-label="Warnings about payees">
          {warned.map(({ text }) => (
            <li key={text}>
              <strong>
                <Text>{text}</Text>
              </strong>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function keyOf({ chain_family, chain_id, address, network, tag }: PayeeView): string {
  return JSON.stringify([chain_family, chain_id, address, network, tag]);
}

/** Shows what, besides the address, selects whom an exchange pays. */
function NetworkAndTag({ of: { network, tag } }: { of: PayeeView }) {
  return (
    <>
      {network !== null && (
        <>
          {' '}
          on network <Id>{network}</Id>
        </>
      )}
      {tag !== null && (
        <>
          {' '}
          with tag <Id>{tag}</Id>
        </>
      )}
    </>
  );
}

function Payee({ payee }: { payee: PayeeView }) {
  const { address, label, chain_id, chain_family, listed_by, listed_at, warnings } = payee;
  return (
    <>
      <p>
        {address === '' ? (
          <strong className="warning">No payee is named</strong>
        ) : (
          <Address address={address} label={label} />
        )}{' '}
        {chain_id === null ? (
          <>
            <Text>{chain_family}</Text>
          </>
        ) : (
          `on chain ${String(chain_id)}`
        )}
        <NetworkAndTag of={payee} />
      </p>
      {warnings.length > 0 && (
        <ul className="warnings" aria-label="Warnings">
          {warnings.map(({ warning, text }) => (
            <li key={text} data-warning={warning}>
              <strong>
                <Text>{text}</Text>
              </strong>
            </li>
          ))}
        </ul>
      )}
      <Fields
        of={[
          ...payee.paid.map((paid) => ({
            name: `By ${paid.node_key}`,
            value: <Paid paid={paid} />,
          })),
          field('Listed by', listed_by === null ? null : <Text>{listed_by}</Text>),
          field('Listed', listed_at === null ? null : <Time at={listed_at} />),
          field(
            'May be paid from',
            payee.usable_after === null ? null : <Time at={payee.usable_after} />,
          ),
        ]}
      />
    </>
  );
}

function Paid({ paid }: { paid: PayeeView['paid'][number] }) {
  const { amount, amount_ref, asset, action_type } = paid;
  return (
    <>
      {amount === null ? (
        <>
          as much <Text>{asset}</Text> as <Text>{amount_ref ?? 'an output'}</Text> says
        </>
      ) : (
        <Amount amount={amount} asset={asset} />
      )}{' '}
      (<Text>{action_type}</Text>)
    </>
  );
}
