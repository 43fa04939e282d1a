import type { Arrivals, ExecutionContext, Executor } from '../../../domain/executor.ts';
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

/** A look for what a node sent that reports this as received. */
const sent = (received_amount: string | undefined) =>
  looking({
    matched: {
      ...matched,
      output: { tx_hash: HASH, ...(received_amount === undefined ? {} : { received_amount }) },
    },
  });

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

  test('is not one of another transaction or asset that the exchange lists beside it', async () => {
    const listed = (coin: string, txId: string) => ({
      ...{ id: '1', coin, network: 'ETH', amount: '7', txId },
      ...{ insertTime: Date.now(), status: 1 },
    });
    const foreign = listed('USDC', `0x${'c5'.repeat(32)}`);
    const inUsdt = listed('USDT', HASH);
    arrives();
    // As an exchange that ignores a filter.
    for (const body of [[foreign], [inUsdt], [foreign, inUsdt]]) {
      desk.exchange.fail({ path: 'hisrec', kind: 'status', status: 200, body });
      expect(await observe(executor, looking())).toEqual({
        next_state: 'OBSERVING',
        retry_after_seconds: expect.any(Number),
      });
    }
    expect(await observe(executor, looking())).toMatchObject({
      next_state: 'COMPLETED',
      output: { received_amount: '100.25', deposits: 1 },
    });
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
    expect(await observe(executor, sent('100.000000000000000001'))).toMatchObject({
      next_state: 'COMPLETED',
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

describe('a transaction that also pays others', () => {
  const SOURCE = 'cex:cex-main';
  const paid = (reference: string, amount: string) => ({
    next_state: 'COMPLETED',
    external_ref: reference,
    output: {
      received_amount: amount,
      deposits: 1,
      payments: [{ source: SOURCE, reference, amount, total: amount }],
    },
  });
  const undecided = (...unclaimed: readonly string[]) => ({
    next_state: 'OBSERVING',
    error_code: 'PAYMENT_AMBIGUOUS',
    output: { unclaimed },
  });

  /** Looks while these deposits are claimed, in the lower case in which claims are stored. */
  function lookWith(context: ExecutionContext, held: Readonly<Record<string, 'own' | 'other'>>) {
    const claimed: Arrivals['claimed'] = async (source, references) =>
      source === SOURCE
        ? Object.entries(held)
            .filter(([reference]) => references.includes(reference))
            .map(([reference, by]) => ({ reference, amount: '1', own: by === 'own' }))
        : [];
    const arrivals = { claimed, waiting: async () => [] };
    return executor.observe(context, call(), { ...NO_JOURNAL, arrivals });
  }

  test('completes a node with the only deposit of the amount that was sent to it', async () => {
    arrives({ id: 'D-1', amount: '10' });
    arrives({ id: 'D-2', amount: '20' });
    arrives({ id: 'D-3', amount: '20' });
    expect(await observe(executor, sent('10.0'))).toMatchObject(paid('D-1', '10'));
    // The other two look the same.
    expect(await observe(executor, sent('20'))).toMatchObject(undecided('D-1', 'D-2', 'D-3'));
    expect(await observe(executor, sent('30'))).toMatchObject({ error_code: 'PAYMENT_AMBIGUOUS' });
  });

  test('over equal amounts is for a person, and the last one left is not', async () => {
    arrives({ id: 'D-1', amount: '10' });
    arrives({ id: 'D-2', amount: '10' });
    expect(await lookWith(sent('10'), {})).toMatchObject(undecided('D-1', 'D-2'));
    expect(await lookWith(sent('10'), { 'd-1': 'other' })).toMatchObject(paid('D-2', '10'));
    expect(await lookWith(sent('10'), { 'd-1': 'own', 'd-2': 'other' })).toMatchObject(
      paid('D-1', '10'),
    );
  });

  test('is not taken in another amount than was sent, also if it is the last one left', async () => {
    arrives({ id: 'D-1', amount: '10' });
    arrives({ id: 'D-2', amount: '20' });
    expect(await lookWith(sent('10'), { 'd-1': 'other' })).toMatchObject(undecided('D-2'));
  });

  test('does not fail a node with the rejected deposit of another', async () => {
    arrives({ id: 'D-1', amount: '10' });
    arrives({ id: 'D-2', amount: '20', exchange_status: '7' });
    expect(await observe(executor, sent('10'))).toMatchObject(paid('D-1', '10'));
    expect(await observe(executor, sent('20'))).toMatchObject({
      next_state: 'FAILED',
      error_code: 'DEPOSIT_REJECTED',
    });
  });

  test('is not awaited for the deposit of another', async () => {
    arrives({ id: 'D-1', amount: '10' });
    arrives({ id: 'D-2', amount: '20', exchange_status: '0' });
    expect(await observe(executor, sent('10'))).toMatchObject(paid('D-1', '10'));
    expect((await observe(executor, sent('20'))).next_state).toBe('OBSERVING');
  });

  test('is for a person where the node that sent reports no amount', async () => {
    arrives({ id: 'D-1', amount: '10' });
    arrives({ id: 'D-2', amount: '20' });
    for (const reported of [undefined, '', '1e1'])
      expect(await observe(executor, sent(reported))).toMatchObject(undecided('D-1', 'D-2'));
    expect(await lookWith(sent(undefined), { 'd-2': 'other' })).toMatchObject(paid('D-1', '10'));
  });

  test('whose deposits are all claimed by others completes with them, which is refused', async () => {
    arrives({ id: 'D-1', amount: '10' });
    arrives({ id: 'D-2', amount: '10' });
    const held = { 'd-1': 'other', 'd-2': 'other' } as const;
    // So the node shows ALREADY_CLAIMED.
    expect(await lookWith(sent('10'), held)).toMatchObject({
      next_state: 'COMPLETED',
      output: { payments: [{ reference: 'D-1' }, { reference: 'D-2' }] },
    });
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
