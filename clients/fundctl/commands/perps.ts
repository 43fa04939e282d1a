/** `fundctl perps`: the master account, strategies and agent wallets of the perps venue. */
import { answerOf, command, type Group } from '../../command-line/command.ts';
import { operation, rowsOf, YES } from '../../command-line/operation.ts';
import { amount, choice, required, text } from '../../command-line/options.ts';
import type { Session } from '../../command-line/session.ts';
import type { Columns } from '../../command-line/columns.ts';
import type { Cell } from '../../command-line/table.ts';
import { moneyOf, when } from '../../command-line/words.ts';
import type { Schema } from '../../http/operations.ts';
import { IDEMPOTENCY, REASON } from '../shared.ts';

const STRATEGY = { strategyId: 'the strategy' };
type Binding = Schema<'StrategyBinding'>;
type Agent = Schema<'AgentWallet'>;

const ofStrategy = ({ args }: { readonly args: { readonly strategyId: string } }) => ({
  params: { strategy_id: args.strategyId },
});

export const perps: Group = {
  name: 'perps',
  about: 'The perps venue: master account, strategies, agents',
  commands: [
    operation('createMasterAccount', {
      name: 'set-master',
      about: 'Say which account the venue is paid from; it cannot be changed (admin)',
      args: { address: 'address of the master account', signerKey: 'signer that is it' },
      options: {
        network: required(choice(['mainnet', 'testnet'], 'which of the two')),
        label: text('text', 'your own name for it'),
      },
      ask: 'Make this the master account for good?',
      input: ({ args, options }) => ({
        body: { master_address: args.address, signer_key: args.signerKey, ...options },
      }),
      show: ({ view }, made) => view.record(Object.entries(made)),
    }),
    operation('createStrategyBinding', {
      name: 'bind',
      about: 'Let a strategy trade there (admin)',
      args: STRATEGY,
      options: {
        subAccount: text('address', "its sub-account; without one the master's own account"),
        maxAgentBalance: amount('the most that a top-up may bring it to'),
      },
      ask: 'Bind this strategy?',
      input: ({ args, options }) => ({
        body: {
          strategy_id: args.strategyId,
          sub_account_address: options.subAccount,
          max_agent_balance: options.maxAgentBalance,
        },
      }),
      show: bindingText,
    }),
    operation('getStrategyBinding', {
      name: 'show',
      about: 'Show the binding of a strategy',
      args: STRATEGY,
      input: ofStrategy,
      show: bindingText,
    }),
    operation('createAgentWallet', {
      name: 'add-agent',
      about: "Make a signer's address an agent of a strategy (admin)",
      details: 'An agent of the same name is replaced once the new one is active.',
      args: { ...STRATEGY, agentName: 'name of the agent, 1 to 16 characters' },
      options: {
        signer: required(text('signer-key', 'whose address it is')),
        validUntil: text('time', 'until when (ISO 8601); 90 days where it is left out'),
      },
      ask: 'Approve this agent on the venue?',
      input: ({ args, options }) => ({
        ...ofStrategy({ args }),
        body: {
          agent_name: args.agentName,
          signer_key: options.signer,
          valid_until: options.validUntil,
        },
      }),
      show: (session, made) => agentsText(session, [made]),
    }),
    operation('listAgentWallets', {
      name: 'agents',
      about: 'List the agents of a strategy, newest first',
      args: STRATEGY,
      input: ofStrategy,
      show: agentsText,
    }),
    operation('pauseStrategy', {
      name: 'pause',
      about: 'Stop what a strategy moves at the venue (admin)',
      args: STRATEGY,
      options: REASON,
      input: (call) => ({
        ...ofStrategy(call),
        body: { paused: true, reason: call.options.reason },
      }),
      show: bindingText,
    }),
    operation('pauseStrategy', {
      name: 'unpause',
      about: 'Let a strategy move funds at the venue again (admin)',
      args: STRATEGY,
      options: REASON,
      ask: 'Let it move funds again?',
      what: ({ args }) => args,
      input: (call) => ({
        ...ofStrategy(call),
        body: { paused: false, reason: call.options.reason },
      }),
      show: bindingText,
    }),
    operation('getEmergencyState', {
      name: 'emergency',
      about: 'All of a strategy at once, with what the venue says now',
      args: STRATEGY,
      input: ofStrategy,
      show: emergencyText,
    }),
    command({
      name: 'top-up',
      about: 'Create a movement that funds a strategy at the venue',
      args: { ...STRATEGY, agentName: 'name of the agent' },
      options: {
        asset: required(text('asset', 'what is moved')),
        amount: required(amount('how much of it')),
        ...REASON,
        ...IDEMPOTENCY,
        ...YES,
      },
      answer: answerOf('topUpAgentWallet'),
      run: async ({ session, args, options }) => {
        const { yes, idempotencyKey: key, ...body } = options;
        await session.confirm('Create this top-up?', {
          yes,
          what: session.aside.record(rowsOf(body)),
        });
        const params = { strategy_id: args.strategyId, agent_name: args.agentName };
        const made = await session.creating(key, (idempotencyKey) =>
          session.call('topUpAgentWallet', { params, body, idempotencyKey }),
        );
        await session.print(made, () =>
          session.view.fields(made, {
            movement: 'movement_id',
            state: { state: 'request_state' },
            'moves at most': () => moneyOf(made.outflow),
            hash: 'compiled_plan_hash',
          }),
        );
        session.note(`Read it and approve it: fundctl movements approve ${made.movement_id}`);
      },
    }),
  ],
};

function bindingText({ view }: Session, binding: Binding): string {
  return view.fields(binding, {
    strategy: 'strategy_id',
    'sub-account': () => binding.sub_account_address ?? "the master's own",
    'at most': 'max_agent_balance',
    paused: () =>
      binding.paused ? { text: binding.pause_reason ?? 'yes', tone: 'waiting' } : 'no',
    created: { when: 'created_at' },
    updated: { when: 'updated_at' },
  });
}

const AGENT = {
  AGENT: 'agent_name',
  STATE: { state: 'state' },
  ADDRESS: 'address',
} as const satisfies Columns<Agent>;

function agentsText(session: Session, agents: readonly Agent[]): Promise<string> {
  return session.table(agents, {
    ...AGENT,
    SIGNER: 'signer_key',
    'VALID UNTIL': { when: 'valid_until' },
    ERROR: 'last_error',
  });
}

async function emergencyText(session: Session, body: Schema<'EmergencyState'>): Promise<string> {
  const { view } = session;
  const yesNo = (is: boolean, tone: 'waiting' | 'bad'): Cell => (is ? { text: 'yes', tone } : 'no');
  return [
    view.fields(body, {
      strategy: 'strategy_id',
      paused: () => yesNo(body.paused, 'waiting'),
      withdrawable: () => body.venue.withdrawable,
      'account value': () => body.venue.account_value,
      'open positions': () => body.venue.open_positions,
      checked: () => when(body.checked_at),
      stale: () => yesNo(body.stale, 'bad'),
      'open movements': 'open_movement_count',
    }),
    await view.table(body.open_movements, {
      ID: 'movement_id',
      STATE: { state: 'request_state' },
      TEMPLATE: 'template_key',
      AMOUNT: { right: (row) => `${row.amount} ${row.asset}` },
    }),
    await view.table(body.agent_wallets, AGENT),
  ].join('');
}
