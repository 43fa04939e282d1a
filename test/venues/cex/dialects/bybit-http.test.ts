/** What is particular to Bybit, over HTTP against the local exchange. */
import type { RequestDesk } from '../../../../domain/request-desk.ts';
import { createLocalRequestDesk } from '../../../../platform/request-desk.ts';
import { createCexAccounts } from '../../../../venues/cex/accounts.ts';
import { createCexTransfers } from '../../../../venues/cex/account-transfers.ts';
import type { Parameters as Fields } from '../../../../venues/cex/connection.ts';
import { createCexInternalTransferExecutor } from '../../../../venues/cex/internal-transfer.ts';
import { createCexWithdrawalExecutor } from '../../../../venues/cex/withdrawal.ts';
import { started } from '../../../support/started.ts';
import {
  ADDRESS,
  call,
  contextOf,
  freshBooks,
  NO_JOURNAL,
  observe,
  openDesk,
  withdrawal,
} from '../support/desk.ts';
import { bybit } from '../support/formats/bybit.ts';
import { madeDeposit, madeWithdrawal } from '../support/made.ts';
import { recovered, runOnce } from '../support/run.ts';
import { faultOf } from './bybit-script.ts';

const NETWORK = bybit.books.networks.open;
const [SUB = ''] = bybit.books.subs;
const MASTER = Number(bybit.books.master);
const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;
const UUID = '01890a5d-ac96-774b-bcce-b302099a8057';
const desk = started(() => openDesk(bybit));

beforeEach(() => freshBooks(desk));

const books = () => desk.exchange.books;
const node = (config: Parameters<typeof withdrawal>[0] = {}) =>
  withdrawal({ network: NETWORK, ...config });
const main = () => desk.accounts().get('cex-main');
const request = async (method: string, fields: Fields) =>
  (await main().own()).ask(method, fields, call());

describe('a key', () => {
  test.each([
    ['another secret', { secret: 'another-secret' }, '10004'],
    ['another key', { api_key: 'another-key' }, '10003'],
  ])('with %s is refused, so the signature is checked', async (name, changes, code) => {
    const key = { ...desk.exchange.key(null), ...changes };
    const credentials_file = await desk.keyFile(`${name}.json`, key);
    const connection = await desk.accounts({ credentials_file }).get('cex-main').own();
    const fault = await faultOf(connection.ask('privateGetV5UserQueryApi', {}, call()));
    expect(fault).toMatchObject({ kind: 'rejected', code: 'EXCHANGE_KEY_REFUSED' });
    expect(fault.message).toContain(code);
  });

  test('of a sub-account is fine, though it cannot withdraw, and nothing is paid with it', async () => {
    const credentials_file = await desk.keyFile('sub.json', desk.exchange.key(SUB));
    books().set(SUB, 'SPOT', 'USDC', '500');
    const executor = createCexWithdrawalExecutor(desk.accounts({}, { credentials_file }));
    expect(await executor.health(call())).toEqual({ state: 'up' });
    const { reported } = await runOnce(executor, node({ venue: 'cex-sub' }));
    expect(reported).toMatchObject({ next_state: 'FAILED', error_code: 'EXCHANGE_KEY_REFUSED' });
    expect(books().get(SUB, 'SPOT', 'USDC')).toBe('500');
  });

  test('of another account than the bound one is shown by health', async () => {
    const credentials_file = await desk.keyFile('other.json', desk.exchange.key(SUB));
    const executor = createCexWithdrawalExecutor(desk.accounts({ credentials_file }));
    expect(await executor.health(call())).toMatchObject({ state: 'down' });
  });

  test('of another account than the bound one moves nothing', async () => {
    // The key is fine in all else: it would pay, and from another account than was approved.
    const accounts = desk.accounts({ account: '111' });
    const refused = { error_code: 'EXCHANGE_KEY_REFUSED', error_message: expect.any(String) };
    const withdraws = createCexWithdrawalExecutor(accounts);
    const failed = { next_state: 'FAILED', ...refused };
    expect(await withdraws.preflight(node(), call())).toMatchObject(failed);
    const moves = createCexInternalTransferExecutor(accounts);
    const ends = { venue: 'cex-main', destination_venue: 'cex-sub' };
    const moving = contextOf('cex_internal_transfer', ends, {
      completion_assurance: 'destination_credited',
    });
    expect(await moves.preflight(moving, call())).toMatchObject(failed);
    const { prepared_action = {} } = await moves.prepare(moving, call());
    const input = { context: moving, prepared_action, journal: NO_JOURNAL };
    expect(await moves.submit(input, call())).toMatchObject(failed);
    const [provider] = createCexTransfers(accounts);
    const end = (venue_key: string) => ({ venue_key, account_type: 'SPOT' as const });
    const order = {
      ...{ reference: UUID, asset: 'USDC', amount: '5', created_at: new Date().toISOString() },
      ...{ source: end('cex-main'), destination: end('cex-sub') },
    };
    expect(await provider!.submit(order, call())).toMatchObject({ status: 'failed', ...refused });
    expect(desk.exchange.requests.filter(({ method }) => method === 'POST')).toEqual([]);
  });

  test.each([
    [-800, 'up'],
    [4_000, 'up'],
    [-3_000, 'down'],
    [5_100, 'down'],
  ])('works in its time alone: the exchange is %s ms ahead, health is %s', async (skew, state) => {
    books().skew = skew;
    const executor = createCexWithdrawalExecutor(desk.accounts());
    expect(await executor.health(call())).toMatchObject({ state });
  });
});

describe('a withdrawal', () => {
  test('carries an id of ours, which no record shows', async () => {
    const executor = createCexWithdrawalExecutor(desk.accounts());
    await runOnce(executor, node());
    const [paid] = books().withdrawals;
    expect(paid?.client_id).toMatch(/^[0-9a-f]{32}$/);
    const listed = await request('privateGetV5AssetWithdrawQueryRecord', { withdrawType: 2 });
    expect(listed).toMatchObject({ result: { rows: [{ withdrawId: paid?.id }] } });
    expect(JSON.stringify(listed)).not.toContain(paid?.client_id);
  });

  test('takes no more than its amount when the fee rises after the quote', async () => {
    const executor = createCexWithdrawalExecutor(desk.accounts());
    const context = node();
    const { prepared_action = {} } = await executor.prepare(context, call());
    books().assets.get('USDC')![0]!.fee = '0.5';
    await executor.submit({ context, prepared_action, journal: NO_JOURNAL }, call());
    expect(books().get(null, 'SPOT', 'USDC')).toBe('899.5');
    const [paid] = books().withdrawals;
    const done = { ...context, prior: { prepared_action, external_ref: paid!.id } };
    expect(await observe(executor, done)).toMatchObject({
      next_state: 'COMPLETED',
      output: { submitted_amount: '100.5', fee_amount: '0.5', received_amount: '100' },
    });
  });

  test('whose fee was above its limit took no more: less arrived, by either reading', async () => {
    const executor = createCexWithdrawalExecutor(desk.accounts());
    const { context } = await runOnce(executor, node({ fee_limit: '0.25' }));
    for (const net_amount of ['100.1', '100.5']) {
      Object.assign(books().withdrawals[0]!, { net_amount, fee: '0.4' });
      const { error_code, error_message } = await recovered(executor, context);
      expect(error_code).toBe('WITHDRAWAL_FEE_ABOVE_LIMIT');
      expect(error_message).toContain('less arrived');
      expect(error_message).not.toContain('more left');
    }
  });

  test('is as ordered by either reading of its record, and by no other amount', async () => {
    const executor = createCexWithdrawalExecutor(desk.accounts());
    const { context } = await runOnce(executor, node());
    Object.assign(books().withdrawals[0]!, { net_amount: '100.5' });
    const done = await observe(executor, context);
    expect(done).toMatchObject({
      next_state: 'COMPLETED',
      output: { submitted_amount: '100.5', reported_amount: '100.5' },
    });
    // What arrived is not certain.
    expect(done.output).not.toHaveProperty('received_amount');
    Object.assign(books().withdrawals[0]!, { net_amount: '100.75' });
    expect(await recovered(executor, context)).toMatchObject({
      next_state: 'UNKNOWN',
      error_code: 'WITHDRAWAL_MISMATCH',
    });
  });

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

  test('that is on its way is not cancelled, and its confirmation on the chain is no end', async () => {
    const executor = createCexWithdrawalExecutor(desk.accounts());
    books().settles = false;
    const { context } = await runOnce(executor, node());
    books().withdrawals[0]!.exchange_status = 'BlockchainConfirmed';
    expect(await executor.cancel(context, call())).toMatchObject({ next_state: 'OBSERVING' });
    expect(await observe(executor, context)).toMatchObject({ next_state: 'OBSERVING' });
    expect(books().get(null, 'SPOT', 'USDC')).toBe('899.5');
  });

  test('does not use a deposit that Bybit still locks', async () => {
    const executor = createCexWithdrawalExecutor(desk.accounts());
    books().deposits.push(madeDeposit({ amount: '950', status: 'credited', network: NETWORK }));
    const missing = { next_state: 'FAILED', error_code: 'INSUFFICIENT_FUNDS' };
    expect(await executor.preflight(node(), call())).toMatchObject(missing);
    // Bybit refuses it as well, should the deposit be locked after the look.
    expect((await runOnce(executor, node())).reported).toMatchObject(missing);
    expect(books().withdrawals).toEqual([]);
    books().deposits[0]!.status = 'completed';
    expect(await executor.preflight(node(), call())).toBeNull();
  });

  test('with a tag is paid to the entry with this tag', async () => {
    const executor = createCexWithdrawalExecutor(desk.accounts());
    books().book.push({ ...books().book[0]!, tag: '77' });
    const { context } = await runOnce(executor, node({ tag: '77' }));
    expect(books().withdrawals).toMatchObject([{ tag: '77', net_amount: '100.25' }]);
    expect(await observe(executor, context)).toMatchObject({ next_state: 'COMPLETED' });
  });

  test('is sent ten seconds after another one of its coin and chain, or not at all', async () => {
    let now = Date.now();
    const shared = createLocalRequestDesk(() => now);
    const spacings: (readonly [key: string, seconds: number])[] = [];
    // The budget of the key, whose capacity is larger, waits for nothing here.
    const requests: RequestDesk = {
      ...shared,
      take(key, cost, budget, withinMs) {
        if (budget.capacity > 1) return Promise.resolve(0);
        spacings.push([key, cost / budget.units_per_second]);
        return shared.take(key, cost, budget, withinMs);
      },
    };
    // Each has a connection of its own, as another process has.
    const pay = async (asset = 'USDC') => {
      const accounts = createCexAccounts(desk.bindings({ timeout_seconds: 2 }), requests);
      const context = withdrawal({ network: NETWORK }, { asset, amount: '10.5' });
      return (await runOnce(createCexWithdrawalExecutor(accounts), context)).reported;
    };
    const sent = { next_state: 'SUBMITTED' };
    books().set(null, 'SPOT', 'TINY', '1000');
    books().book.push({ ...books().book[0]!, label: 'tiny', asset: 'TINY' });
    expect(await pay()).toMatchObject(sent);
    expect(await pay('TINY')).toMatchObject(sent);
    const [usdc, tiny] = spacings;
    expect(usdc?.[0]).not.toBe(tiny?.[0]);
    now += 9_000;
    expect(await pay()).toMatchObject({ next_state: 'FAILED', error_code: 'CEX_TIMEOUT' });
    expect(books().withdrawals).toHaveLength(2);
    now += 5_000;
    expect(await pay()).toMatchObject(sent);
    expect(books().withdrawals).toHaveLength(3);
    for (const [, seconds] of spacings) expect(seconds).toBeGreaterThanOrEqual(10);
  });

  test('has the time after its wait, since Bybit refuses an old one', async () => {
    const WAIT_MS = 300;
    const requests: RequestDesk = {
      ...createLocalRequestDesk(),
      take: (_key, _cost, { capacity }) => Promise.resolve(capacity > 1 ? 0 : WAIT_MS),
    };
    const executor = createCexWithdrawalExecutor(createCexAccounts(desk.bindings(), requests));
    const context = node();
    const { prepared_action = {} } = await executor.prepare(context, call());
    const before = Date.now();
    await executor.submit({ context, prepared_action, journal: NO_JOURNAL }, call());
    const sent = desk.exchange.requests.find(({ path }) => path === bybit.paths.withdraw);
    expect(Number(sent?.parameters.get('timestamp'))).toBeGreaterThanOrEqual(before + WAIT_MS - 5);
  });

  test('within Bybit, as the website makes them, is in the records', async () => {
    const { dialect, own } = main();
    const made = { id: '13310', within: true, tx: '77c37e5c-d9fa-41e5-bd13-c9b59d95', fee: '0' };
    books().withdrawals.push(madeWithdrawal(made));
    const period = { from: Date.now() - MINUTE, to: Date.now() + MINUTE };
    expect(await dialect.records(await own(), { period, subs: [] }, call())).toMatchObject([
      { kind: 'withdrawal', id: '13310', network: null, amount: '99.75', fee: '0' },
    ]);
  });
});

test('a deposit within Bybit is found, in a list of its own', async () => {
  const { dialect, own } = main();
  const transaction = '77c37e5c-d9fa-41e5-bd13-c9b59d95';
  books().deposits.push(madeDeposit({ tx: transaction }), madeDeposit({ id: '2' }));
  const period = { from: Date.now() - MINUTE, to: Date.now() + MINUTE };
  const of = { transaction, asset: 'USDC', period };
  expect(await dialect.findDeposits(await own(), of, call())).toMatchObject([
    { id: '700000', status: 'completed', transaction, amount: '100.25' },
  ]);
});

describe('a transfer', () => {
  const end = (venue_key: string, account_type: 'SPOT' | 'USDT_FUTURE' = 'SPOT') => ({
    venue_key,
    account_type,
  });
  const ordered = (source: ReturnType<typeof end>, destination: ReturnType<typeof end>) => ({
    ...{ reference: UUID, asset: 'USDC', amount: '5', source, destination },
    created_at: new Date().toISOString(),
  });

  test('is made once: an id that exists is no refusal, and its record is found', async () => {
    const [provider] = createCexTransfers(desk.accounts());
    const order = ordered(end('cex-main'), end('cex-sub', 'USDT_FUTURE'));
    const made = { provider_transfer_id: UUID };
    expect(await provider!.submit(order, call())).toMatchObject({ status: 'pending', ...made });
    const fault = await faultOf(provider!.submit(order, call()));
    expect(fault.kind).not.toBe('rejected');
    expect(fault.message).toContain('131214');
    expect(await provider!.find(order, call())).toMatchObject({ status: 'completed', ...made });
    expect(books().get(null, 'SPOT', 'USDC')).toBe('995');
    expect(books().get(SUB, 'USDT_FUTURE', 'USDC')).toBe('5');
  });

  test.each([
    ['PENDING', 'pending'],
    ['FAILED', 'failed'],
  ])('that is %s is %s, whatever its answer said', async (exchange_status, status) => {
    const [provider] = createCexTransfers(desk.accounts());
    const order = ordered(end('cex-main'), end('cex-sub'));
    await provider!.submit(order, call());
    books().transfers[0]!.exchange_status = exchange_status;
    expect(await provider!.find(order, call())).toMatchObject({ status });
  });

  test('within a sub-account is refused, and moves nothing', async () => {
    const [provider] = createCexTransfers(desk.accounts());
    books().set(SUB, 'SPOT', 'USDC', '5');
    const order = ordered(end('cex-sub'), end('cex-sub', 'USDT_FUTURE'));
    expect(await provider!.submit(order, call())).toMatchObject({
      status: 'failed',
      error_code: 'TOPOLOGY_NOT_SUPPORTED',
    });
    expect(await provider!.find(order, call())).toBeNull();
    expect(books().transfers).toEqual([]);
  });

  test("between the master's pools is made and found, in a list of its own", async () => {
    const { dialect, own } = main();
    const of = (account_type: 'SPOT' | 'USDT_FUTURE') => ({ sub_account: null, account_type });
    const ends = { source: of('SPOT'), destination: of('USDT_FUTURE') };
    const order = { reference: UUID, asset: 'USDC', amount: '5', ...ends };
    const connection = await own();
    expect(await dialect.transfer(connection, order, call())).toBe(UUID);
    expect(books().get(null, 'USDT_FUTURE', 'USDC')).toBe('5');
    const period = { from: Date.now() - MINUTE, to: Date.now() + MINUTE };
    expect(await dialect.findTransfers(connection, order, period, call())).toMatchObject([
      { id: UUID, status: 'completed', amount: '5' },
    ]);
  });
});

describe('the local exchange', () => {
  const CREATE = 'privatePostV5AssetWithdrawCreate';
  const RECORDS = 'privateGetV5AssetWithdrawQueryRecord';
  const MOVE = 'privatePostV5AssetTransferUniversalTransfer';
  const order = (changes: Fields = {}): Fields => ({
    ...{ coin: 'USDC', chain: NETWORK, address: ADDRESS, amount: '100.5' },
    ...{ timestamp: Date.now(), forceChain: 1, accountType: 'FUND', feeType: 1 },
    ...changes,
  });
  const move = (changes: Fields = {}): Fields => ({
    ...{ transferId: UUID, coin: 'USDC', amount: '5' },
    ...{ fromMemberId: MASTER, toMemberId: Number(SUB) },
    ...{ fromAccountType: 'FUND', toAccountType: 'FUND' },
    ...changes,
  });
  const last = (days: number): Fields => ({
    startTime: Date.now() - days * DAY,
    endTime: Date.now() + MINUTE,
  });

  test.each([
    [1, '899.5', '100.25'],
    [0, '899.25', '100.5'],
  ])('pays by feeType %s', async (feeType, left, net_amount) => {
    const answer = await request(CREATE, order({ feeType }));
    expect(answer).toMatchObject({ retCode: 0, result: { id: books().withdrawals[0]!.id } });
    expect(books().withdrawals).toMatchObject([{ net_amount, fee: '0.25' }]);
    expect(books().get(null, 'SPOT', 'USDC')).toBe(left);
  });

  test('moves what is documented, and lists it with a prefix and the uids as texts', async () => {
    await request(MOVE, move());
    const method = 'privateGetV5AssetTransferQueryUniversalTransferList';
    expect(await request(method, { transferId: UUID })).toMatchObject({
      result: {
        list: [
          {
            transferId: `universalTransfer_${UUID}_${String(MASTER)}`,
            fromMemberId: String(MASTER),
            toMemberId: SUB,
            status: 'SUCCESS',
          },
        ],
      },
    });
  });

  test.each<[string, string, () => Fields, string]>([
    ['a field of no page', RECORDS, () => ({ txid: '0x1' }), '131002'],
    ['a window of 30 days', RECORDS, () => last(30), '131002'],
    [
      'a window of 7 days',
      'privateGetV5AssetTransferQueryInterTransferList',
      () => last(7),
      '131203',
    ],
    ['51 rows', RECORDS, () => ({ limit: 51 }), '131002'],
    ['a cursor of its own', RECORDS, () => ({ cursor: 'eyJtaW5JRCI6MX0=' }), '131002'],
    [
      'no coins of UNIFIED',
      'privateGetV5AssetTransferQueryAccountCoinsBalance',
      () => ({ accountType: 'UNIFIED' }),
      '131203',
    ],
    ['other letter case', CREATE, () => order({ address: ADDRESS.toLowerCase() }), '131002'],
    ['a chain in lower case', CREATE, () => order({ chain: 'eth' }), '131002'],
    ['a tag that is not listed', CREATE, () => order({ tag: '77' }), '131002'],
    ['no wallet', CREATE, () => order({ accountType: undefined }), '131002'],
    ['an amount that is a number', CREATE, () => order({ amount: 100.5 }), '131002'],
    ['a long requestId', CREATE, () => order({ requestId: 'a'.repeat(33) }), '131002'],
    ['uids that are texts', MOVE, () => move({ toMemberId: SUB }), '131203'],
    ['an unknown uid', MOVE, () => move({ toMemberId: 1 }), '131202'],
    ['the same uid', MOVE, () => move({ toMemberId: MASTER }), '131203'],
    ['an id that is no UUID', MOVE, () => move({ transferId: 'a'.repeat(32) }), '131203'],
    ['nothing to move', MOVE, () => move({ amount: '0' }), '131215'],
  ])('refuses %s', async (_what, method, fields, code) => {
    const fault = await faultOf(request(method, fields()));
    expect(fault.kind).toBe('rejected');
    expect(fault.message).toContain(`: ${code} `);
    expect([books().withdrawals, books().transfers]).toEqual([[], []]);
  });
});
