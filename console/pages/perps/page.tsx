/**
 * Strategies at the perps venue: binding, agent wallets, pause, and the present balance and
 * positions.
 */
import type { ResultOf } from '../../../clients/http/operations.ts';
import { useRead } from '../../data/reads.ts';
import { AllFields } from '../../parts/all-fields.tsx';
import type { Entry } from '../../parts/form-model.ts';
import { Filters, useFilters, type Filter } from '../../parts/filters.tsx';
import { Reading } from '../../parts/reading.tsx';
import { SaveRows } from '../../parts/save-rows.tsx';
import { Section } from '../../parts/section.tsx';
import { Table } from '../../parts/table.tsx';
import { Text } from '../../parts/text.tsx';
import { Address, Amount, Id, Reason, State, Time } from '../../parts/values.tsx';
import { WriteButton, type Write } from '../../parts/write.tsx';

type Binding = ResultOf<'getStrategyBinding'>;
type Wallet = ResultOf<'listAgentWallets'>[number];

const FILTERS: readonly Filter[] = [{ name: 'strategy_id', label: 'Strategy' }];

const SAVED = [
  ...(['wallet_id', 'strategy_id', 'agent_name', 'signer_key', 'address', 'state'] as const),
  ...(['valid_until', 'last_error', 'created_at', 'updated_at', 'approved_at'] as const),
];

export default function Perps() {
  const { strategy_id } = useFilters(FILTERS);
  return (
    <>
      <h1>Perps venue</h1>
      <Filters filters={FILTERS} />
      <div className="actions">
        <WriteButton write={MASTER} />
        <WriteButton write={BIND} />
      </div>
      {strategy_id === undefined ? (
        <p>Write a strategy in the filter: the service lists none by itself.</p>
      ) : (
        <Strategy key={strategy_id} strategy={strategy_id} />
      )}
    </>
  );
}

function Strategy({ strategy }: { strategy: string }) {
  const input = { params: { strategy_id: strategy } };
  const binding = useRead('getStrategyBinding', input);
  const wallets = useRead('listAgentWallets', input);
  return (
    <>
      <Section title="Binding">
        <Reading of={binding}>{(answer) => <BindingView binding={answer} />}</Reading>
      </Section>
      <Section title="Agent wallets">
        <div className="actions">
          <WriteButton write={addWallet(strategy)} />
        </div>
        <Reading of={wallets}>
          {(rows) => (
            <>
              <SaveRows name="agent-wallets" columns={SAVED} rows={rows} />
              <Wallets rows={rows} />
            </>
          )}
        </Reading>
      </Section>
    </>
  );
}

function BindingView({ binding }: { binding: Binding }) {
  const { strategy_id, paused, sub_account_address: address, max_agent_balance: most } = binding;
  return (
    <>
      <p>
        <Text>{strategy_id}</Text> <State>{paused ? 'PAUSED' : 'RUNNING'}</State>
      </p>
      <p>
        Sub-account: {address === null ? 'none' : <Address address={address} whole />}; an agent has
        at most {most === null ? 'no limit' : <Amount amount={most} />}
      </p>
      <AllFields
        of={binding}
        without={['strategy_id', 'paused', 'sub_account_address', 'max_agent_balance']}
      />
      <div className="actions">
        <WriteButton write={pauseOf(binding)} />
        <WriteButton write={stateOf(strategy_id)} />
      </div>
    </>
  );
}

function Wallets({ rows }: { rows: readonly Wallet[] }) {
  return (
    <Table
      caption="Agent wallets"
      rows={rows}
      keyOf={({ wallet_id }) => wallet_id}
      none="The strategy has no agent wallet."
      columns={[
        {
          title: 'Agent',
          cell: ({ agent_name, strategy_id }) => (
            <>
              <Text>{agent_name}</Text> of <Text>{strategy_id}</Text>
            </>
          ),
        },
        {
          title: 'State',
          cell: ({ state, last_error }) => (
            <>
              <State>{state}</State> <Reason>{last_error}</Reason>
            </>
          ),
        },
        { title: 'Address', cell: ({ address }) => <Address address={address} whole /> },
        { title: 'Signer', cell: ({ signer_key }) => <Text>{signer_key}</Text> },
        { title: 'Until', cell: ({ valid_until }) => <Time at={valid_until} /> },
        { title: 'Listed there', cell: ({ approved_at }) => <Time at={approved_at} /> },
        {
          title: 'Made, changed',
          cell: ({ created_at, updated_at }) => (
            <>
              <Time at={created_at} />, <Time at={updated_at} />
            </>
          ),
        },
        { title: 'Id', cell: ({ wallet_id }) => <Id>{wallet_id}</Id> },
        { title: 'Actions', cell: (row) => <WriteButton write={topUpOf(row)} /> },
      ]}
    />
  );
}

const reason: Entry = { at: ['reason'], label: 'Reason', kind: 'long', empty: 'required' };

const MASTER: Write = {
  operation: 'createMasterAccount',
  title: 'Name the master account',
  consequence: 'Strategies can be bound once it is named. The signer must have this very address.',
  entries: [
    { at: ['master_address'], label: 'Address', kind: 'text', empty: 'required' },
    { at: ['signer_key'], label: 'Signer', kind: 'text', empty: 'required' },
    {
      at: ['network'],
      ...{ label: 'Network', kind: 'text', empty: 'required', options: ['mainnet', 'testnet'] },
    },
    { at: ['label'], label: 'Label', kind: 'text', empty: 'null' },
  ],
  inputOf: (body) => ({ body }),
};

const BIND: Write = {
  operation: 'createStrategyBinding',
  title: 'Bind a strategy',
  consequence: 'Its movements may work at the venue.',
  entries: [
    { at: ['strategy_id'], label: 'Strategy', kind: 'text', empty: 'required' },
    { at: ['sub_account_address'], label: 'Sub-account', kind: 'text', empty: 'null' },
    { at: ['max_agent_balance'], label: 'An agent has at most', kind: 'decimal', empty: 'null' },
  ],
  inputOf: (body) => ({ body }),
};

function pauseOf({ strategy_id, paused, updated_at }: Binding): Write {
  return {
    operation: 'pauseStrategy',
    title: paused ? 'Let it go on' : 'Pause',
    consequence: paused
      ? 'What waited for the pause to end goes on.'
      : 'No new action of this strategy starts at the venue.',
    entries: [reason],
    inputOf: (body) => ({ params: { strategy_id }, body: { paused: !paused, ...body } }),
    kind: paused ? 'plain' : 'danger',
    standing: updated_at,
  };
}

/** Returns a read that makes the service call the venue, so it must be signed. */
function stateOf(strategy_id: string): Write {
  return {
    operation: 'getEmergencyState',
    title: 'What stands there now',
    consequence: 'Asks the venue for balance and positions, and lists open movements.',
    inputOf: () => ({ params: { strategy_id } }),
  };
}

function addWallet(strategy_id: string): Write {
  return {
    operation: 'createAgentWallet',
    title: 'Add an agent wallet',
    consequence: 'The master approves this signer’s address as an agent at the venue.',
    entries: [
      { at: ['agent_name'], label: 'Name', kind: 'text', empty: 'required' },
      { at: ['signer_key'], label: 'Signer', kind: 'text', empty: 'required' },
      {
        at: ['valid_until'],
        ...{ label: 'Until', kind: 'text', empty: 'null' },
        hint: 'ISO 8601 with a zone; 90 days where it is left out.',
      },
    ],
    inputOf: (body) => ({ params: { strategy_id }, body }),
  };
}

function topUpOf({ strategy_id, agent_name }: Wallet): Write {
  return {
    operation: 'topUpAgentWallet',
    title: `Top up ${agent_name}`,
    consequence: 'Makes a movement that waits for its approval.',
    entries: [
      { at: ['asset'], label: 'Asset', kind: 'text', empty: 'required' },
      { at: ['amount'], label: 'Amount', kind: 'decimal', empty: 'required' },
      reason,
    ],
    inputOf: (body) => ({ params: { strategy_id, agent_name }, body }),
  };
}
