/**
 * Shows what a create request would do now: outflow, payees, bindings, limits, refusals, and the
 * plan's hash.
 */
import { AllFields, AnyValue } from '../../parts/all-fields.tsx';
import { Section } from '../../parts/section.tsx';
import { Table } from '../../parts/table.tsx';
import { Text } from '../../parts/text.tsx';
import { Address, Id, State, Time } from '../../parts/values.tsx';
import { Outflow } from '../../parts/movement-values.tsx';
import { WouldHappen } from '../movement/parts/now.tsx';
import type { Preview } from './data.ts';

export function PreviewView({ preview }: { preview: Preview }) {
  return (
    <>
      <Section title="Preview">
        <p role="status">
          {preview.would_create ? (
            'The service would make this movement now. Nothing is made yet.'
          ) : (
            <strong className="warning">The service would refuse it now.</strong>
          )}
        </p>
        {preview.blocking_reasons.length > 0 && (
          <ul className="warnings" aria-label="What stands against it">
            {preview.blocking_reasons.map((reason, index) => (
              <li key={index}>
                <strong>
                  <Text>{reason.message}</Text>
                </strong>{' '}
                <code>{reason.error}</code>
                <AllFields of={reason} without={['message', 'error']} />
              </li>
            ))}
          </ul>
        )}
        <AtMost preview={preview} />
        <p>
          Begins with: <Text>{preview.current_frontier.join(', ') || 'nothing'}</Text>
        </p>
        {preview.external_reference !== null && (
          <p>
            Reference: <Text>{preview.external_reference}</Text>
          </p>
        )}
        {Object.keys(preview.metadata).length > 0 && <AnyValue of={preview.metadata} />}
        {preview.auto_approve !== null && (
          <>
            <h3>Automatic approval</h3>
            <AllFields of={preview.auto_approve} />
          </>
        )}
      </Section>
      <Section title="Who is paid">
        <Payees preview={preview} />
      </Section>
      <Section title="What is sent">
        {preview.sends.length === 0 ? (
          <p>Nothing is sent.</p>
        ) : (
          preview.sends.map((send) => (
            <div key={send.node_key}>
              <h3>
                <Text>{send.node_key}</Text>
              </h3>
              <AllFields of={withValues(send)} without={['node_key']} />
            </div>
          ))
        )}
      </Section>
      <WouldHappen
        movement={{
          review: {
            sends: preview.sends,
            limits: preview.limits,
            balances: preview.balances,
            would_fail: preview.would_fail,
          },
        }}
      />
      <WouldWait waiting={preview.would_wait} />
      <Section title="Who works on it">
        <Table
          caption="Who works on each node"
          rows={preview.bindings}
          keyOf={({ node_key }) => node_key}
          columns={[
            { title: 'Node', cell: ({ node_key }) => <Text>{node_key}</Text> },
            { title: 'Executor', cell: ({ executor_key: key }) => <Text>{key ?? 'none'}</Text> },
            { title: 'Signer', cell: ({ signer_key: key }) => <Text>{key ?? 'none'}</Text> },
            {
              title: 'Ready',
              cell: ({ available, reason }) => (
                <>
                  <State>{available ? 'YES' : 'NO'}</State>{' '}
                  {reason !== null && <Text>{reason}</Text>}
                </>
              ),
            },
          ]}
        />
      </Section>
    </>
  );
}

function WouldWait({ waiting }: { waiting: Preview['would_wait'] }) {
  if (waiting.length === 0) return null;
  return (
    <Section title="What would wait">
      <ul className="warnings">
        {waiting.map(({ node_key, error_code, message }) => (
          <li key={node_key}>
            <strong>
              <Text>{node_key}</Text> would wait:
            </strong>{' '}
            <Text>{message}</Text> <code>{error_code}</code>
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** Shows the most that leaves, and the hash of the plan that would be approved. */
export function AtMost({ preview }: { preview: Preview }) {
  return (
    <>
      <p>
        Moves at most:{' '}
        {preview.outflow === null ? (
          <strong>unknown, there is no plan</strong>
        ) : preview.outflow.length === 0 ? (
          'nothing'
        ) : (
          <Outflow entries={preview.outflow} />
        )}
      </p>
      <p>
        Hash of the plan: <Id>{preview.compiled_plan_hash ?? 'none'}</Id>
      </p>
    </>
  );
}

export function Payees({ preview }: { preview: Preview }) {
  if (preview.allowlist.length === 0) return <p>The plan names no payee.</p>;
  return (
    <ul className="payees" aria-label="Payees">
      {preview.allowlist.map(({ node_key, address, chain_id, allowed, usable_after }) => (
        <li key={`${node_key} ${address} ${String(chain_id)}`}>
          <Text>{node_key}</Text> pays <Address address={address} whole />{' '}
          {chain_id !== null && `on chain ${String(chain_id)} `}
          <State>{allowed ? 'ALLOWED' : 'NOT ALLOWED'}</State>
          {usable_after !== null && (
            <>
              {' '}
              may be paid from <Time at={usable_after} />
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

/** Returns the terms of a send without those that are null. */
function withValues(send: object): object {
  return Object.fromEntries(Object.entries(send).filter(([, value]) => value !== null));
}
