/** Transfers and deposits of the dialect of OKX. */
import type { Parameters as Sent } from '../../../../venues/cex/connection.ts';
import type {
  DepositRecord,
  ExchangeTransfer,
  Period,
  TransferEndOfExchange,
} from '../../../../venues/cex/dialect.ts';
import { okx } from '../../../../venues/cex/dialects/okx/dialect.ts';
import { call, changed, example, faultOf, good, scripted } from './okx-script.ts';

const DAY = 86_400_000;
const TO = 1_700_000_000_000;
const PERIOD: Period = { from: TO - 2 * DAY, to: TO };

describe('a transfer', () => {
  const SEND = 'privatePostAssetTransfer';
  const STATE = 'privateGetAssetTransferState';
  const UUID = '01890A5D-AC96-774B-BCCE-B302099A8057';
  const ID = '01890a5dac96774bbcceb302099a8057';
  const end = (
    sub_account: string | null,
    account_type: TransferEndOfExchange['account_type'] = 'SPOT',
  ): TransferEndOfExchange => ({ sub_account, account_type });
  const order = (
    source: TransferEndOfExchange,
    destination: TransferEndOfExchange,
  ): ExchangeTransfer => ({ reference: UUID, source, destination, asset: 'USDT', amount: '1.5' });
  const toSub = order(end(null), end('test'));

  const send = async (transfer: ExchangeTransfer) => {
    const { connection, sent } = scripted({
      [SEND]: example('transfer within the account (type 0)'),
    });
    return { id: await okx.transfer(connection, transfer, call), sent };
  };
  const find = async (answer: object, transfer: ExchangeTransfer = toSub, period = PERIOD) => {
    const { connection, sent } = scripted({ [STATE]: answer });
    return { found: await okx.findTransfers(connection, transfer, period, call), sent };
  };

  test.each<[string, ExchangeTransfer, object]>([
    [
      'within the master',
      order(end(null), end(null, 'USDT_FUTURE')),
      { type: '0', from: '6', to: '18' },
    ],
    ['to a sub-account', toSub, { type: '1', from: '6', to: '6', subAcct: 'test' }],
    [
      'from a sub-account',
      order(end('test', 'USDT_FUTURE'), end(null)),
      { type: '2', from: '18', to: '6', subAcct: 'test' },
    ],
  ])('%s is sent, and found by its id and its type', async (_, transfer, route) => {
    const common = { ccy: 'USDT', amt: '1.5', clientId: ID };
    await expect(send(transfer)).resolves.toEqual({
      id: '754147',
      sent: [{ method: SEND, parameters: { ...common, ...route } }],
    });
    const { type } = route as { readonly type: string };
    const { sent } = await find(good(), transfer);
    expect(sent).toEqual([{ method: STATE, parameters: { clientId: ID, type } }]);
  });

  test.each<[string, ExchangeTransfer]>([
    ['within a sub-account', order(end('test'), end('test', 'USDT_FUTURE'))],
    ['between sub-accounts', order(end('test'), end('mini'))],
  ])('%s is refused before it is sent', async (_, transfer) => {
    const { connection, sent } = scripted({});
    const fault = await faultOf(okx.transfer(connection, transfer, call));
    expect(fault).toMatchObject({ kind: 'rejected', code: 'TOPOLOGY_NOT_SUPPORTED' });
    await expect(okx.findTransfers(connection, transfer, PERIOD, call)).resolves.toEqual([]);
    expect(sent).toEqual([]);
  });

  test('has an id of 32 letters and digits', () => {
    expect([okx.transferId(UUID), okx.transferId(ID)]).toEqual([ID, ID]);
    expect(okx.transfer_decimals).toBe(8);
  });

  test('is read with both of its ends', async () => {
    const record = {
      id: '1',
      status: 'completed',
      exchange_status: 'success',
      asset: 'USDT',
      amount: '1.5',
      source: { account: '', account_type: 'USDT_FUTURE' },
      destination: { account: 'test', account_type: 'SPOT' },
    };
    const { found } = await find(changed('findTransfers', { clientId: ID }));
    expect(found).toEqual([record]);
    const back = await find(changed('findTransfers', { clientId: ID, type: '2', from: '9' }));
    expect(back.found).toEqual([
      {
        ...record,
        source: { account: 'test', account_type: 'account 9' },
        destination: { account: '', account_type: 'SPOT' },
      },
    ]);
    const own = await find(changed('findTransfers, older form', { clientId: ID }));
    expect(own.found[0]).toMatchObject({ source: { account: '' }, destination: { account: '' } });
  });

  test.each([
    ['success', 'completed'],
    ['pending', 'pending'],
    ['failed', 'failed'],
    ['frozen', 'pending'],
    ['toString', 'pending'],
  ])('in the state %s is %s', async (state, status) => {
    const { found } = await find(changed('findTransfers', { clientId: ID, state }));
    expect(found[0]).toMatchObject({ status, exchange_status: state });
  });

  test.each([
    ['findTransfers, unknown client id'],
    // Another's, as if OKX had not filtered.
    ['findTransfers'],
    ['findTransfers, older form'],
  ])('is not found in: %s', async (name) => {
    await expect(find(example(name))).resolves.toMatchObject({ found: [] });
  });

  test('is not looked for beyond two weeks', async () => {
    const period = { from: TO - 14 * DAY - 1, to: TO };
    expect(await faultOf(find(good(), toSub, period))).toMatchObject({ code: 'HISTORY_TOO_OLD' });
    await find(good(), toSub, { ...period, from: period.from + 1 });
  });
});

describe('a deposit', () => {
  const HISTORY = 'privateGetAssetDepositHistory';
  const HASH = 'a00e9ae2fa86486468080e708771f5a406904d599090132006fbb84a8252fc75';
  /** The record alone was published, without the answer around it. */
  const real = (changes: object = {}): object =>
    good({ ...example('findDeposits, a real record'), ...changes });
  const find = async (
    answer: Parameters<typeof scripted>[0][string],
    transaction = HASH,
    period = PERIOD,
  ) => {
    const { connection, sent } = scripted({ [HISTORY]: answer });
    const of = { transaction, asset: 'USDT', period };
    const found = await okx.findDeposits(connection, of, call);
    return { found, sent: sent.map(({ parameters }) => parameters) };
  };
  const record: DepositRecord = {
    id: '31314720',
    status: 'completed',
    exchange_status: 'success',
    asset: 'USDT',
    network: 'TRC20',
    amount: '10',
    transaction: HASH,
  };

  test('is found by its transaction', async () => {
    const { found, sent } = await find(real());
    expect(found).toEqual([record]);
    expect(sent).toEqual([{ ccy: 'USDT', txId: HASH }]);
  });

  test('is found in each form of a hash', async () => {
    const only =
      (form: string) =>
      ({ txId }: Sent): object =>
        txId === form ? real({ txId }) : good();
    for (const form of [HASH, `0x${HASH}`]) {
      const { found } = await find(only(form), HASH);
      expect(found).toEqual([{ ...record, transaction: form }]);
      await expect(find(only(form), `0x${HASH}`)).resolves.toMatchObject({ found: [{}] });
    }
    const { sent } = await find(good(), `0x${HASH.toUpperCase()}`);
    expect(sent.map(({ txId }) => txId)).toEqual([`0x${HASH.toUpperCase()}`, `0x${HASH}`, HASH]);
  });

  test('within OKX is found by the id of the withdrawal', async () => {
    const { found, sent } = await find(real({ txId: '', fromWdId: '67485' }), '67485');
    expect(found).toEqual([{ ...record, transaction: '67485' }]);
    expect(sent).toEqual([{ ccy: 'USDT', fromWdId: '67485' }]);
  });

  test('of another transaction or asset is not taken, whatever OKX returns', async () => {
    for (const answer of [real({ txId: `${HASH}0` }), real({ ccy: 'USDC' }), real({ txId: '' })])
      await expect(find(answer)).resolves.toMatchObject({ found: [] });
    for (const name of ['findDeposits', 'findDeposits, older form'])
      await expect(find(example(name))).resolves.toMatchObject({ found: [] });
  });

  test.each([
    ['0', 'pending'],
    ['1', 'credited'],
    ['2', 'completed'],
    ['8', 'pending'],
    ['11', 'pending'],
    ['12', 'pending'],
    ['13', 'pending'],
    ['14', 'pending'],
    ['17', 'pending'],
    ['99', 'pending'],
  ])('in the state %s is %s', async (state, status) => {
    const { found } = await find(real({ state }));
    expect(found[0]).toMatchObject({ status });
  });

  test('is not looked for beyond what OKX certainly keeps', async () => {
    const period = { from: TO - 90 * DAY - 1, to: TO };
    expect(await faultOf(find(good(), HASH, period))).toMatchObject({ code: 'HISTORY_TOO_OLD' });
  });
});
