/** What is particular to OKX, over HTTP against the local exchange. */
import { createCexTransfers } from '../../../../venues/cex/account-transfers.ts';
import { createCexWithdrawalExecutor } from '../../../../venues/cex/withdrawal.ts';
import { started } from '../../../support/started.ts';
import { call, freshBooks, NO_JOURNAL, observe, openDesk, withdrawal } from '../support/desk.ts';
import { withdrawalView } from '../support/formats/okx-views.ts';
import { okx } from '../support/formats/okx.ts';
import { madeDeposit } from '../support/made.ts';
import { recovered, runOnce } from '../support/run.ts';
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

  test('pays what its quote says after the fee has risen, and reports what was charged', async () => {
    const executor = createCexWithdrawalExecutor(desk.accounts());
    const context = node();
    const { prepared_action = {} } = await executor.prepare(context, call());
    expect(prepared_action).toMatchObject({ quote: { fee: '0.25', step: '0.000001' } });
    books().assets.get('USDC')![0]!.fee = '0.5';
    await executor.submit({ context, prepared_action, journal: NO_JOURNAL }, call());
    const observed = await observe(executor, context);
    expect(observed).toMatchObject({
      next_state: 'COMPLETED',
      output: { submitted_amount: '100.5', reported_amount: '100.25', fee_amount: '0.5' },
    });
    // 100.75 left the account: the figures do not add up to what was sent.
    expect(observed.output).not.toHaveProperty('received_amount');
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
      output: { fee_amount: '0.001', fee_asset: 'ETH', reported_amount: '100.25' },
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
