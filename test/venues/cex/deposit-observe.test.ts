import type { ExecutionContext, Executor } from '../../../domain/executor.ts';
import { createCexDepositObserveExecutor } from '../../../venues/cex/deposit-observe.ts';
import type { Deposit } from './support/books.ts';
import { call, contextOf, freshBooks, NO_JOURNAL, observe, openDesk } from './support/desk.ts';
import { madeDeposit } from './support/made.ts';
import { started } from '../../support/started.ts';

let executor: Executor;
const desk = started(() => openDesk());

beforeEach(() => {
  freshBooks(desk);
  executor = createCexDepositObserveExecutor(desk.sharedAccounts());
});

const HASH = `0x${'c4'.repeat(32)}`;
const matched = { node_key: 'pay', external_ref: 'order-1', output: { tx_hash: HASH } };
const looking = (changes: Partial<ExecutionContext> = {}) =>
  contextOf(
    'cex_deposit_observe',
    { venue: 'cex-main', match_from: 'pay' },
    { matched, ...changes },
  );
const arrives = (changes: Partial<Deposit> = {}) =>
  desk.exchange.books.deposits.push(
    madeDeposit({ id: String(desk.exchange.books.deposits.length), tx: HASH, ...changes }),
  );

describe('a deposit', () => {
  test('is waited for, and completes the node once it is credited', async () => {
    expect(await executor.preflight(looking(), call())).toBeNull();
    expect(await observe(executor, looking())).toMatchObject({ next_state: 'OBSERVING' });
    arrives({ exchange_status: '0' });
    expect(await observe(executor, looking())).toMatchObject({ next_state: 'OBSERVING' });
    desk.exchange.books.deposits[0]!.exchange_status = '1';
    expect(await observe(executor, looking())).toMatchObject({
      next_state: 'COMPLETED',
      output: { tx_hash: HASH, received_amount: '100.25', deposits: 1, network: 'ETH' },
    });
  });

  test('of another transaction, asset or account is not ours', async () => {
    arrives({ tx: `0x${'c5'.repeat(32)}` });
    arrives({ asset: 'USDT' });
    arrives({ account: 'sub-a@example.com' });
    expect(await observe(executor, looking())).toMatchObject({ next_state: 'OBSERVING' });
  });

  test('is matched however the hash is written, by the reference too when the node has no output', async () => {
    arrives({ tx: HASH.toUpperCase().replace('0X', '0x') });
    expect(await observe(executor, looking())).toMatchObject({ next_state: 'COMPLETED' });
    expect(
      await observe(executor, looking({ matched: { node_key: 'pay', external_ref: HASH } })),
    ).toMatchObject({
      next_state: 'COMPLETED',
    });
  });

  test('cannot be matched by a reference that is no hash, or while the node has no output', async () => {
    arrives({ tx: 'order-1' });
    expect(
      await observe(executor, looking({ matched: { node_key: 'pay', external_ref: 'order-1' } })),
    ).toMatchObject({
      next_state: 'OBSERVING',
    });
    const { matched: _none, ...context } = looking();
    expect(await observe(executor, context)).toMatchObject({ next_state: 'OBSERVING' });
    expect(desk.exchange.requests).toEqual([]);
  });

  test('in several parts is added up exactly', async () => {
    arrives({ amount: '0.100000000000000001' });
    arrives({ amount: '99.9' });
    expect(await observe(executor, looking())).toMatchObject({
      output: { received_amount: '100.000000000000000001', deposits: 2 },
    });
  });

  test('that cannot leave yet is credited, and not final', async () => {
    arrives({ exchange_status: '6' });
    expect(
      await observe(executor, looking({ completion_assurance: 'destination_credited' })),
    ).toMatchObject({ next_state: 'COMPLETED' });
    expect(
      await observe(executor, looking({ completion_assurance: 'destination_finalized' })),
    ).toMatchObject({ next_state: 'OBSERVING' });
  });

  test.each([2, 7])(
    'that the exchange does not credit (status %i) fails the node',
    async (status) => {
      arrives({ exchange_status: String(status) });
      expect(await observe(executor, looking())).toMatchObject({
        next_state: 'FAILED',
        error_code: 'DEPOSIT_REJECTED',
      });
    },
  );

  test('is looked up again while the exchange does not answer', async () => {
    desk.exchange.fail({ path: 'hisrec', kind: 'error_500' });
    await expect(observe(executor, looking())).rejects.toMatchObject({ kind: 'server_error' });
  });
});

test('it has no side effect', async () => {
  const context = looking();
  await expect(executor.prepare(context, call())).rejects.toMatchObject({
    code: 'PHASE_NOT_SUPPORTED',
  });
  await expect(
    executor.submit({ context, prepared_action: {}, journal: NO_JOURNAL }, call()),
  ).rejects.toMatchObject({
    code: 'PHASE_NOT_SUPPORTED',
  });
  expect(
    await executor.preflight({ ...context, config: { venue: 'cex-main' } }, call()),
  ).toMatchObject({ error_code: 'CONFIG_INVALID' });
});
