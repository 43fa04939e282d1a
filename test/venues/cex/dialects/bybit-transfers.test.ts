/** Transfers and deposits of the dialect of Bybit. */
import type {
  DepositRecord,
  ExchangeTransfer,
  TransferEndOfExchange,
  TransferRecord,
} from '../../../../venues/cex/dialect.ts';
import { bybit } from '../../../../venues/cex/dialects/bybit/dialect.ts';
import { UnsentFault } from '../../../../venues/cex/errors.ts';
import {
  call,
  DAY,
  example,
  faultOf,
  good,
  KEY,
  keyOf,
  MASTER,
  NOW,
  pageOf,
  PERIOD,
  recordOf,
  scripted,
  type Answers,
} from './bybit-script.ts';

describe('a transfer', () => {
  const UNIVERSAL = 'privatePostV5AssetTransferUniversalTransfer';
  const WITHIN = 'privatePostV5AssetTransferInterTransfer';
  const UNIVERSAL_LIST = 'privateGetV5AssetTransferQueryUniversalTransferList';
  const WITHIN_LIST = 'privateGetV5AssetTransferQueryInterTransferList';
  const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
  const SUB = '592334';
  const end = (
    sub_account: string | null,
    account_type: TransferEndOfExchange['account_type'] = 'SPOT',
  ): TransferEndOfExchange => ({ sub_account, account_type });
  const order = (
    source: TransferEndOfExchange,
    destination: TransferEndOfExchange,
  ): ExchangeTransfer => ({ reference: ID, source, destination, asset: 'USDC', amount: '1.5' });
  const toSub = order(end(null), end(SUB));
  const own = order(end(null), end(null, 'USDT_FUTURE'));

  const send = async (transfer: ExchangeTransfer, answers: Answers = {}) => {
    const { connection, sent } = scripted({
      [KEY]: keyOf(),
      [UNIVERSAL]: example('transfer between uids'),
      [WITHIN]: example('transfer within the account of the key'),
      ...answers,
    });
    const id = await bybit.transfer(connection, transfer, call);
    return { id, sent: sent.filter(({ method }) => method !== KEY) };
  };

  const members = (fromMemberId: number, toMemberId: number): object => ({
    fromMemberId,
    toMemberId,
  });
  const [master, sub] = [Number(MASTER), Number(SUB)];
  test.each<[string, ExchangeTransfer, object]>([
    [
      'to a sub-account',
      toSub,
      { ...members(master, sub), fromAccountType: 'FUND', toAccountType: 'FUND' },
    ],
    [
      'from a sub-account',
      order(end(SUB, 'USDT_FUTURE'), end(null)),
      { ...members(sub, master), fromAccountType: 'UNIFIED', toAccountType: 'FUND' },
    ],
  ])('%s names both ends by their uid, also the master', async (_, transfer, route) => {
    const { id, sent } = await send(transfer);
    expect(id).toBe('be7a2462-1138-4e27-80b1-62653f24925e');
    const common = { transferId: ID, coin: 'USDC', amount: '1.5' };
    expect(sent).toEqual([{ method: UNIVERSAL, parameters: { ...common, ...route } }]);
  });

  test('within the master names its pools', async () => {
    const { id, sent } = await send(own);
    expect(id).toBe('42c0cfb0-6bca-c242-bc76-4e6df6cbab16');
    const common = { transferId: ID, coin: 'USDC', amount: '1.5' };
    const parameters = { ...common, fromAccountType: 'FUND', toAccountType: 'UNIFIED' };
    expect(sent).toEqual([{ method: WITHIN, parameters }]);
  });

  test('within a sub-account is refused before it is sent, and never looked for', async () => {
    const transfer = order(end(SUB), end(SUB, 'USDT_FUTURE'));
    const { connection, sent } = scripted({});
    const fault = await faultOf(bybit.transfer(connection, transfer, call));
    expect(fault).toMatchObject({ kind: 'rejected', code: 'TOPOLOGY_NOT_SUPPORTED' });
    expect(fault.message).toContain('through the master');
    await expect(bybit.findTransfers(connection, transfer, PERIOD, call)).resolves.toEqual([]);
    expect(sent).toEqual([]);
  });

  test('of a master whose uid cannot be read is not sent, and known not to be', async () => {
    const { connection, sent } = scripted({ [KEY]: good({}) });
    const fault = await faultOf(bybit.transfer(connection, toSub, call));
    expect(fault).toBeInstanceOf(UnsentFault);
    expect(sent.map(({ method }) => method)).toEqual([KEY]);
  });

  test.each(['SUCCESS', 'FAILED', 'PENDING', 'STATUS_UNKNOWN', undefined])(
    'whose answer has the status %s only has an id: its record shows the outcome',
    async (status) => {
      const answer = good({ transferId: ID, status });
      await expect(send(toSub, { [UNIVERSAL]: answer })).resolves.toMatchObject({ id: ID });
    },
  );

  test('without an id in the answer stays open', async () => {
    const fault = await faultOf(send(toSub, { [UNIVERSAL]: good({}) }));
    expect(fault).toMatchObject({ kind: 'protocol' });
    expect(fault).not.toBeInstanceOf(UnsentFault);
  });

  test('has a UUID with its dashes, in lower case', () => {
    const forms = [ID, ID.toUpperCase(), ID.replaceAll('-', '')];
    expect(forms.map(bybit.transferId)).toEqual([ID, ID, ID]);
  });

  const find = async (
    rows: readonly object[],
    transfer: ExchangeTransfer = toSub,
    period = PERIOD,
  ) => {
    const { connection, sent } = scripted({
      [KEY]: keyOf(),
      [UNIVERSAL_LIST]: pageOf(...rows),
      [WITHIN_LIST]: pageOf(...rows),
    });
    const found = await bybit.findTransfers(connection, transfer, period, call);
    return { found, sent: sent.filter(({ method }) => method !== KEY) };
  };
  const universal = (changes: object = {}): object =>
    recordOf('findTransfers between uids', {
      transferId: `universalTransfer_${ID}_533285`,
      ...changes,
    });
  const within = (changes: object = {}): object =>
    recordOf('findTransfers within the account of the key', {
      transferId: `selfTransfer_${ID}`,
      ...changes,
    });
  const record: TransferRecord = {
    id: ID,
    status: 'completed',
    exchange_status: 'SUCCESS',
    asset: 'USDC',
    amount: '1000',
    source: { account: '533285', account_type: 'USDT_FUTURE' },
    destination: { account: '592324', account_type: 'USDT_FUTURE' },
  };

  test.each<[string, string]>([
    ['with a prefix and the uid of its sender', `universalTransfer_${ID}_533285`],
    ['bare', ID],
    ['in capital letters', ID.toUpperCase()],
  ])('is found by its id, %s', async (_, listed) => {
    const { found, sent } = await find([universal({ transferId: listed })]);
    expect(found).toEqual([record]);
    expect(sent).toEqual([
      {
        method: UNIVERSAL_LIST,
        parameters: {
          transferId: ID,
          limit: 50,
          startTime: PERIOD.from - 1_000,
          endTime: PERIOD.to + 1_000,
        },
      },
    ]);
  });

  test('within the master is found in the other list, with its own uid at both ends', async () => {
    const { found, sent } = await find([within({ coin: 'USDC', fromAccountType: 'FUND' })], own);
    expect(found).toEqual([
      {
        ...record,
        amount: '5000',
        source: { account: MASTER, account_type: 'SPOT' },
        destination: { account: MASTER, account_type: 'USDT_FUTURE' },
      },
    ]);
    expect(sent.map(({ method }) => method)).toEqual([WITHIN_LIST]);
  });

  test('of another id is not taken, whatever Bybit lists', async () => {
    const rows = [recordOf('findTransfers between uids'), universal({ transferId: 'unnamed' })];
    await expect(find(rows)).resolves.toMatchObject({ found: [] });
    await expect(find([])).resolves.toMatchObject({ found: [] });
  });

  test('keeps a pool that has no name of ours', async () => {
    const { found } = await find([universal({ fromAccountType: 'CONTRACT' })]);
    expect(found[0]?.source).toEqual({ account: '533285', account_type: 'CONTRACT' });
  });

  test.each([
    ['SUCCESS', 'completed'],
    ['FAILED', 'failed'],
    ['PENDING', 'pending'],
    ['STATUS_UNKNOWN', 'pending'],
    ['success', 'pending'],
    ['toString', 'pending'],
  ])('in the state %s is %s', async (state, status) => {
    const { found } = await find([universal({ status: state })]);
    expect(found[0]).toMatchObject({ status, exchange_status: state });
  });

  test('is not looked for beyond what Bybit certainly keeps', async () => {
    const period = { from: NOW - 91 * DAY, to: NOW };
    expect(await faultOf(find([], toSub, period))).toMatchObject({ code: 'HISTORY_TOO_OLD' });
  });
});

describe('a deposit', () => {
  const CHAIN = 'privateGetV5AssetDepositQueryRecord';
  const INTERNAL = 'privateGetV5AssetDepositQueryInternalRecord';
  const HASH = '04bf3fbad2fc85b107a42cfdc5ff83110092b606ca754efa0f032f8b94b3262e';
  const TEXT = '77c37e5c-d9fa-41e5-bd13-c9b59d95';
  const onChain = (changes: object = {}): object => recordOf('findDeposits', changes);
  const internal = (changes: object = {}): object =>
    recordOf('findDeposits within Bybit', { coin: 'USDT', ...changes });

  const find = async (
    lists: { readonly chain?: readonly object[]; readonly internal?: readonly object[] },
    transaction = HASH,
    period = PERIOD,
  ) => {
    const { connection, sent } = scripted({
      [CHAIN]: pageOf(...(lists.chain ?? [])),
      [INTERNAL]: pageOf(...(lists.internal ?? [])),
    });
    const of = { transaction, asset: 'USDT', period };
    return { found: await bybit.findDeposits(connection, of, call), sent };
  };
  const record: DepositRecord = {
    id: '160237231',
    status: 'completed',
    exchange_status: 'success',
    asset: 'USDT',
    network: 'TRX',
    amount: '999.0496',
    transaction: HASH,
  };

  test('is found by its transaction, in any form of the hash', async () => {
    for (const hash of [HASH, `0x${HASH}`, HASH.toUpperCase()]) {
      const { found, sent } = await find({ chain: [onChain()] }, hash);
      expect(found).toMatchObject([record]);
      // No filter by it: how Bybit compares a hash is unproven.
      expect(sent).toEqual([
        {
          method: CHAIN,
          parameters: {
            coin: 'USDT',
            limit: 50,
            startTime: PERIOD.from - 1_000,
            endTime: PERIOD.to + 1_000,
          },
        },
      ]);
    }
    const { found } = await find({ chain: [onChain({ txID: `0x${HASH}` })] });
    expect(found).toMatchObject([{ ...record, transaction: `0x${HASH}` }]);
  });

  test('within Bybit is in a list of its own', async () => {
    const { found, sent } = await find({ internal: [internal()] }, TEXT);
    expect(found).toMatchObject([
      {
        ...{ id: '1103', status: 'completed', asset: 'USDT', network: null },
        ...{ amount: '0.1', transaction: TEXT },
      },
    ]);
    expect(sent.map(({ method }) => method)).toEqual([CHAIN, INTERNAL]);
  });

  test('of another transaction or asset is not taken, whatever Bybit lists', async () => {
    for (const changes of [{ txID: `${HASH}0` }, { txID: '' }, { coin: 'USDC' }])
      await expect(find({ chain: [onChain(changes)] })).resolves.toMatchObject({ found: [] });
    for (const changes of [{ txID: '' }, { coin: 'ETH' }])
      await expect(find({ internal: [internal(changes)] }, TEXT)).resolves.toMatchObject({
        found: [],
      });
  });

  test('of 2022 has no id, and is named by its place on the chain (documented)', async () => {
    const older = recordOf('findDeposits, older form', { txID: HASH, txIndex: '3' });
    const { found } = await find({ chain: [older] });
    expect(found).toMatchObject([{ id: `${HASH}:3`, status: 'completed', amount: '10000' }]);
  });

  test.each([
    [0, 'pending'],
    [1, 'pending'],
    [2, 'pending'],
    [3, 'completed'],
    [4, 'failed'],
    [10011, 'pending'],
    [10012, 'pending'],
    [7, 'pending'],
    [70011, 'failed'],
    [70012, 'completed'],
    [70013, 'pending'],
    [5, 'pending'],
    ['3', 'completed'],
    ['constructor', 'pending'],
  ])('in the state %j is %s', async (state, status) => {
    const { found } = await find({ chain: [onChain({ status: state })] });
    expect(found[0]).toMatchObject({ status });
    expect(found[0]?.exchange_status).not.toBe('');
  });

  test.each<[string | number | undefined, number, string]>([
    ['0', 3, 'completed'],
    [undefined, 3, 'completed'],
    ['10', 3, 'completed'],
    ['10', 2, 'pending'],
    ['20', 3, 'completed'],
    ['20', 1, 'pending'],
    // Blocked: it is not credited.
    ['50', 3, 'pending'],
    [50, 70012, 'pending'],
    ['50', 4, 'failed'],
    ['60', 3, 'pending'],
  ])('of the type %j in the state %i is %s', async (depositType, state, status) => {
    const { found } = await find({ chain: [onChain({ depositType, status: state })] });
    expect(found[0]).toMatchObject({ status });
  });

  test.each<[number, number | undefined, string]>([
    [1, 0, 'pending'],
    [2, 0, 'completed'],
    [2, undefined, 'completed'],
    [2, 1, 'pending'],
    [3, 0, 'failed'],
    [3, 1, 'failed'],
    [4, 0, 'pending'],
  ])('within Bybit in the state %i with %j is %s', async (state, complianceStatus, status) => {
    const row = internal({ status: state, complianceStatus });
    const { found } = await find({ internal: [row] }, TEXT);
    expect(found[0]).toMatchObject({ status });
  });

  test.each([
    ['', '999.0496'],
    ['0', '999.0496'],
    ['0.0496', '999'],
    ['1000', '0'],
  ])('with the fee %j is credited with %s', async (depositFee, amount) => {
    const { found } = await find({ chain: [onChain({ depositFee })] });
    expect(found[0]).toMatchObject({ amount });
  });

  test('is not looked for beyond what Bybit certainly keeps', async () => {
    const period = { from: NOW - 91 * DAY, to: NOW };
    expect(await faultOf(find({}, HASH, period))).toMatchObject({ code: 'HISTORY_TOO_OLD' });
  });
});
