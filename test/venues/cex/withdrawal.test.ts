import { isLanding } from '../../../domain/commands/landed-late.ts';
import type { ExecutionContext, Executor } from '../../../domain/executor.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { subtract } from '../../../domain/money.ts';
import { newId } from '../../../platform/ids.ts';
import type { Dialect } from '../../../venues/cex/dialect.ts';
import { checkWithdrawal } from '../../../venues/cex/withdrawal-checks.ts';
import { createCexWithdrawalExecutor } from '../../../venues/cex/withdrawal.ts';
import {
  ADDRESS,
  call,
  freshBooks,
  idAt,
  NO_JOURNAL,
  observe,
  openDesk,
  recover,
  send,
  SUB,
  withdrawal,
} from './support/desk.ts';
import { withdrawalView } from './support/formats/binance.ts';
import { prepareOnce, runOnce } from './support/run.ts';
import { started } from '../../support/started.ts';

let executor: Executor;
const desk = started(() => openDesk());

beforeEach(() => {
  freshBooks(desk);
  executor = createCexWithdrawalExecutor(desk.sharedAccounts());
});

const books = () => desk.exchange.books;
const applied = () => desk.exchange.requests.filter(({ path }) => path.endsWith('/apply')).length;
const preflight = (context: ExecutionContext) => executor.preflight(context, call());

describe('preflight', () => {
  test('passes what the exchange can do, and sends nothing', async () => {
    expect(await preflight(withdrawal())).toBeNull();
    expect(applied()).toBe(0);
  });

  test.each([
    ['100.499999', 'USDC', 'WITHDRAWAL_QUOTA_EXHAUSTED'],
    ['100.5', 'USDC', null],
    ['0', 'USD', 'WITHDRAWAL_QUOTA_EXHAUSTED'],
    // The service knows no exchange rates, so 1 USD may be enough.
    ['1', 'USD', null],
  ])('with %s %s left of the quota it has the wait %s', async (left, unit, code) => {
    const found = desk.sharedAccounts().get('cex-main');
    const withdrawalTerms: Dialect['withdrawalTerms'] = async (...of) => {
      const terms = await found.dialect.withdrawalTerms(...of);
      return terms === null ? null : { ...terms, quota: { left, unit } };
    };
    const account = { ...found, dialect: { ...found.dialect, withdrawalTerms } };
    const order = {
      client_id: 'c',
      asset: 'USDC',
      network: 'ETH',
      address: ADDRESS,
      tag: null,
      amount: '100.5',
      fee_limit: null,
    };
    const answer = await checkWithdrawal(account, { order, context: withdrawal() }, call());
    if (code === null) expect(answer).toBeNull();
    else expect(answer).toMatchObject({ next_state: 'READY', error_code: code });
  });

  const refused: readonly (readonly [string, JsonObject, Partial<ExecutionContext>])[] = [
    ['VENUE_NOT_BOUND', { venue: 'elsewhere' }, {}],
    ['CREDENTIALS_MISSING', { venue: 'cex-sub' }, {}],
    ['NETWORK_UNKNOWN', { network: 'MOON' }, {}],
    ['NETWORK_UNKNOWN', {}, { asset: 'NONE' }],
    ['ADDRESS_INVALID', { destination_address: '0x12' }, {}],
    [
      'ADDRESS_NOT_WHITELISTED',
      { destination_address: '0x0000000000000000000000000000000000000001' },
      {},
    ],
    ['ADDRESS_NOT_WHITELISTED', { tag: '77' }, {}],
    ['AMOUNT_TOO_SMALL', {}, { amount: '9.999999' }],
    ['AMOUNT_TOO_LARGE', {}, { amount: '1000000.000001' }],
    ['AMOUNT_PRECISION', {}, { amount: '100.0000001' }],
    ['INSUFFICIENT_FUNDS', {}, { amount: '1000.000001' }],
    ['COMPLETION_ASSURANCE_NOT_SUPPORTED', {}, { completion_assurance: 'destination_observed' }],
    ['CONFIG_INVALID', { network: '' }, {}],
    ['CONFIG_INVALID', { destination_address: '0x1&amount=900' }, {}],
    ['CONFIG_INVALID', { tag: 'a b' }, {}],
    ['CONFIG_INVALID', {}, { amount: '0' }],
    ['CONFIG_INVALID', {}, { asset: 'usdc&x' }],
  ];
  test.each(refused)('refuses with %s', async (code, config, changes) => {
    expect(await preflight(withdrawal(config, changes))).toMatchObject({
      next_state: 'FAILED',
      error_code: code,
    });
  });

  test('waits for a network that is suspended', async () => {
    expect(await preflight(withdrawal({ network: 'SUSPENDED' }))).toMatchObject({
      next_state: 'READY',
      error_code: 'VENUE_SUSPENDED',
    });
  });

  test('takes less than the plan asks for where the node says that it is enough', async () => {
    const context = withdrawal(
      { completion_assurance: 'provider_completed' },
      { completion_assurance: 'destination_finalized' },
    );
    expect(await preflight(context)).toBeNull();
  });

  test('refuses an address of the book that is not whitelisted, and asks for no book where the account has none', async () => {
    books().book[0]!.verified = false;
    expect(await preflight(withdrawal())).toMatchObject({ error_code: 'ADDRESS_NOT_WHITELISTED' });
    const open = createCexWithdrawalExecutor(desk.accounts({ withdrawal_whitelist: false }));
    expect(await open.preflight(withdrawal(), call())).toBeNull();
  });

  test('compares EVM addresses without their checksum', async () => {
    expect(await preflight(withdrawal({ destination_address: ADDRESS.toLowerCase() }))).toBeNull();
  });

  test('is a fault to be repeated while the exchange does not answer', async () => {
    desk.exchange.fail({ path: 'getall', kind: 'error_500' });
    await expect(preflight(withdrawal())).rejects.toMatchObject({ kind: 'server_error' });
  });
});

describe('a withdrawal', () => {
  test('is sent once, with what was prepared, and observed to its end', async () => {
    books().settles = false;
    const context = withdrawal();
    const submitted = await send(executor, context);
    expect(submitted).toMatchObject({
      next_state: 'SUBMITTED',
      external_ref: books().withdrawals[0]!.id,
    });
    expect(await observe(executor, context)).toMatchObject({ next_state: 'OBSERVING' });
    Object.assign(books().withdrawals[0]!, {
      exchange_status: '6',
      tx: `0x${'ab'.repeat(32)}`,
    });
    expect(await observe(executor, context)).toEqual({
      next_state: 'COMPLETED',
      external_ref: books().withdrawals[0]!.id,
      output: {
        requested_amount: '100.5',
        submitted_amount: '100.5',
        fee_amount: '0.25',
        fee_asset: 'USDC',
        received_amount: '100.25',
        reported_amount: '100.25',
        tx_hash: `0x${'ab'.repeat(32)}`,
        exchange_transaction: `0x${'ab'.repeat(32)}`,
        network: 'ETH',
      },
    });
    expect(applied()).toBe(1);
    expect(books().get(null, 'SPOT', 'USDC')).toBe('899.5');
    const sent = desk.exchange.requests.find(({ path }) => path.endsWith('/apply'))?.parameters;
    expect(sent?.get('walletType')).toBe('0');
    expect(sent?.get('withdrawOrderId')).toMatch(/^[0-9a-f]{32}$/);
  });

  test('with a tag carries it', async () => {
    books().book.push({ ...books().book[0]!, label: 'tagged', tag: '1234' });
    await send(executor, withdrawal({ tag: '1234' }));
    expect(books().withdrawals[0]).toMatchObject({ tag: '1234' });
  });

  test.each(['99', '101'])(
    'of which %s was paid, which is neither the amount nor the amount less the fee, is left to a person',
    async (net_amount) => {
      const context = withdrawal();
      await send(executor, context);
      Object.assign(books().withdrawals[0]!, { net_amount });
      expect(await recover(executor, context)).toMatchObject({
        next_state: 'UNKNOWN',
        error_code: 'WITHDRAWAL_MISMATCH',
        error_message: expect.stringContaining('USDC left the account, not 100.5'),
        external_ref: books().withdrawals[0]!.id,
      });
      await expect(observe(executor, context)).rejects.toMatchObject({
        code: 'WITHDRAWAL_MISMATCH',
      });
    },
  );

  test.each([
    ['100.5', '0'],
    // The fee of a booking within Binance goes back to the account.
    ['100.5', '0.25'],
    ['100.25', '0.25'],
  ])('within the exchange of %s with a fee of %s has no hash', async (net_amount, fee) => {
    const context = withdrawal();
    await send(executor, context);
    const tx = 'Internal transfer 51376627901';
    Object.assign(books().withdrawals[0]!, { within: true, tx, net_amount, fee });
    const { output } = await observe(executor, context);
    expect(output).toMatchObject({ received_amount: net_amount, exchange_transaction: tx });
    expect(output).not.toHaveProperty('tx_hash');
  });

  test.each<[string, string | undefined]>([
    ['50', undefined],
    ['100.25', undefined],
    ['50', '0.25'],
    ['100.249999', '0.25'],
  ])(
    'within the exchange of %s, with the fee limit %s, is short by more than a fee',
    async (net_amount, fee_limit) => {
      const context = withdrawal(fee_limit === undefined ? {} : { fee_limit });
      await send(executor, context);
      const tx = 'Internal transfer 51376627901';
      Object.assign(books().withdrawals[0]!, { within: true, tx, net_amount, fee: '0' });
      expect(await recover(executor, context)).toMatchObject({
        next_state: 'UNKNOWN',
        error_code: 'WITHDRAWAL_MISMATCH',
      });
    },
  );

  test('within the exchange may be short by its fee, and then says no received amount', async () => {
    const context = withdrawal({ fee_limit: '0.25' });
    await send(executor, context);
    const tx = 'Internal transfer 51376627901';
    const shown = { within: true, tx, net_amount: '100.25', fee: '0' };
    Object.assign(books().withdrawals[0]!, shown);
    const { next_state, output } = await observe(executor, context);
    expect(next_state).toBe('COMPLETED');
    expect(output).toMatchObject({ reported_amount: '100.25' });
    expect(output).not.toHaveProperty('received_amount');
  });

  test.each([1, 3, 5])('that the exchange ended (status %i) is FAILED', async (status) => {
    const context = withdrawal();
    await send(executor, context);
    const { tx } = books().withdrawals[0]!;
    Object.assign(books().withdrawals[0]!, { exchange_status: String(status) });
    // It has a transaction, which may have paid.
    expect(tx).not.toBeNull();
    expect(await observe(executor, context)).toMatchObject({ next_state: 'OBSERVING' });
    Object.assign(books().withdrawals[0]!, { tx: null });
    expect(await observe(executor, context)).toMatchObject({
      next_state: 'FAILED',
      error_code: 'WITHDRAWAL_FAILED',
    });
  });

  test('in an undocumented state is still under way', async () => {
    const context = withdrawal();
    await send(executor, context);
    Object.assign(books().withdrawals[0]!, { exchange_status: '9' });
    expect(await observe(executor, context)).toMatchObject({ next_state: 'OBSERVING' });
  });

  test('is not sent when the node says something else than what was prepared', async () => {
    const context = withdrawal();
    const { prepared_action = {} } = await executor.prepare(context, call());
    const input = {
      context,
      prepared_action: { ...prepared_action, amount: '100.6' },
      journal: NO_JOURNAL,
    };
    await expect(executor.submit(input, call())).rejects.toMatchObject({
      code: 'PREPARED_ACTION_MISMATCH',
    });
    expect(applied()).toBe(0);
  });

  test.each(['0.123456789012345678', '12345678901234567890.123456789012345678'])(
    'keeps every digit of %s',
    async (amount) => {
      books().set(null, 'SPOT', 'TINY', '99999999999999999999');
      books().assets.get('TINY')![0]!.max = '99999999999999999999';
      books().book.push({ ...books().book[0]!, label: 'tiny', asset: 'TINY' });
      const context = withdrawal({}, { asset: 'TINY', amount });
      expect(await preflight(context)).toBeNull();
      await send(executor, context);
      const received = subtract(amount, '0.000000000000000001');
      expect(books().withdrawals[0]!.net_amount).toBe(received);
      expect(await observe(executor, context)).toMatchObject({
        output: { submitted_amount: amount, received_amount: received },
      });
    },
  );
});

describe('a venue key that means another account since', () => {
  const moved = () =>
    createCexWithdrawalExecutor(desk.accounts({ account: 'another@example.com' }));

  test('gets nothing that was prepared for the account of before', async () => {
    const { context, prepared_action, journal } = await prepareOnce(executor, withdrawal());
    const input = { context, prepared_action, journal };
    expect(await moved().submit(input, call())).toMatchObject({
      next_state: 'FAILED',
      error_code: 'VENUE_ENTRY_CHANGED',
      error_message: expect.stringContaining('another@example.com'),
    });
    expect(applied()).toBe(0);
    expect(await executor.submit(input, call())).toMatchObject({ next_state: 'SUBMITTED' });
  });

  test('proves nothing about a send of before', async () => {
    desk.exchange.fail({ path: 'apply', kind: 'done_then_hangup' });
    const { context } = await runOnce(executor, withdrawal());
    const paid = books().withdrawals.splice(0);
    for (const phase of [recover, observe])
      await expect(phase(moved(), context)).rejects.toMatchObject({
        kind: 'not_yet',
        code: 'VENUE_ENTRY_CHANGED',
      });
    await expect(moved().cancel(context, call())).rejects.toMatchObject({
      code: 'VENUE_ENTRY_CHANGED',
    });
    books().withdrawals.push(...paid);
    expect(await recover(executor, context)).toMatchObject({ next_state: 'COMPLETED' });
  });

  test('is another one, too, where a sub-account has another master', async () => {
    const credentials_file = await desk.keyFile('withdrawing.json', desk.exchange.key(SUB));
    const of = (changes: object) =>
      createCexWithdrawalExecutor(desk.accounts(changes, { credentials_file }));
    const node = withdrawal({ venue: 'cex-sub' });
    const { prepared_action = {} } = await of({}).prepare(node, call());
    expect(prepared_action).toMatchObject({
      venue_entries: expect.stringMatching(/^cex-sub: binance sub-account .+ of /),
    });
    const context = { ...node, prior: { prepared_action } };
    const other = of({ account: 'another@example.com' });
    const input = { context, prepared_action, journal: NO_JOURNAL };
    expect(await other.submit(input, call())).toMatchObject({
      next_state: 'FAILED',
      error_code: 'VENUE_ENTRY_CHANGED',
    });
    await expect(recover(other, context)).rejects.toMatchObject({ code: 'VENUE_ENTRY_CHANGED' });
    expect(applied()).toBe(0);
  });

  test('is not compared with what an earlier release prepared', async () => {
    const prepared = await prepareOnce(executor, withdrawal());
    const { venue_entries, ...prepared_action } = prepared.prepared_action;
    expect(venue_entries).toEqual(expect.stringContaining('cex-main: binance account '));
    const context = { ...prepared.context, prior: { prepared_action } };
    const input = { context, prepared_action, journal: NO_JOURNAL };
    expect(await moved().submit(input, call())).toMatchObject({ next_state: 'SUBMITTED' });
    expect(await recover(moved(), context)).toMatchObject({ next_state: 'COMPLETED' });
  });
});

describe('the limit of the fee in the plan', () => {
  test('refuses a fee above it, before anything is sent', async () => {
    const above = withdrawal({ fee_limit: '0.249999' });
    const refused = { next_state: 'FAILED', error_code: 'FEE_ABOVE_LIMIT' };
    expect(await preflight(above)).toMatchObject(refused);
    expect(await executor.prepare(above, call())).toMatchObject(refused);
    expect(await preflight(withdrawal({ fee_limit: '0.25' }))).toBeNull();
    expect(applied()).toBe(0);
  });

  test('is part of what is prepared, and what was prepared without one stays valid', async () => {
    const of = (context: ExecutionContext) => executor.prepare(context, call());
    const { prepared_action: with_ = {} } = await of(withdrawal({ fee_limit: '0.50' }));
    expect(with_).toMatchObject({ fee_limit: '0.5' });
    const { prepared_action: without = {} } = await of(withdrawal());
    expect(without).not.toHaveProperty('fee_limit');
    const input = {
      context: withdrawal({ fee_limit: '0.4' }),
      prepared_action: with_,
      journal: NO_JOURNAL,
    };
    await expect(executor.submit(input, call())).rejects.toMatchObject({
      code: 'PREPARED_ACTION_MISMATCH',
    });
  });

  test('leaves to a person what cost more, with the figures', async () => {
    const context = withdrawal({ fee_limit: '0.25' });
    await send(executor, context);
    Object.assign(books().withdrawals[0]!, { net_amount: '100.25', fee: '0.4' });
    const { error_message, ...recovered } = await recover(executor, context);
    const { id } = books().withdrawals[0]!;
    expect(recovered).toEqual({
      next_state: 'UNKNOWN',
      error_code: 'WITHDRAWAL_FEE_ABOVE_LIMIT',
      external_ref: id,
    });
    // Binance keeps its fee from the amount, so no more can have left.
    for (const figure of ['0.4 USDC', '0.25', 'less arrived', '100.5', `record ${id}`])
      expect(error_message).toContain(figure);
    expect(error_message).not.toContain('more left');
    await expect(observe(executor, context)).rejects.toMatchObject({
      code: 'WITHDRAWAL_FEE_ABOVE_LIMIT',
    });
  });

  test.each(['1e3', '-1', '', 5, '0.1 USDC'])('is no limit as %j', async (fee_limit) => {
    expect(await preflight(withdrawal({ fee_limit }))).toMatchObject({
      next_state: 'FAILED',
      error_code: 'CONFIG_INVALID',
    });
  });
});

describe('a refusal of the exchange is proof that nothing was done', () => {
  test.each([
    [-4026, 'INSUFFICIENT_FUNDS'],
    [-4035, 'ADDRESS_NOT_WHITELISTED'],
    [-4007, 'ADDRESS_INVALID'],
    [-4019, 'WITHDRAWAL_SUSPENDED'],
    [-2015, 'EXCHANGE_KEY_REFUSED'],
    [-1021, 'CLOCK_DIFFERENCE'],
  ])('%i is FAILED %s', async (code, expected) => {
    desk.exchange.fail({ path: 'apply', kind: 'refuse', body: { code, msg: 'no' } });
    expect(await send(executor, withdrawal())).toMatchObject({
      next_state: 'FAILED',
      error_code: expected,
    });
    expect(books().withdrawals).toEqual([]);
  });

  test('a balance that was spent meanwhile', async () => {
    books().set(null, 'SPOT', 'USDC', '1');
    expect(await send(executor, withdrawal())).toMatchObject({
      next_state: 'FAILED',
      error_code: 'INSUFFICIENT_FUNDS',
    });
  });
});

describe('a lost answer', () => {
  test.each(['done_then_hangup', 'done_then_500', 'done_then_malformed'] as const)(
    '(%s) is found by recover, exactly once',
    async (kind) => {
      desk.exchange.fail({ path: 'apply', kind });
      const context = withdrawal();
      await expect(send(executor, context)).rejects.toMatchObject({ name: 'ExecutorFault' });
      expect(books().withdrawals).toHaveLength(1);
      const another = createCexWithdrawalExecutor(desk.accounts());
      expect(await recover(another, context)).toMatchObject({
        next_state: 'COMPLETED',
        external_ref: books().withdrawals[0]!.id,
      });
      expect(applied()).toBe(1);
      expect(books().get(null, 'SPOT', 'USDC')).toBe('899.5');
    },
  );

  test('of a request that never arrived leaves nothing: READY', async () => {
    desk.exchange.fail({ path: 'apply', kind: 'hangup' });
    const context = withdrawal();
    await expect(send(executor, context)).rejects.toMatchObject({ kind: 'unreachable' });
    expect(await recover(executor, context)).toEqual({ next_state: 'READY' });
  });

  test('is believed to have left nothing only after a time to settle, and never repeated by itself', () => {
    expect(executor.descriptor).toMatchObject({ same_key_safe: false, settle_seconds: 60 });
  });

  test('is a fault while the exchange cannot tell', async () => {
    for (const kind of ['error_500', 'malformed', 'hangup'] as const) {
      desk.exchange.fail({ path: 'history', kind });
      await expect(recover(executor, withdrawal())).rejects.toMatchObject({
        name: 'ExecutorFault',
      });
    }
  });
});

describe('recover', () => {
  test('finds what another attempt sent under its own key alone', async () => {
    const movement_id = newId();
    await send(executor, withdrawal({}, { movement_id }));
    const second = withdrawal(
      {},
      { movement_id, attempt: 2, idempotency_key: `${movement_id}:out:2` },
    );
    expect(await recover(executor, second)).toEqual({ next_state: 'READY' });
  });

  test('leaves two withdrawals under one id to a person', async () => {
    const context = withdrawal();
    await send(executor, context);
    books().withdrawals.push({ ...books().withdrawals[0]!, id: 'another' });
    expect(await recover(executor, context)).toMatchObject({
      next_state: 'UNKNOWN',
      error_code: 'WITHDRAWAL_DUPLICATED',
    });
    await expect(observe(executor, context)).rejects.toMatchObject({
      code: 'WITHDRAWAL_DUPLICATED',
    });
  });

  test('takes two withdrawals under one id for a landing once one of them is paid', async () => {
    const context = withdrawal();
    await send(executor, context);
    const unpaid = { status: 'pending', tx: null } as const;
    const [record] = books().withdrawals;
    books().withdrawals.push({ ...record!, id: 'another', ...unpaid });
    const one = await recover(executor, context);
    expect(one).toMatchObject({ error_code: 'WITHDRAWAL_DUPLICATED', external_ref: record!.id });
    expect(isLanding(one)).toBe(true);
    Object.assign(record!, unpaid);
    const none = await recover(executor, context);
    expect(none.error_code).toBe('WITHDRAWAL_DUPLICATED');
    for (const id of [record!.id, 'another'])
      expect(none.error_message).toContain(`record ${id} is pending: processing`);
    expect(none.external_ref).toBeUndefined();
    expect(isLanding(none)).toBe(false);
  });

  test('takes no record of another client id for its own, should the exchange tell one', async () => {
    const [own, other] = [withdrawal(), withdrawal()];
    await send(executor, other);
    const record = withdrawalView(books().withdrawals[0]!);
    desk.exchange.fail({ path: 'history', kind: 'status', status: 200, body: [record], times: 2 });
    expect(await recover(executor, own)).toEqual({ next_state: 'READY' });
    expect(await recover(executor, other)).toMatchObject({ next_state: 'COMPLETED' });
  });

  test('leaves a record of another address to a person', async () => {
    const context = withdrawal();
    await send(executor, context);
    books().withdrawals[0] = {
      ...books().withdrawals[0]!,
      address: '0x0000000000000000000000000000000000000001',
    };
    expect(await recover(executor, context)).toMatchObject({
      next_state: 'UNKNOWN',
      error_code: 'WITHDRAWAL_MISMATCH',
    });
  });

  test.each<[string, object, string | null]>([
    ['pending', { status: 'pending', tx: null }, 'is pending: processing'],
    ['failed, with a hash', { status: 'failed' }, 'is pending: failed, with a hash'],
    ['failed', { status: 'failed', tx: null }, 'is failed: failed'],
    ['paid', {}, null],
  ])(
    'takes a record of another address for a landing once it is paid (%s)',
    async (_state, changes, unpaid) => {
      const context = withdrawal();
      await send(executor, context);
      const record = books().withdrawals[0]!;
      Object.assign(record, { address: '0x0000000000000000000000000000000000000001', ...changes });
      const found = await recover(executor, context);
      expect(found).toMatchObject({ next_state: 'UNKNOWN', error_code: 'WITHDRAWAL_MISMATCH' });
      for (const part of [unpaid ?? '', `record ${record.id}`])
        expect(found.error_message).toContain(part);
      expect(found.external_ref).toBe(unpaid === null ? record.id : undefined);
      expect(isLanding(found)).toBe(unpaid === null);
    },
  );

  test('leaves a record to a person that has a hash and shows no address', async () => {
    const context = withdrawal();
    await send(executor, context);
    Object.assign(books().withdrawals[0]!, { address: '' });
    expect(await recover(executor, context)).toMatchObject({
      next_state: 'UNKNOWN',
      error_code: 'WITHDRAWAL_MISMATCH',
    });
  });

  test('searches from the movement on, in windows that the exchange takes', async () => {
    const movement_id = idAt(Date.now() - 20 * 86_400_000);
    const context = withdrawal({}, { movement_id });
    await send(executor, context);
    books().withdrawals[0] = { ...books().withdrawals[0]!, time: Date.now() - 13 * 86_400_000 };
    expect(await recover(executor, context)).toMatchObject({ next_state: 'COMPLETED' });
    expect(desk.exchange.requests.filter(({ path }) => path.endsWith('history'))).toHaveLength(4);
  });

  test.each([20, -20])(
    'finds what an exchange paid whose clock is %d hours from ours',
    async (hours) => {
      // The movement's id has the time of whoever made it, the record that of the exchange.
      const movement_id = idAt(Date.now() + hours * 3_600_000);
      const context = withdrawal({}, { movement_id });
      await send(executor, context);
      expect(books().withdrawals).toHaveLength(1);
      expect(await recover(executor, context)).toMatchObject({ next_state: 'COMPLETED' });
    },
  );

  test('cannot tell of what the exchange no longer keeps', async () => {
    const context = withdrawal({}, { movement_id: idAt(Date.now() - 120 * 86_400_000) });
    expect(await recover(executor, context)).toMatchObject({
      next_state: 'UNKNOWN',
      error_code: 'HISTORY_TOO_OLD',
    });
  });
});

test.each([
  [86, true],
  [88, false],
])('what is sent in a movement of %d days can still be found: %s', async (days, can) => {
  const context = withdrawal({}, { movement_id: idAt(Date.now() - days * 86_400_000) });
  const refused = { next_state: 'FAILED', error_code: 'HISTORY_TOO_OLD' };
  const checked = await preflight(context);
  if (can) expect(checked).toBeNull();
  else expect(checked).toMatchObject(refused);
  // Also when it has waited at its fence since.
  expect(await send(executor, context)).toMatchObject(can ? { next_state: 'SUBMITTED' } : refused);
  expect([applied(), books().withdrawals.length]).toEqual(can ? [1, 1] : [0, 0]);
});

describe('cancel and health', () => {
  test('cancel tells how it stands, since nothing can be called back', async () => {
    books().settles = false;
    const context = withdrawal();
    expect(await executor.cancel(context, call())).toEqual({ next_state: 'SUBMITTING' });
    await send(executor, context);
    expect(await executor.cancel(context, call())).toMatchObject({ next_state: 'OBSERVING' });
  });

  test('health names the account whose key may not withdraw', async () => {
    expect(await executor.health(call())).toEqual({ state: 'up' });
    books().permissions.withdraw = false;
    expect(await executor.health(call())).toEqual({
      state: 'down',
      detail: 'cex-main: the API key may not withdraw',
    });
  });
});
