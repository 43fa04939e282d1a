import { randomUUID } from 'node:crypto';
import type { VenueRecord } from '../../../domain/reconcile/records.ts';
import { createCexTransfers } from '../../../venues/cex/account-transfers.ts';
import type { Period } from '../../../venues/cex/dialect.ts';
import { createCexInternalTransferExecutor } from '../../../venues/cex/internal-transfer.ts';
import { expectedClientId, readVenueRecords } from '../../../venues/cex/records.ts';
import { createCexWithdrawalExecutor } from '../../../venues/cex/withdrawal.ts';
import type { Account, Deposit, Transfer, Withdrawal } from './support/books.ts';
import {
  ADDRESS,
  call,
  contextOf,
  freshBooks,
  openDesk,
  send,
  SUB,
  withdrawal,
} from './support/desk.ts';
import { withdrawalView } from './support/formats/binance.ts';
import { madeDeposit, madeTransfer, madeWithdrawal } from './support/made.ts';
import { started } from '../../support/started.ts';

const SECOND = 1_000;
const DAY = 86_400 * SECOND;
/** A whole second: the exchange shows the times of withdrawals without fractions. */
const NOW = Math.floor(Date.now() / SECOND) * SECOND;
const AT = NOW - 3_600 * SECOND;
const AT_TEXT = new Date(AT).toISOString();
const HASH = `0x${'ab'.repeat(32)}`;
const UNBOUND = 'sub-b@example.com';
const HISTORIES = ['withdraw/history', 'deposit/hisrec', 'universalTransfer'] as const;

const desk = started(() => openDesk());

beforeEach(() => freshBooks(desk));

const books = () => desk.exchange.books;

function withdrew(id: string, changes: Partial<Withdrawal> = {}): void {
  books().withdrawals.push(
    madeWithdrawal({ id, address: ADDRESS, time: AT, tx: HASH, ...changes }),
  );
}

function deposited(tx: string, changes: Partial<Deposit> = {}): void {
  const id = String(700_000 + books().deposits.length);
  books().deposits.push(madeDeposit({ id, amount: '5.50000000', tx, time: AT, ...changes }));
}

function moved(
  id: number,
  [from, to]: readonly [from: Account, to: Account],
  changes: Partial<Transfer> = {},
): void {
  const ends = {
    source: { account: from, pool: 'SPOT' },
    destination: { account: to, pool: 'SPOT' },
  } as const;
  books().transfers.push(madeTransfer({ id: String(id), ...ends, time: AT, ...changes }));
}

const read = (
  period: Period = { from: NOW - DAY, to: NOW + DAY },
  venueKey = 'cex-main',
  accounts = desk.sharedAccounts(),
): Promise<readonly VenueRecord[]> => readVenueRecords(accounts, venueKey, period, call());

const ids = (records: readonly VenueRecord[]): readonly string[] =>
  records.map(({ id }) => id).sort();

/** The values of one parameter of the requests to a path, in their order. */
const sent = (path: string, name: string): readonly (string | null)[] =>
  desk.exchange.requests
    .filter((each) => each.path.endsWith(path))
    .map(({ parameters }) => parameters.get(name));

describe('the records of a master', () => {
  test('are its withdrawals, deposits and transfers, with all that the exchange shows', async () => {
    withdrew('w-1', { client_id: 'client-1', tag: '77' });
    deposited(HASH);
    moved(31, [null, SUB], {
      client_id: 'client-2',
      destination: { account: SUB, pool: 'USDT_FUTURE' },
    });
    expect(await read()).toEqual([
      {
        kind: 'withdrawal',
        id: 'w-1',
        client_id: 'client-1',
        at: AT_TEXT,
        status: 'completed',
        asset: 'USDC',
        amount: '100',
        fee: '0.25',
        network: 'ETH',
        address: ADDRESS,
        tag: '77',
        transaction: HASH,
        source: null,
        destination: null,
      },
      {
        kind: 'deposit',
        id: '700000',
        client_id: null,
        at: AT_TEXT,
        status: 'completed',
        asset: 'USDC',
        amount: '5.5',
        fee: null,
        network: 'ETH',
        address: '0x1',
        tag: null,
        transaction: HASH,
        source: null,
        destination: null,
      },
      {
        kind: 'transfer',
        id: '31',
        client_id: 'client-2',
        at: AT_TEXT,
        status: 'completed',
        asset: 'USDC',
        amount: '12.5',
        fee: null,
        network: null,
        address: null,
        tag: null,
        transaction: '31',
        source: ':SPOT',
        destination: `${SUB}:USDT_FUTURE`,
      },
    ]);
  });

  test('are none where the exchange has none, also of other accounts', async () => {
    withdrew('w-1', { account: SUB });
    deposited(HASH, { account: SUB });
    expect(await read()).toEqual([]);
  });

  test('count the fee of a withdrawal only where the exchange keeps it', async () => {
    withdrew('chain');
    withdrew('by-type', { within: true, tx: 'Internal transfer 51376627901' });
    withdrew('by-text', { tx: 'Off-chain transfer 7', fee: '0' });
    const records = await read();
    const amounts = records.map(({ id, amount, fee, transaction }) => [
      id,
      { amount, fee, transaction },
    ]);
    expect(Object.fromEntries(amounts)).toEqual({
      chain: { amount: '100', fee: '0.25', transaction: HASH },
      'by-type': { amount: '99.75', fee: '0.25', transaction: 'Internal transfer 51376627901' },
      'by-text': { amount: '99.75', fee: '0', transaction: 'Off-chain transfer 7' },
    });
  });

  test('have null for what is missing', async () => {
    withdrew('w-1', { tx: null, address: '', exchange_status: '4' });
    expect(await read()).toMatchObject([
      { client_id: null, transaction: null, address: null, tag: null, status: 'pending' },
    ]);
  });

  test('have the statuses that single records have', async () => {
    for (const status of ['0', '1', '2', '3', '4', '5', '6', '9'])
      withdrew(`w${status}`, { exchange_status: status, tx: null });
    // A transaction may have paid, whatever became of the withdrawal.
    withdrew('w5 with a hash', { exchange_status: '5', tx: HASH });
    for (const status of ['0', '1', '2', '6', '7', '8', '9'])
      deposited(`d${status}`, { exchange_status: status });
    for (const [index, status] of ['INIT', 'PROCESS', 'SUCCESS', 'FAILURE', 'OTHER'].entries())
      moved(index + 1, [null, SUB], { exchange_status: status });
    const records = await read();
    const statuses = (kind: string, name: 'id' | 'transaction') =>
      Object.fromEntries(
        records.filter((each) => each.kind === kind).map((each) => [each[name], each.status]),
      );
    expect(statuses('withdrawal', 'id')).toEqual({
      w0: 'pending',
      w1: 'failed',
      w2: 'pending',
      w3: 'failed',
      w4: 'pending',
      w5: 'failed',
      w6: 'completed',
      w9: 'pending',
      'w5 with a hash': 'pending',
    });
    expect(statuses('deposit', 'transaction')).toEqual({
      d0: 'pending',
      d1: 'completed',
      d2: 'failed',
      d6: 'credited',
      d7: 'failed',
      d8: 'pending',
      d9: 'pending',
    });
    expect(statuses('transfer', 'id')).toEqual({
      1: 'pending',
      2: 'pending',
      3: 'completed',
      4: 'failed',
      5: 'pending',
    });
  });

  test('have each transfer once, whichever account sent it, with the names of the bindings', async () => {
    books().subs.push(UNBOUND);
    // The master sent nothing yet, so only the list of sub-accounts shows which account it is.
    moved(1, [SUB, null]);
    moved(2, [SUB, SUB], { source: { account: SUB, pool: 'USDT_FUTURE' } });
    moved(3, [UNBOUND, SUB]);
    moved(4, [SUB, UNBOUND]);
    const ends = async () =>
      Object.fromEntries(
        (await read()).map(({ id, source, destination }) => [id, [source, destination]]),
      );
    const ofSubs = {
      1: [`${SUB}:SPOT`, ':SPOT'],
      2: [`${SUB}:USDT_FUTURE`, `${SUB}:SPOT`],
      3: [`${UNBOUND}:SPOT`, `${SUB}:SPOT`],
      4: [`${SUB}:SPOT`, `${UNBOUND}:SPOT`],
    };
    expect(await ends()).toEqual(ofSubs);
    moved(5, [null, SUB]);
    moved(6, [null, UNBOUND]);
    moved(7, [null, SUB.toUpperCase()]);
    expect(await ends()).toEqual({
      ...ofSubs,
      5: [':SPOT', `${SUB}:SPOT`],
      6: [':SPOT', `${UNBOUND}:SPOT`],
      7: [':SPOT', `${SUB}:SPOT`],
    });
    expect(await read()).toHaveLength(7);
  });

  test('are a fault where a record has no time', async () => {
    withdrew('w-1');
    const { applyTime: _applyTime, ...record } = withdrawalView(books().withdrawals[0]!);
    desk.exchange.fail({ path: 'withdraw/history', kind: 'status', status: 200, body: [record] });
    await expect(read()).rejects.toMatchObject({ code: 'CEX_PROTOCOL_ERROR' });
  });

  test('are read where an answer has a number that is too large for one', async () => {
    withdrew('w-1', { within: true });
    const huge = Number.MAX_SAFE_INTEGER + 1;
    moved(huge, [null, SUB]);
    expect(await read()).toMatchObject([
      { id: 'w-1', amount: '99.75' },
      { id: String(huge), at: AT_TEXT },
    ]);
  });

  test.each(HISTORIES)('are none at all when %s is not answered', async (path) => {
    withdrew('w-1');
    deposited(HASH);
    desk.exchange.fail({ path, kind: 'error_500' });
    await expect(read()).rejects.toMatchObject({ kind: 'server_error' });
  });
});

describe('a history of several pages', () => {
  test('is read to its end, with many records of one moment', async () => {
    for (let index = 0; index < 1_003; index += 1) {
      withdrew(`w-${String(index)}`);
      deposited(`d-${String(index)}`);
    }
    for (let index = 0; index < 503; index += 1) moved(index + 1, [null, SUB]);
    const records = await read();
    expect(records).toHaveLength(2 * 1_003 + 503);
    const keys = records.map(({ kind, id }) => `${kind} ${id}`);
    expect(new Set(keys).size).toBe(keys.length);
    // Once to find them, and once more to find nothing new.
    const twice = ['0', '1000', '0', '1000'];
    expect(sent('withdraw/history', 'offset')).toEqual(twice);
    expect(sent('deposit/hisrec', 'offset')).toEqual(twice);
    // By the master as the sender, from the sub-account, and to it.
    const pages = ['1', '2', '1', '2'];
    expect(sent('universalTransfer', 'page')).toEqual([...pages, '1', ...pages]);
  });

  test('that ends with a full page is read once more, and found complete', async () => {
    for (let index = 0; index < 1_000; index += 1) withdrew(`w-${String(index)}`);
    expect(await read()).toHaveLength(1_000);
    expect(sent('withdraw/history', 'offset')).toEqual(['0', '1000', '0', '1000']);
  });

  test('neither loses nor doubles a record when one arrives between two pages', async () => {
    for (let index = 0; index < 1_001; index += 1) withdrew(`w-${String(index)}`);
    desk.exchange.afterNext('withdraw/history', () => withdrew('new', { time: AT + SECOND }));
    const found = ids(await read());
    expect(found).toHaveLength(1_002);
    expect(new Set(found).size).toBe(1_002);
    expect(found).toContain('new');
    expect(sent('withdraw/history', 'offset')).toHaveLength(6);
  });

  test('is a fault when every reading finds more', async () => {
    for (let index = 0; index < 1_000; index += 1) withdrew(`w-${String(index)}`);
    let count = 0;
    const arrive = (): void => {
      count += 1;
      withdrew(`new-${String(count)}`, { time: AT + SECOND });
      desk.exchange.afterNext('withdraw/history', arrive);
    };
    desk.exchange.afterNext('withdraw/history', arrive);
    await expect(read()).rejects.toMatchObject({ kind: 'protocol', code: 'HISTORY_CHANGING' });
    expect(sent('withdraw/history', 'offset')).toHaveLength(10);
  });

  test('is a fault when the exchange returns the same page again', async () => {
    for (let index = 0; index < 1_000; index += 1) withdrew(`w-${String(index)}`);
    const page = books().withdrawals.map((each) => ({
      ...withdrawalView(each),
      applyTime: '2026-01-02 03:04:05',
    }));
    desk.exchange.fail({
      path: 'withdraw/history',
      kind: 'status',
      status: 200,
      body: page,
      times: 2,
    });
    await expect(read()).rejects.toMatchObject({ code: 'CEX_PROTOCOL_ERROR' });
  });
});

describe('a long period', () => {
  test('is read in windows that the exchange allows, with what is at their borders', async () => {
    const period = { from: NOW - 20 * DAY, to: NOW };
    const borders = [1, 2].map((index) => period.from + index * (7 * DAY - 2 * SECOND));
    const times = [
      period.from,
      ...borders.flatMap((border) => [border - 1, border, border + 1]),
      period.to,
    ];
    for (const [index, time] of times.entries()) moved(index + 1, [null, SUB], { time });
    const found = await read(period);
    expect(found.map(({ at }) => at).sort()).toEqual(
      times.map((time) => new Date(time).toISOString()),
    );
    const [starts, ends] = [
      sent('universalTransfer', 'startTime').map(Number),
      sent('universalTransfer', 'endTime').map(Number),
    ];
    expect(starts.slice(1, 3)).toEqual(borders.map((border) => border - SECOND));
    expect(ends.slice(0, 3)).toEqual([...borders.map((border) => border - 1), period.to]);
  });

  test('of withdrawals and deposits too', async () => {
    const period = { from: NOW - 89 * DAY, to: NOW + 2 * DAY };
    const border = period.from + 90 * DAY - 2 * SECOND;
    const times = [period.from, border - SECOND, border, border + SECOND, period.to];
    for (const [index, time] of times.entries()) {
      withdrew(`w-${String(index)}`, { time });
      deposited(`d-${String(index)}`, { time });
    }
    expect(ids(await read(period))).toEqual([
      ...times.map((_time, index) => String(700_000 + index)),
      ...times.map((_time, index) => `w-${String(index)}`),
    ]);
    for (const path of HISTORIES.slice(0, 2)) expect(sent(path, 'startTime')).toHaveLength(2);
  });

  test.each([
    ['starts', { from: NOW - 91 * DAY, to: NOW }],
    ['starts and ends', { from: NOW - 200 * DAY, to: NOW - 199 * DAY }],
  ])('that %s before what the exchange keeps proves nothing', async (_what, period) => {
    await expect(read(period)).rejects.toMatchObject({ code: 'HISTORY_TOO_OLD' });
    expect(desk.exchange.requests).toEqual([]);
  });

  test('has only what was made in it', async () => {
    for (const [name, time] of [
      ['before', AT - SECOND],
      ['first', AT],
      ['last', AT + 60 * SECOND],
      ['after', AT + 61 * SECOND],
    ] as const)
      withdrew(name, { time });
    expect(ids(await read({ from: AT, to: AT + 60 * SECOND }))).toEqual(['first', 'last']);
  });
});

describe('the records of a sub-account', () => {
  test('without its own key are refused: its transfers are among those of the master', async () => {
    await expect(read(undefined, 'cex-sub')).rejects.toMatchObject({
      kind: 'rejected',
      code: 'CREDENTIALS_MISSING',
    });
    expect(desk.exchange.requests).toEqual([]);
  });

  test('with its own key are its withdrawals and deposits', async () => {
    const credentials_file = await desk.keyFile('sub.json', desk.exchange.key(SUB));
    withdrew('of-master');
    withdrew('of-sub', { account: SUB });
    deposited(HASH, { account: SUB });
    moved(1, [SUB, null]);
    const records = await read(undefined, 'cex-sub', desk.accounts({}, { credentials_file }));
    expect(ids(records)).toEqual(['700000', 'of-sub']);
    expect(sent('universalTransfer', 'page')).toEqual([]);
  });

  test('that is not bound are refused', async () => {
    await expect(read(undefined, 'elsewhere')).rejects.toMatchObject({
      kind: 'rejected',
      code: 'VENUE_NOT_BOUND',
    });
  });
});

describe('the expected client id is what the exchange stores', () => {
  test('with a withdrawal', async () => {
    const accounts = desk.accounts();
    const context = withdrawal();
    await send(createCexWithdrawalExecutor(accounts), context);
    const client_id = expectedClientId(accounts, 'cex-main', {
      kind: 'withdrawal',
      key: context.idempotency_key,
      external_ref: null,
    });
    expect(books().withdrawals[0]!.client_id).toBe(client_id);
    expect(await read(undefined, 'cex-main', accounts)).toMatchObject([
      { kind: 'withdrawal', client_id, amount: '100.5', fee: '0.25' },
    ]);
  });

  test('with the transfer of a node', async () => {
    const accounts = desk.accounts();
    const context = contextOf('cex_internal_transfer', {
      venue: 'cex-main',
      destination_venue: 'cex-sub',
      destination_account_type: 'USDT_FUTURE',
    });
    await send(createCexInternalTransferExecutor(accounts), context);
    const client_id = expectedClientId(accounts, 'cex-main', {
      kind: 'node_transfer',
      key: context.idempotency_key,
      external_ref: null,
    });
    expect(books().transfers[0]!.client_id).toBe(client_id);
    expect(await read(undefined, 'cex-main', accounts)).toMatchObject([
      { kind: 'transfer', client_id, source: ':SPOT', destination: `${SUB}:USDT_FUTURE` },
    ]);
  });

  test('with a capital transfer', async () => {
    const accounts = desk.accounts();
    books().set(SUB, 'SPOT', 'USDC', '50');
    const reference = randomUUID();
    await createCexTransfers(accounts)[0]!.submit(
      {
        reference,
        source: { venue_key: 'cex-sub', account_type: 'SPOT' },
        destination: { venue_key: 'cex-main', account_type: 'SPOT' },
        asset: 'USDC',
        amount: '12.5',
        created_at: new Date().toISOString(),
      },
      call(),
    );
    const client_id = expectedClientId(accounts, 'cex-sub', {
      kind: 'capital_transfer',
      key: reference,
      external_ref: null,
    });
    expect(books().transfers[0]!.client_id).toBe(client_id);
    expect(await read(undefined, 'cex-main', accounts)).toMatchObject([
      { kind: 'transfer', client_id, source: `${SUB}:SPOT`, destination: ':SPOT' },
    ]);
  });

  test('and is refused for an account that is not bound', () => {
    const sent = { kind: 'withdrawal', key: 'key', external_ref: null } as const;
    expect(() => expectedClientId(desk.accounts(), 'elsewhere', sent)).toThrow(
      'elsewhere is not a bound exchange account',
    );
  });
});
