/** `fundctl transfers`: capital transfers between two accounts of the same provider. */
import { TRANSFER_RESOLUTIONS, TRANSFER_STATES } from '../../../domain/states/capital-transfer.ts';
import { answerOf, command, type Group } from '../../command-line/command.ts';
import { operation, YES } from '../../command-line/operation.ts';
import { amount, choice, flag, required, text, whole } from '../../command-line/options.ts';
import { defined, listing } from '../../command-line/paging.ts';
import type { Columns } from '../../command-line/columns.ts';
import { state, type View } from '../../command-line/view.ts';
import { failure, timeOfDay, when } from '../../command-line/words.ts';
import type { ResultOf, RowOf } from '../../http/operations.ts';
import { offerText } from '../movement-view.ts';
import { IDEMPOTENCY, REASON } from '../shared.ts';

type Transfer = ResultOf<'getCapitalTransfer'>;
const TRANSFER = { transferId: 'id of the transfer' };

const COLUMNS: Columns<RowOf<'listCapitalTransfers'>> = {
  ID: 'transfer_id',
  STATE: { state: 'request_state' },
  AMOUNT: { right: (row) => `${row.amount} ${row.asset}` },
  FROM: (row) => `${row.source_venue} ${row.source_account_type}`,
  TO: (row) => `${row.destination_venue} ${row.destination_account_type}`,
  STRATEGY: 'strategy_id',
  ERROR: 'error_code',
  NEEDS: (row) => row.attention?.reason,
  AGE: { age: 'created_at' },
};

export const transfers: Group = {
  name: 'transfers',
  about: 'Capital transfers between accounts of one provider',
  commands: [
    listing('listCapitalTransfers', {
      name: 'list',
      about: 'List capital transfers, newest first',
      examples: ['fundctl transfers list --needs-attention'],
      options: {
        state: choice(TRANSFER_STATES, 'only those in this state'),
        strategy: text('strategy-id', 'only those of this strategy'),
        from: text('venue', 'only those from this venue'),
        to: text('venue', 'only those to this venue'),
        asset: text('asset', 'only those of this asset'),
        needsAttention: flag('only those that need a person'),
      },
      query: ({ strategy, from, to, needsAttention, ...rest }) => ({
        strategy_id: strategy,
        source_venue: from,
        destination_venue: to,
        needs_attention: needsAttention ? ('true' as const) : undefined,
        ...rest,
      }),
      columns: COLUMNS,
    }),
    operation('getCapitalTransfer', {
      name: 'show',
      about: 'Show a capital transfer',
      args: TRANSFER,
      input: ofTransfer,
      show: ({ view }, transfer) => transferText(view, transfer),
    }),
    command({
      name: 'create',
      about: 'Move funds between two accounts; there is nothing to approve, so it asks first',
      examples: [
        'fundctl transfers create --from paper-main --to paper-sub-a --asset USDT --amount 2500 --reason margin',
      ],
      options: {
        from: required(text('venue', 'the account that pays')),
        to: required(text('venue', 'the account that is paid')),
        fromType: text('type', 'SPOT or USDT_FUTURE; SPOT where it is left out'),
        toType: text('type', 'the same of the account that is paid'),
        asset: required(text('asset', 'what is moved')),
        amount: required(amount('how much of it')),
        ...REASON,
        strategy: text('strategy-id', 'whose transfer it is'),
        callbackUrl: text('url', 'where it is said that it needs a person'),
        ...IDEMPOTENCY,
        ...YES,
      },
      answer: answerOf('createCapitalTransfer'),
      run: async ({ session, options }) => {
        const body = {
          source_venue: options.from,
          destination_venue: options.to,
          asset: options.asset,
          amount: options.amount,
          reason: options.reason,
          ...defined({
            source_account_type: options.fromType,
            destination_account_type: options.toType,
            strategy_id: options.strategy,
            callback_url: options.callbackUrl,
          }),
        };
        await session.confirm('Move this now?', {
          yes: options.yes,
          what: session.aside.record([
            ['amount', { text: `${body.amount} ${body.asset}`, tone: 'strong' }],
            ['from', `${options.from} ${options.fromType ?? 'SPOT'}`],
            ['to', `${options.to} ${options.toType ?? 'SPOT'}`],
            ['reason', body.reason],
          ]),
        });
        const client = await session.client();
        const made = await session.creating(options.idempotencyKey, (idempotencyKey) =>
          client.request('createCapitalTransfer', { body, idempotencyKey }),
        );
        if (made.replayed || made.status === 200)
          session.note('This is the transfer that the first request with this key made.');
        await session.print(made.body, () => transferText(session.view, made.body));
      },
    }),
    command({
      name: 'watch',
      about: 'Follow a capital transfer until it has ended',
      args: TRANSFER,
      options: { timeout: whole('seconds', 'how long at most (600)') },
      answer: { operation: 'getCapitalTransfer', lines: true },
      run: async ({ session, args, options }) => {
        const client = await session.client();
        const ended = await client.waitForTransfer(args.transferId, ['COMPLETED', 'FAILED'], {
          signal: session.io.signal,
          timeoutMs: (options.timeout ?? 600) * 1000,
          onChange: (seen) => void session.printLine(seen, () => lineOf(seen)),
        });
        if (ended.request_state === 'FAILED')
          throw failure(`Transfer ${args.transferId} is FAILED: ${ended.error_code ?? ''}`);
      },
    }),
    operation('getCapitalTransferTimeline', {
      name: 'timeline',
      about: 'Tell what happened to a capital transfer, oldest first',
      args: TRANSFER,
      input: ofTransfer,
      show: (session, events) =>
        session.table(events, {
          '#': { right: 'sequence' },
          TIME: { when: 'occurred_at' },
          EVENT: 'event_type',
          BY: ({ actor }) => actor.label ?? actor.key_id ?? actor.type,
          WHAT: 'message',
        }),
    }),
    operation('resolveCapitalTransfer', {
      name: 'resolve',
      about: 'Give your word on a transfer that its provider has not confirmed',
      args: TRANSFER,
      options: {
        resolution: required(choice(TRANSFER_RESOLUTIONS, 'what became of it')),
        ...REASON,
        providerTransferId: text('id', "the provider's record that proves it"),
      },
      ask: ({ options }) => `Say that it is ${options.resolution}?`,
      what: async (call) =>
        transferText(
          call.session.aside,
          await call.session.call('getCapitalTransfer', ofTransfer(call)),
        ),
      input: (call) => {
        const { resolution, reason, providerTransferId: provider_transfer_id } = call.options;
        return { ...ofTransfer(call), body: { resolution, reason, provider_transfer_id } };
      },
      show: ({ view }, transfer) => transferText(view, transfer),
    }),
  ],
};

function ofTransfer({ args }: { readonly args: { readonly transferId: string } }) {
  return { params: { transfer_id: args.transferId } };
}

function transferText(view: View, transfer: Transfer): string {
  const { error_code: code, error_message: message, attention } = transfer;
  const record = view.record([
    ['transfer', transfer.transfer_id],
    ['state', state(transfer.request_state)],
    ['amount', `${transfer.amount} ${transfer.asset}`],
    ['from', `${transfer.source_venue} ${transfer.source_account_type}`],
    ['to', `${transfer.destination_venue} ${transfer.destination_account_type}`],
    ['reason', transfer.reason],
    ['strategy', transfer.strategy_id],
    ['provider', transfer.provider],
    ["provider's id", transfer.provider_transfer_id],
    ['error', code === null ? null : { text: `${code}: ${message ?? ''}`, tone: 'bad' }],
    ['key', transfer.idempotency_key],
    ['created', when(transfer.created_at)],
    ['updated', when(transfer.updated_at)],
  ]);
  if (attention === null) return record;
  const command = `fundctl transfers resolve ${transfer.transfer_id}`;
  return [
    record,
    view.heading('A person is needed'),
    view.fields(attention, {
      reason: () => ({ text: attention.reason, tone: 'waiting' }),
      'what is the matter': 'message',
      'last answer': 'last_answer',
    }),
    ...attention.actions.map(({ consequence }) => offerText(view, command, consequence)),
  ].join('');
}

function lineOf({ request_state, error_code }: Transfer): string {
  return `${timeOfDay()}  ${request_state}${error_code === null ? '' : `  ${error_code}`}\n`;
}
