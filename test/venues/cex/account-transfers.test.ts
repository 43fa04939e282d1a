import { randomUUID } from 'node:crypto';
import type {
  TransferOrder,
  TransferProvider,
} from '../../../domain/capital-transfers/provider.ts';
import { transferEntries } from '../../../domain/capital-transfers/topology.ts';
import { isLanding } from '../../../domain/commands/landed-late.ts';
import type { Executor } from '../../../domain/executor.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { newId } from '../../../platform/ids.ts';
import { createCexInternalTransferExecutor } from '../../../venues/cex/internal-transfer.ts';
import { createCexTransfers } from '../../../venues/cex/account-transfers.ts';
import {
  accountsOf,
  call,
  contextOf,
  freshBooks,
  observe,
  openDesk,
  recover,
  send,
  SUB,
} from './support/desk.ts';
import { prepareOnce } from './support/run.ts';
import { started } from '../../support/started.ts';

let provider: TransferProvider;
let executor: Executor;
const desk = started(() => openDesk());

beforeEach(() => {
  freshBooks(desk);
  const accounts = desk.accounts();
  provider = createCexTransfers(accounts)[0]!;
  executor = createCexInternalTransferExecutor(accounts);
});

const books = () => desk.exchange.books;
const order = (changes: Partial<TransferOrder> = {}): TransferOrder => ({
  reference: randomUUID(),
  source: { venue_key: 'cex-main', account_type: 'SPOT' },
  destination: { venue_key: 'cex-sub', account_type: 'USDT_FUTURE' },
  asset: 'USDC',
  amount: '12.5',
  created_at: new Date().toISOString(),
  ...changes,
});

describe('a provider of transfers', () => {
  test('is one for each master, with the accounts below it', () => {
    const alone = {
      ...desk.bindings()[1]!,
      venue_key: 'alone',
      account: 'x@example.com',
      master: undefined,
      credentials_file: 'x',
    };
    const providers = createCexTransfers(accountsOf([...desk.bindings(), alone as never]));
    expect(providers).toHaveLength(1);
    expect(providers[0]).toMatchObject({
      provider: 'ccxt',
      scope: 'ccxt:binance:cex-main',
      same_key_safe: false,
      settle_seconds: 60,
      accounts: [
        { venue_key: 'cex-main', role: 'master' },
        { venue_key: 'cex-sub', role: 'sub' },
      ],
    });
  });

  test('moves between accounts and pools, and finds it by its reference', async () => {
    const placed = order();
    const answer = await provider.submit(placed, call());
    expect(answer).toMatchObject({
      status: 'pending',
      provider_transfer_id: books().transfers[0]!.id,
    });
    expect(await provider.find(placed, call())).toEqual({
      status: 'completed',
      provider_transfer_id: books().transfers[0]!.id,
    });
    expect(books().transfers[0]).toMatchObject({
      source: { account: null },
      destination: { account: SUB },
      client_id: placed.reference.replaceAll('-', ''),
    });
    expect([books().get(null, 'SPOT', 'USDC'), books().get(SUB, 'USDT_FUTURE', 'USDC')]).toEqual([
      '987.5',
      '12.5',
    ]);
  });

  test('finds what a sub-account sent, and what stays within one', async () => {
    books().set(SUB, 'USDT_FUTURE', 'USDC', '50');
    const sub = (account_type: 'SPOT' | 'USDT_FUTURE') => ({ venue_key: 'cex-sub', account_type });
    const within = order({ source: sub('USDT_FUTURE'), destination: sub('SPOT'), amount: '20' });
    const back = order({
      source: sub('SPOT'),
      destination: { venue_key: 'cex-main', account_type: 'SPOT' },
      amount: '5',
    });
    for (const each of [within, back]) {
      await provider.submit(each, call());
      expect(await provider.find(each, call())).toMatchObject({ status: 'completed' });
    }
    expect([books().get(null, 'SPOT', 'USDC'), books().get(SUB, 'SPOT', 'USDC')]).toEqual([
      '1005',
      '15',
    ]);
  });

  test('finds nothing under a reference that was never sent', async () => {
    await provider.submit(order(), call());
    expect(await provider.find(order(), call())).toBeNull();
  });

  test('finds nothing of another reference, also where the exchange lists it', async () => {
    const [placed, unsent] = [order(), order()];
    await provider.submit(placed, call());
    const { id } = books().transfers[0]!;
    const record = {
      tranId: Number(id),
      fromEmail: 'master@example.com',
      toEmail: SUB,
      fromAccountType: 'SPOT',
      toAccountType: 'USDT_FUTURE',
      clientTranId: placed.reference.replaceAll('-', ''),
      asset: 'USDC',
      amount: '12.5',
      status: 'SUCCESS',
      createTimeStamp: Date.now(),
    };
    // As an exchange that ignores the filter.
    desk.exchange.fail({
      path: 'universalTransfer',
      method: 'GET',
      kind: 'status',
      status: 200,
      body: { result: [record], totalCount: 1 },
      times: 2,
    });
    expect(await provider.find(unsent, call())).toBeNull();
    expect(await provider.find(placed, call())).toEqual({
      status: 'completed',
      provider_transfer_id: id,
    });
  });

  test('finds what a lost answer left behind, once', async () => {
    for (const kind of ['done_then_hangup', 'done_then_500'] as const) {
      const placed = order();
      desk.exchange.fail({ path: 'universalTransfer', method: 'POST', kind });
      await expect(provider.submit(placed, call())).rejects.toMatchObject({
        name: 'ExecutorFault',
      });
      expect(await provider.find(placed, call())).toMatchObject({ status: 'completed' });
    }
    expect(books().transfers).toHaveLength(2);
  });

  test('is sure of a refusal, and of nothing else', async () => {
    expect(await provider.submit(order({ amount: '1000.1' }), call())).toMatchObject({
      status: 'failed',
      error_code: 'INSUFFICIENT_FUNDS',
    });
    expect(await provider.submit(order({ amount: '0.123456789' }), call())).toMatchObject({
      status: 'failed',
      error_code: 'AMOUNT_PRECISION',
    });
    expect(desk.exchange.requests).toHaveLength(1);
    desk.exchange.fail({
      path: 'universalTransfer',
      kind: 'refuse',
      body: { code: -5012, msg: 'Asset transfer is in pending.' },
    });
    await expect(provider.submit(order(), call())).rejects.toMatchObject({ kind: 'server_error' });
    // A duplicate speaks of an earlier send under the same reference.
    desk.exchange.fail({
      path: 'universalTransfer',
      kind: 'refuse',
      body: { code: -4115, msg: 'clientTranId is duplicated' },
    });
    await expect(provider.submit(order(), call())).rejects.toMatchObject({ kind: 'server_error' });
  });

  test.each([
    ['PROCESS', 'pending'],
    ['INIT', 'pending'],
    ['SUCCESS', 'completed'],
    ['FAILURE', 'failed'],
    ['WHATEVER', 'pending'],
  ])('reads the status %s as %s', async (exchangeStatus, status) => {
    const placed = order();
    await provider.submit(placed, call());
    books().transfers[0]!.exchange_status = exchangeStatus;
    expect(await provider.find(placed, call())).toMatchObject({ status });
  });

  test('leaves two records under one reference to a person', async () => {
    const placed = order();
    await provider.submit(placed, call());
    books().transfers.push({ ...books().transfers[0]!, id: '1' });
    await expect(provider.find(placed, call())).rejects.toMatchObject({
      code: 'TRANSFER_DUPLICATED',
    });
  });

  test.each([
    ['another asset', { asset: 'USDT' }],
    ['another amount', { amount: '12.50000001' }],
    ['another destination', { destination: { account: 'sub-b@example.com', pool: 'USDT_FUTURE' } }],
    ['another pool', { destination: { account: SUB, pool: 'SPOT' } }],
    ['another source pool', { source: { account: null, pool: 'USDT_FUTURE' } }],
  ])('does not take a record of %s under its reference for its own', async (_what, changes) => {
    const placed = order();
    await provider.submit(placed, call());
    Object.assign(books().transfers[0]!, changes);
    await expect(provider.find(placed, call())).rejects.toMatchObject({
      kind: 'protocol',
      code: 'TRANSFER_MISMATCH',
    });
  });

  test('knows its record by amounts and addresses as the exchange writes them', async () => {
    const placed = order();
    await provider.submit(placed, call());
    Object.assign(books().transfers[0]!, {
      amount: '12.50000000',
      destination: { account: SUB.toUpperCase(), pool: 'USDT_FUTURE' },
    });
    expect(await provider.find(placed, call())).toMatchObject({ status: 'completed' });
  });

  test.each(['USDC&%61%6D%6F%75%6E%74=900', 'USDC&toEmail=other@x', 'US DC', 'usdc', 'ΑΒΓ', ''])(
    'sends nothing for an asset named %p: it could begin another parameter',
    async (asset) => {
      expect(await provider.submit(order({ asset }), call())).toMatchObject({
        status: 'failed',
        error_code: 'ASSET_UNKNOWN',
      });
      expect(desk.exchange.requests).toEqual([]);
    },
  );

  test('does not send once the signal has aborted', async () => {
    await expect(provider.submit(order(), call(AbortSignal.abort()))).resolves.toMatchObject({
      status: 'failed',
      error_code: 'CEX_ABORTED',
      error_message: expect.stringContaining('before anything was sent'),
    });
    expect(desk.exchange.requests).toEqual([]);
  });

  test.each<[string, object, object]>([
    ['the master', { account: 'another@example.com' }, {}],
    ['the sub-account', {}, { account: 'sub-b@example.com' }],
  ])(
    'sends and believes nothing of a transfer once the key of %s means another account',
    async (_, ...changes) => {
      const [main, sub] = provider.accounts;
      const venue_entries = transferEntries(main!, sub!) ?? '';
      expect(venue_entries).toContain(`cex-sub: binance sub-account ${SUB} of `);
      const placed = order({ venue_entries });
      const [moved] = createCexTransfers(desk.accounts(...changes));
      expect(await moved!.submit(placed, call())).toMatchObject({
        status: 'failed',
        error_code: 'VENUE_ENTRY_CHANGED',
        error_message: expect.stringContaining('nothing was sent'),
      });
      await expect(moved!.find(placed, call())).rejects.toMatchObject({
        kind: 'not_yet',
        code: 'VENUE_ENTRY_CHANGED',
      });
      const gone = { ...placed, source: { ...placed.source, venue_key: 'gone' } };
      const none = expect.stringContaining('[no entries of both]');
      expect(await moved!.submit(gone, call())).toMatchObject({ error_message: none });
      await expect(moved!.find(gone, call())).rejects.toMatchObject({ message: none });
      expect(desk.exchange.requests).toEqual([]);
      expect(await provider.submit(placed, call())).toMatchObject({ status: 'pending' });
      expect(await provider.find(placed, call())).toMatchObject({ status: 'completed' });
    },
  );

  test('names an account by its address however that is written', async () => {
    const odd = 'sub+a%26toEmail@example.com';
    const [main, sub] = [desk.bindings()[0]!, { ...desk.bindings()[1]!, account: odd }];
    await createCexTransfers(accountsOf([main, sub]))[0]!.submit(order(), call());
    expect(desk.exchange.requests[0]?.parameters.getAll('toEmail')).toEqual([odd]);
  });
});

describe('a node that transfers within the exchange', () => {
  const transfer = (config: JsonObject = {}, changes: object = {}) =>
    contextOf(
      'cex_internal_transfer',
      { venue: 'cex-main', destination_venue: 'cex-sub', ...config },
      changes,
    );

  test('is checked, sent once and observed to its end', async () => {
    const context = transfer(
      { destination_account_type: 'usdt_future' },
      { completion_assurance: 'destination_credited' },
    );
    expect(await executor.preflight(context, call())).toBeNull();
    expect(await send(executor, context)).toMatchObject({ next_state: 'SUBMITTED' });
    expect(await observe(executor, context)).toMatchObject({
      next_state: 'COMPLETED',
      output: {
        requested_amount: '100.5',
        submitted_amount: '100.5',
        fee_amount: '0',
        received_amount: '100.5',
      },
    });
    expect(books().get(SUB, 'USDT_FUTURE', 'USDC')).toBe('100.5');
  });

  test.each([
    [
      'TOPOLOGY_NOT_SUPPORTED',
      { destination_venue: 'cex-main', destination_account_type: 'USDT_FUTURE' },
      {},
    ],
    ['TOPOLOGY_NOT_SUPPORTED', { destination_venue: 'cex-main' }, {}],
    ['VENUE_NOT_BOUND', { destination_venue: 'nowhere' }, {}],
    ['INSUFFICIENT_FUNDS', {}, { amount: '1000.1' }],
    ['INSUFFICIENT_FUNDS', { venue: 'cex-sub', destination_venue: 'cex-main' }, {}],
    ['AMOUNT_PRECISION', {}, { amount: '0.123456789' }],
    ['COMPLETION_ASSURANCE_NOT_SUPPORTED', {}, { completion_assurance: 'destination_finalized' }],
    ['CONFIG_INVALID', { account_type: 'MARGIN' }, {}],
  ])('refuses with %s', async (code, config, changes) => {
    expect(await executor.preflight(transfer(config, changes), call())).toMatchObject({
      next_state: 'FAILED',
      error_code: code,
    });
  });

  test('is not sent, and a look proves nothing, once a key means another account', async () => {
    const accounts = desk.accounts({}, { account: 'sub-b@example.com' });
    const moved = createCexInternalTransferExecutor(accounts);
    const input = await prepareOnce(executor, transfer());
    expect(await moved.submit(input, call())).toMatchObject({
      next_state: 'FAILED',
      error_code: 'VENUE_ENTRY_CHANGED',
    });
    const changed = { kind: 'not_yet', code: 'VENUE_ENTRY_CHANGED' };
    await expect(recover(moved, input.context)).rejects.toMatchObject(changed);
    await expect(moved.cancel(input.context, call())).rejects.toMatchObject(changed);
    expect(desk.exchange.requests).toEqual([]);
    expect(await executor.submit(input, call())).toMatchObject({ next_state: 'SUBMITTED' });
    expect(await recover(executor, input.context)).toMatchObject({ next_state: 'COMPLETED' });
  });

  test.each<[string, object, object]>([
    ['TRANSFERS_NOT_SUPPORTED', { exchange: 'kraken' }, { exchange: 'kraken' }],
    ['TOPOLOGY_NOT_SUPPORTED', {}, { account_role: 'master', master: undefined }],
  ])(
    'is not looked for at accounts that would refuse it either (%s)',
    async (code, changes, subChanges) => {
      const [main, sub] = desk.bindings();
      const entries = [
        { ...main, ...changes },
        { ...sub, ...subChanges },
      ];
      const moved = createCexInternalTransferExecutor(accountsOf(entries as never));
      expect(await moved.preflight(transfer(), call())).toMatchObject({ error_code: code });
      const { context } = await prepareOnce(executor, transfer());
      for (const look of [recover, observe])
        await expect(look(moved, context)).rejects.toMatchObject({
          kind: 'not_yet',
          code: 'VENUE_ENTRY_CHANGED',
        });
    },
  );

  test('is found after a lost answer, and READY where nothing arrived', async () => {
    const context = transfer();
    desk.exchange.fail({ path: 'universalTransfer', kind: 'hangup' });
    await expect(send(executor, context)).rejects.toMatchObject({ kind: 'unreachable' });
    expect(await recover(executor, context)).toEqual({ next_state: 'READY' });
    const next = transfer({}, { movement_id: newId() });
    desk.exchange.fail({ path: 'universalTransfer', method: 'POST', kind: 'done_then_hangup' });
    await expect(send(executor, next)).rejects.toMatchObject({ kind: 'unreachable' });
    expect(await recover(executor, next)).toMatchObject({ next_state: 'COMPLETED' });
    expect(books().transfers).toHaveLength(1);
  });

  test.each([
    ['SUCCESS', true],
    ['PROCESS', false],
    ['FAILURE', false],
  ])(
    'leaves a record that is not as planned to a person, as a landing once it is paid (%s)',
    async (exchange_status, isPaid) => {
      const context = transfer();
      await send(executor, context);
      const [record] = books().transfers;
      Object.assign(record!, { amount: '99', exchange_status });
      const leaves = async (error_code: string): Promise<void> => {
        const found = await recover(executor, context);
        expect(found).toMatchObject({ next_state: 'UNKNOWN', error_code });
        expect(found.error_message).toContain(`record ${record!.id}`);
        expect(found.external_ref).toBe(isPaid ? record!.id : undefined);
        expect(isLanding(found)).toBe(isPaid);
      };
      await leaves('TRANSFER_MISMATCH');
      books().transfers.push({ ...record!, id: '1', exchange_status: 'FAILURE' });
      await leaves('TRANSFER_DUPLICATED');
    },
  );

  test('fails where the exchange refuses', async () => {
    books().set(null, 'SPOT', 'USDC', '0');
    expect(await send(executor, transfer())).toMatchObject({
      next_state: 'FAILED',
      error_code: 'INSUFFICIENT_FUNDS',
    });
  });
});
