/** What is particular to OKX, over HTTP against the local exchange. */
import type { JsonObject } from '../../../../domain/json.ts';
import { createCexTransfers } from '../../../../venues/cex/account-transfers.ts';
import { createCexInternalTransferExecutor } from '../../../../venues/cex/internal-transfer.ts';
import { createCexWithdrawalExecutor } from '../../../../venues/cex/withdrawal.ts';
import { started } from '../../../support/started.ts';
import {
  call,
  contextOf,
  freshBooks,
  idAt,
  observe,
  openDesk,
  withdrawal,
} from '../support/desk.ts';
import { withdrawalView } from '../support/formats/okx-views.ts';
import { okx } from '../support/formats/okx.ts';
import { madeDeposit } from '../support/made.ts';
import { prepareOnce, recovered, runOnce } from '../support/run.ts';
import { faultOf } from './okx-script.ts';

const NETWORK = okx.books.networks.open;
const [SUB = ''] = okx.books.subs;
const desk = started(() => openDesk(okx));

beforeEach(() => freshBooks(desk));

const books = () => desk.exchange.books;
const node = (config: Parameters<typeof withdrawal>[0] = {}) =>
  withdrawal({ network: NETWORK, ...config });

describe('a key', () => {
  test.each([
    ['another secret', { secret: 'another-secret' }, '50113'],
    ['another passphrase', { password: 'another' }, '50105'],
    ['another key', { api_key: 'another-key' }, '50111'],
  ])('with %s is refused, so the signature is checked', async (name, changes, code) => {
    const key = { ...desk.exchange.key(null), ...changes };
    const credentials_file = await desk.keyFile(`${name}.json`, key);
    const connection = await desk.accounts({ credentials_file }).get('cex-main').own();
    const fault = await faultOf(connection.ask('privateGetAccountConfig', {}, call()));
    expect(fault).toMatchObject({ kind: 'rejected', code: 'EXCHANGE_KEY_REFUSED' });
    expect(fault.message).toContain(code);
  });

  test('of a sub-account is fine, though it cannot withdraw, and nothing is paid with it', async () => {
    const credentials_file = await desk.keyFile('sub.json', desk.exchange.key(SUB));
    books().set(SUB, 'SPOT', 'USDC', '500');
    const executor = createCexWithdrawalExecutor(desk.accounts({}, { credentials_file }));
    expect(await executor.health(call())).toEqual({ state: 'up' });
    const { reported } = await runOnce(executor, node({ venue: 'cex-sub' }));
    expect(reported).toMatchObject({ next_state: 'FAILED', error_code: 'ACCOUNT_NOT_ALLOWED' });
    expect(books().get(SUB, 'SPOT', 'USDC')).toBe('500');
  });
});

test('the sandbox is refused when the service starts', () => {
  expect(() => desk.bindings({ sandbox: true }, { sandbox: true })).toThrow('demo trading');
});

describe('a withdrawal', () => {
  test('that is cancelled in time ends as failed, and the money is back', async () => {
    const executor = createCexWithdrawalExecutor(desk.accounts());
    books().settles = false;
    const { context } = await runOnce(executor, node());
    expect(books().get(null, 'SPOT', 'USDC')).toBe('899.5');
    expect(await executor.cancel(context, call())).toMatchObject({ next_state: 'OBSERVING' });
    expect(await observe(executor, context)).toMatchObject({
      next_state: 'FAILED',
      error_code: 'WITHDRAWAL_FAILED',
    });
    expect(books().get(null, 'SPOT', 'USDC')).toBe('1000');
  });

  test('that is being broadcast is not cancelled', async () => {
    const executor = createCexWithdrawalExecutor(desk.accounts());
    books().settles = false;
    const { context } = await runOnce(executor, node());
    books().withdrawals[0]!.exchange_status = '1';
    expect(await executor.cancel(context, call())).toMatchObject({ next_state: 'OBSERVING' });
    const paths = desk.exchange.requests.map(({ path }) => path);
    expect(paths).not.toContain('/api/v5/asset/cancel-withdrawal');
    expect(books().get(null, 'SPOT', 'USDC')).toBe('899.5');
  });

  test('with a tag is paid to address and tag, and not without a tag that is needed', async () => {
    const executor = createCexWithdrawalExecutor(desk.accounts());
    books().assets.get('USDC')![0]!.needs_tag = true;
    books().book.push({ ...books().book[0]!, tag: '77' });
    expect(await executor.preflight(node(), call())).toMatchObject({ error_code: 'TAG_INVALID' });
    expect(await executor.prepare(node(), call())).toMatchObject({ error_code: 'TAG_INVALID' });
    expect(await executor.preflight(node({ tag: '7:7' }), call())).toMatchObject({
      error_code: 'TAG_INVALID',
    });
    const { context } = await runOnce(executor, node({ tag: '77' }));
    expect(books().withdrawals).toMatchObject([{ tag: '77', net_amount: '100.25' }]);
    expect(await observe(executor, context)).toMatchObject({ next_state: 'COMPLETED' });
  });

  /** A withdrawal of 100.5 with a quoted fee of 0.25, whose fee is another one at the send. */
  async function paidAt(fee: string, config: JsonObject = {}) {
    const executor = createCexWithdrawalExecutor(desk.accounts());
    const { context, prepared_action, journal } = await prepareOnce(executor, node(config));
    expect(prepared_action).toMatchObject({ quote: { fee: '0.25', step: '0.000001' } });
    books().assets.get('USDC')![0]!.fee = fee;
    await executor.submit({ context, prepared_action, journal }, call());
    expect(books().withdrawals).toMatchObject([{ net_amount: '100.25', fee }]);
    return { executor, context };
  }

  test('pays what its quote says after the fee has fallen, and less leaves', async () => {
    const { executor, context } = await paidAt('0.2');
    expect(await observe(executor, context)).toMatchObject({
      next_state: 'COMPLETED',
      output: {
        requested_amount: '100.5',
        submitted_amount: '100.45',
        fee_amount: '0.2',
        received_amount: '100.25',
      },
    });
    expect(books().get(null, 'SPOT', 'USDC')).toBe('899.55');
  });

  test.each<[string, JsonObject, string]>([
    ['without a limit', {}, 'not set'],
    ['within its limit', { fee_limit: '0.5' }, '0.5'],
  ])('leaves a fee to a person that has risen since its quote, %s', async (_, config, limit) => {
    const { executor, context } = await paidAt('0.5', config);
    const { error_message, ...rest } = await recovered(executor, context);
    expect(rest).toEqual({
      next_state: 'UNKNOWN',
      error_code: 'WITHDRAWAL_FEE_ABOVE_LIMIT',
      external_ref: books().withdrawals[0]!.id,
    });
    for (const part of ['a fee of 0.5 USDC', `is ${limit};`, '0.25 USDC more left the account'])
      expect(error_message).toContain(part);
    await expect(observe(executor, context)).rejects.toMatchObject({
      code: 'WITHDRAWAL_FEE_ABOVE_LIMIT',
    });
  });

  test('is left to a person when the record shows another amount than was sent', async () => {
    const { executor, context } = await paidAt('0.25');
    books().withdrawals[0] = { ...books().withdrawals[0]!, net_amount: '99' };
    expect(await recovered(executor, context)).toMatchObject({
      next_state: 'UNKNOWN',
      error_code: 'WITHDRAWAL_MISMATCH',
      error_message: expect.stringContaining('shows 99 USDC as sent, not 100.25'),
    });
  });

  test('within OKX, which takes no fee, arrives as it was sent', async () => {
    const { executor, context } = await paidAt('0.25');
    books().withdrawals[0] = { ...books().withdrawals[0]!, within: true, fee: '0' };
    expect(await observe(executor, context)).toMatchObject({
      next_state: 'COMPLETED',
      output: { submitted_amount: '100.25', fee_amount: '0', received_amount: '100.25' },
    });
  });
});

describe('a fee in another currency', () => {
  /** A withdrawal with this config, whose record has its fee in ETH. */
  async function paidWith(config: Parameters<typeof withdrawal>[0]) {
    const executor = createCexWithdrawalExecutor(desk.accounts());
    const { context } = await runOnce(executor, node(config));
    const row = { ...withdrawalView(books().withdrawals[0]!), fee: '0.001', feeCcy: 'ETH' };
    const body = { code: '0', msg: '', data: [row] };
    desk.exchange.fail({ path: okx.paths.withdrawals, kind: 'status', status: 200, body });
    return { executor, context };
  }

  test('is left to a person where the plan limits the fee', async () => {
    const { executor, context } = await paidWith({ fee_limit: '0.25' });
    expect(await recovered(executor, context)).toMatchObject({
      next_state: 'UNKNOWN',
      error_code: 'WITHDRAWAL_MISMATCH',
      error_message: expect.stringContaining('0.001 ETH'),
      external_ref: books().withdrawals[0]!.id,
    });
  });

  test('is reported in that currency', async () => {
    const { executor, context } = await paidWith({});
    expect(await observe(executor, context)).toMatchObject({
      next_state: 'COMPLETED',
      output: {
        submitted_amount: '100.25',
        fee_amount: '0.001',
        fee_asset: 'ETH',
        received_amount: '100.25',
      },
    });
  });
});

test('a deposit of a withdrawal within OKX is found by the id of that withdrawal', async () => {
  const { dialect, own } = desk.accounts().get('cex-main');
  books().deposits.push(madeDeposit({ tx: '67485' }), madeDeposit({ tx: '67486', id: '2' }));
  const period = { from: Date.now() - 1_000, to: Date.now() + 1_000 };
  const of = { transaction: '67485', asset: 'USDC', period };
  expect(await dialect.findDeposits(await own(), of, call())).toMatchObject([
    { id: '700000', transaction: '67485', amount: '100.25' },
  ]);
});

test('a transfer within a sub-account is refused, and moves nothing', async () => {
  const [provider] = createCexTransfers(desk.accounts());
  books().set(SUB, 'SPOT', 'USDC', '5');
  const end = (account_type: 'SPOT' | 'USDT_FUTURE') => ({ venue_key: 'cex-sub', account_type });
  const order = {
    ...{ reference: '01890a5d-ac96-774b-bcce-b302099a8057', asset: 'USDC', amount: '5' },
    ...{ source: end('SPOT'), destination: end('USDT_FUTURE') },
    created_at: new Date().toISOString(),
  };
  expect(await provider!.submit(order, call())).toMatchObject({
    status: 'failed',
    error_code: 'TOPOLOGY_NOT_SUPPORTED',
  });
  expect(await provider!.find(order, call())).toBeNull();
  expect(books().transfers).toEqual([]);
});

describe('a node that transfers, of which OKX shows the last two weeks', () => {
  const HOUR = 3_600_000;
  const transferAfter = (hours: number) =>
    contextOf(
      'cex_internal_transfer',
      { venue: 'cex-main', destination_venue: 'cex-sub' },
      { movement_id: idAt(Date.now() - hours * HOUR) },
    );

  test('is sent while it can be found for another day', async () => {
    const executor = createCexInternalTransferExecutor(desk.accounts());
    const transfer = transferAfter(11 * 24 - 1);
    expect(await executor.preflight(transfer, call())).toBeNull();
    const { reported, context } = await runOnce(executor, transfer);
    expect(reported).toMatchObject({ next_state: 'SUBMITTED' });
    expect(await observe(executor, context)).toMatchObject({ next_state: 'COMPLETED' });
    expect(books().get(SUB, 'SPOT', 'USDC')).toBe('100.5');
  });

  test('is not sent later, also if it has waited at its fence until then', async () => {
    const executor = createCexInternalTransferExecutor(desk.accounts());
    const transfer = transferAfter(11 * 24 + 1);
    const refused = { next_state: 'FAILED', error_code: 'HISTORY_TOO_OLD' };
    expect(await executor.preflight(transfer, call())).toMatchObject(refused);
    expect((await runOnce(executor, transfer)).reported).toMatchObject(refused);
    expect(books().transfers).toEqual([]);
    const paths = desk.exchange.requests.map(({ path }) => path);
    expect(paths).not.toContain(okx.paths.transfer);
  });
});
