/** `fundctl perps`: the perps venue's account, strategies and agents. */
import { answerOf, command, type Group } from '../../command-line/command.ts';
import { amount, choice, required, text } from '../../command-line/options.ts';
import { defined } from '../../command-line/paging.ts';
import type { Session } from '../../command-line/session.ts';
import { state } from '../../command-line/view.ts';
import { moneyOf, when } from '../../command-line/words.ts';
import type { Schema } from '../../http/operations.ts';
import { asked, IDEMPOTENCY, REASON, YES } from '../shared.ts';

const STRATEGY = { strategyId: 'the strategy' };
type Binding = Schema<'StrategyBinding'>;
type Agent = Schema<'AgentWallet'>;

export const perps: Group = {
  name: 'perps',
  about: 'The perps venue: master account, strategies, agents',
  commands: [
    command({
      name: 'set-master',
      about: 'Say which account the venue is paid from; it cannot be changed (admin)',
      args: { address: 'address of the master account', signerKey: 'signer that is it' },
      options: {
        network: required(choice(['mainnet', 'testnet'], 'which of the two')),
        label: text('text', 'your own name for it'),
        ...YES,
      },
      answer: answerOf('createMasterAccount'),
      run: async ({ session, args, options }) => {
        const body = {
          master_address: args.address,
          signer_key: args.signerKey,
          network: options.network,
          ...defined({ label: options.label }),
        };
        await asked(session, 'Make this the master account for good?', { body, yes: options.yes });
        const client = await session.client();
        const made = await client.call('createMasterAccount', { body });
        await session.print(made, () => session.view.record(Object.entries(made)));
      },
    }),
    command({
      name: 'bind',
      about: 'Let a strategy trade there (admin)',
      args: STRATEGY,
      options: {
        subAccount: text('address', "its sub-account; without one the master's own account"),
        maxAgentBalance: amount('the most that a top-up may bring it to'),
        ...YES,
      },
      answer: answerOf('createStrategyBinding'),
      run: async ({ session, args, options }) => {
        const body = {
          strategy_id: args.strategyId,
          ...defined({
            sub_account_address: options.subAccount,
            max_agent_balance: options.maxAgentBalance,
          }),
        };
        await asked(session, 'Bind this strategy?', { body, yes: options.yes });
        const client = await session.client();
        await printBinding(session, await client.call('createStrategyBinding', { body }));
      },
    }),
    command({
      name: 'show',
      about: 'Show the binding of a strategy',
      args: STRATEGY,
      answer: answerOf('getStrategyBinding'),
      run: async ({ session, args }) => {
        const client = await session.client();
        const params = { strategy_id: args.strategyId };
        await printBinding(session, await client.call('getStrategyBinding', { params }));
      },
    }),
    command({
      name: 'add-agent',
      about: "Make a signer's address an agent of a strategy (admin)",
      details: 'An agent of the same name is replaced once the new one is active.',
      args: { ...STRATEGY, agentName: 'name of the agent, 1 to 16 characters' },
      options: {
        signer: required(text('signer-key', 'whose address it is')),
        validUntil: text('time', 'until when (ISO 8601); 90 days where it is left out'),
        ...YES,
      },
      answer: answerOf('createAgentWallet'),
      run: async ({ session, args, options }) => {
        const body = {
          agent_name: args.agentName,
          signer_key: options.signer,
          ...defined({ valid_until: options.validUntil }),
        };
        await asked(session, 'Approve this agent on the venue?', { body, yes: options.yes });
        const client = await session.client();
        const params = { strategy_id: args.strategyId };
        const made = await client.call('createAgentWallet', { params, body });
        await session.print(made, () => agentsText(session, [made]));
      },
    }),
    command({
      name: 'agents',
      about: 'List the agents of a strategy, newest first',
      args: STRATEGY,
      answer: answerOf('listAgentWallets'),
      run: async ({ session, args }) => {
        const client = await session.client();
        const params = { strategy_id: args.strategyId };
        const body = await client.call('listAgentWallets', { params });
        await session.print(body, () => agentsText(session, body));
      },
    }),
    command({
      name: 'pause',
      about: 'Stop what a strategy moves at the venue (admin)',
      args: STRATEGY,
      options: REASON,
      answer: answerOf('pauseStrategy'),
      run: async ({ session, args, options }) => {
        const client = await session.client();
        const params = { strategy_id: args.strategyId };
        const body = { paused: true, reason: options.reason };
        await printBinding(session, await client.call('pauseStrategy', { params, body }));
      },
    }),
    command({
      name: 'unpause',
      about: 'Let a strategy move funds at the venue again (admin)',
      args: STRATEGY,
      options: { ...REASON, ...YES },
      answer: answerOf('pauseStrategy'),
      run: async ({ session, args, options }) => {
        await asked(session, 'Let it move funds again?', { body: args, yes: options.yes });
        const client = await session.client();
        const params = { strategy_id: args.strategyId };
        const body = { paused: false, reason: options.reason };
        await printBinding(session, await client.call('pauseStrategy', { params, body }));
      },
    }),
    command({
      name: 'emergency',
      about: 'All of a strategy at once, with what the venue says now',
      args: STRATEGY,
      answer: answerOf('getEmergencyState'),
      run: async ({ session, args }) => {
        const client = await session.client();
        const params = { strategy_id: args.strategyId };
        const body = await client.call('getEmergencyState', { params });
        await session.print(body, () => emergencyText(session, body));
      },
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
        const body = { asset: options.asset, amount: options.amount, reason: options.reason };
        await asked(session, 'Create this top-up?', { body, yes: options.yes });
        const client = await session.client();
        const params = { strategy_id: args.strategyId, agent_name: args.agentName };
        const made = await session.creating(options.idempotencyKey, (idempotencyKey) =>
          client.call('topUpAgentWallet', { params, body, idempotencyKey }),
        );
        await session.print(made, () =>
          session.view.record([
            ['movement', made.movement_id],
            ['state', state(made.request_state)],
            ['moves at most', moneyOf(made.outflow)],
            ['hash', made.compiled_plan_hash],
          ]),
        );
        session.note(`Read it and approve it: fundctl movements approve ${made.movement_id}`);
      },
    }),
  ],
};

function printBinding(session: Session, binding: Binding): Promise<void> {
  return session.print(binding, () => bindingText(session, binding));
}

function bindingText({ view }: Session, binding: Binding): string {
  return view.record([
    ['strategy', binding.strategy_id],
    ['sub-account', binding.sub_account_address ?? "the master's own"],
    ['at most', binding.max_agent_balance],
    ['paused', binding.paused ? { text: binding.pause_reason ?? 'yes', tone: 'waiting' } : 'no'],
    ['created', when(binding.created_at)],
    ['updated', when(binding.updated_at)],
  ]);
}

function agentsText(session: Session, agents: readonly Agent[]): Promise<string> {
  return session.table(agents, [
    { title: 'AGENT', of: (row) => row.agent_name },
    { title: 'STATE', of: (row) => state(row.state) },
    { title: 'ADDRESS', of: (row) => row.address },
    { title: 'SIGNER', of: (row) => row.signer_key },
    { title: 'VALID UNTIL', of: (row) => when(row.valid_until) },
    { title: 'ERROR', of: (row) => row.last_error },
  ]);
}

async function emergencyText(session: Session, body: Schema<'EmergencyState'>): Promise<string> {
  const { view } = session;
  const { venue, open_movements: open } = body;
  return [
    view.record([
      ['strategy', body.strategy_id],
      ['paused', body.paused ? { text: 'yes', tone: 'waiting' } : 'no'],
      ['withdrawable', venue.withdrawable],
      ['account value', venue.account_value],
      ['open positions', venue.open_positions],
      ['checked', when(body.checked_at)],
      ['stale', body.stale ? { text: 'yes', tone: 'bad' } : 'no'],
      ['open movements', body.open_movement_count],
    ]),
    await view.table(open, [
      { title: 'ID', of: (row) => row.movement_id },
      { title: 'STATE', of: (row) => state(row.request_state) },
      { title: 'TEMPLATE', of: (row) => row.template_key },
      { title: 'AMOUNT', of: (row) => `${row.amount} ${row.asset}`, right: true },
    ]),
    await view.table(body.agent_wallets, [
      { title: 'AGENT', of: (row) => row.agent_name },
      { title: 'STATE', of: (row) => state(row.state) },
      { title: 'ADDRESS', of: (row) => row.address },
    ]),
  ].join('');
}
