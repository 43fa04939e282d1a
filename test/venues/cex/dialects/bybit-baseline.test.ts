/**
 * The list of withdrawals at Bybit, and which of them may be ours: Bybit shows no id of ours, and
 * no source says whether its amounts include the fee.
 */
import { createLocalRequestDesk } from '../../../../platform/request-desk.ts';
import { createCexAccounts, type CexAccount } from '../../../../venues/cex/accounts.ts';
import { ownRecord } from '../../../../venues/cex/baseline.ts';
import type { ListedWithdrawal, WithdrawalOrder } from '../../../../venues/cex/dialect.ts';
import { bybit } from '../../../../venues/cex/dialects/bybit/dialect.ts';
import { cex } from '../../../../venues/cex/index.ts';
import { parseVenueBindings } from '../../../../venues/bindings.ts';
import { withdrawal } from '../support/desk.ts';
import { call, faultOf, MASTER, NOW, pageOf, PERIOD, recordOf, scripted } from './bybit-script.ts';

const HISTORY = 'privateGetV5AssetWithdrawQueryRecord';
const LISTED = 'listWithdrawals';
const OLDER = 'listWithdrawals, older form with an internal one';

async function list(records: readonly object[], asset = 'USDC') {
  if (bybit.search.by !== 'baseline') throw new Error('no list');
  const { connection, sent } = scripted({ [HISTORY]: pageOf(...records) });
  return { listed: await bybit.search.list(connection, { asset, period: PERIOD }, call), sent };
}

/** The documented record of 41.43008 USDC with a fee of 5, changed. */
async function read(changes: object = {}): Promise<ListedWithdrawal | undefined> {
  const { listed } = await list([recordOf(LISTED, { coin: 'USDC', ...changes })]);
  return listed[0];
}

const HASH = '0x3d7bddb797f0e86420c982c0723653b8b728fd0ec9953b6b354445848d83a185';
const RECORD: ListedWithdrawal = {
  id: '131629076',
  status: 'completed',
  exchange_status: 'success',
  asset: 'USDC',
  network: 'ETH',
  address: '0xE3De6d711e0951d34777b5Cd93c827F822ee8514',
  tag: null,
  net_amount: '41.43008',
  fee: '5',
  tx_hash: HASH,
  transaction: HASH,
  at: '2025-03-23T13:58:25.000Z',
  gross_amounts: ['46.43008', '41.43008'],
};

describe('a listed withdrawal', () => {
  test('is read, with both readings of its amount', async () => {
    await expect(read()).resolves.toEqual(RECORD);
  });

  test('is of every type and of the asset alone, whatever Bybit lists', async () => {
    const rows = [recordOf(LISTED), recordOf(LISTED, {}, 1)];
    const { listed, sent } = await list(rows, 'USDT');
    expect(listed.map(({ id }) => id)).toEqual(['131603458']);
    expect(sent[0]?.parameters).toMatchObject({ coin: 'USDT', withdrawType: 2 });
  });

  test.each<[string, string]>([
    ['SecurityCheck', 'pending'],
    ['Pending', 'pending'],
    ['BlockchainConfirmed', 'pending'],
    ['MoreInformationRequired', 'pending'],
    ['Unknown', 'pending'],
    ['success', 'completed'],
    ['CancelByUser', 'failed'],
    ['Reject', 'failed'],
    ['Fail', 'failed'],
    // Not documented, so nothing is known to be over.
    ['Success', 'pending'],
    ['fail', 'pending'],
    ['constructor', 'pending'],
  ])('in the state %s is %s', async (status, expected) => {
    // One that failed has no transaction.
    const changes = expected === 'failed' ? { status, txID: '' } : { status };
    await expect(read(changes)).resolves.toMatchObject({
      status: expected,
      exchange_status: status,
    });
  });

  test.each<[string, object, Partial<ListedWithdrawal>]>([
    [
      'no transaction so far',
      { status: 'SecurityCheck', txID: '' },
      {
        ...{ status: 'pending', exchange_status: 'SecurityCheck' },
        ...{ tx_hash: null, transaction: null },
      },
    ],
    // No source shows a success on chain without one, and so none says what arrived.
    [
      'success without a transaction',
      { txID: '' },
      {
        status: 'pending',
        exchange_status: 'success, without a transaction',
        tx_hash: null,
        transaction: null,
      },
    ],
    [
      'a booking within Bybit, whose transaction is no hash',
      {
        withdrawType: 1,
        chain: 'internalAddressChain',
        toAddress: '999805',
        txID: '77c37e5c-d9fa-41e5-bd13-c9b59d95',
      },
      {
        network: null,
        address: '999805',
        tx_hash: null,
        transaction: '77c37e5c-d9fa-41e5-bd13-c9b59d95',
      },
    ],
    ['numbers as texts', { withdrawType: '0', createTime: 1742738305000 }, {}],
    ['a tag', { tag: '77' }, { tag: '77' }],
    [
      'a failed withdrawal with a transaction, which may have paid',
      { status: 'Fail' },
      { status: 'pending', exchange_status: 'Fail, with a transaction' },
    ],
    ['a tax of nothing', { tax: '0' }, { status: 'completed' }],
    [
      'a cancelled withdrawal with a tax',
      { status: 'CancelByUser', tax: '2', txID: '' },
      {
        ...{ status: 'failed', exchange_status: 'CancelByUser' },
        ...{ tx_hash: null, transaction: null },
      },
    ],
  ])('shows %s', async (_, changes, expected) => {
    const { gross_amounts: _gross, ...record } = RECORD;
    await expect(read(changes)).resolves.toMatchObject({ ...record, ...expected });
  });

  test('with a tax proves no payment, and may have cost any sum of its figures', async () => {
    const found = await read({ tax: '2' });
    expect(found).toMatchObject({
      status: 'pending',
      exchange_status: expect.stringContaining('tax'),
    });
    expect(found?.gross_amounts).toEqual(['46.43008', '41.43008', '48.43008', '43.43008']);
  });

  test('within Bybit may have no transaction at all (documented)', async () => {
    const { listed } = await list([recordOf(OLDER, {}, 1)], 'USDT');
    expect(listed).toMatchObject([
      { status: 'completed', tx_hash: null, transaction: null, fee: '0', net_amount: '26' },
    ]);
  });

  test.each([{ amount: '' }, { withdrawFee: undefined }, { createTime: '' }, { withdrawId: '' }])(
    'with %j is refused',
    async (changes) => {
      expect(await faultOf(read(changes))).toMatchObject({ kind: 'protocol' });
    },
  );
});

/** A master that this service alone withdraws from. */
function account(): CexAccount {
  const [venue] = cex.entries(
    parseVenueBindings({
      venues: [
        {
          venue_key: 'main',
          provider: 'ccxt',
          exchange: 'bybit',
          account_role: 'master',
          account: MASTER,
          credentials_file: 'main.json',
          exclusive: true,
        },
      ],
    }),
  );
  if (venue === undefined) throw new Error('no binding');
  return createCexAccounts([venue], createLocalRequestDesk()).get('main');
}

describe('our withdrawal', () => {
  const order: WithdrawalOrder = {
    client_id: 'c',
    asset: 'USDC',
    network: 'ETH',
    address: RECORD.address,
    tag: null,
    amount: '46.43008',
    fee_limit: null,
  };
  const context = withdrawal(
    {},
    {
      send_lane: { since: new Date(NOW).toISOString(), references: [], unexplained: 0 },
      prior: { prepared_action: { known: [] } },
    },
  );
  const row = (changes: object = {}): object =>
    recordOf(LISTED, { createTime: String(NOW), ...changes });
  const found = async (records: readonly object[]): Promise<string | null> => {
    const { listed } = await list(records);
    return ownRecord(account(), { order, context }, listed)?.id ?? null;
  };

  test.each<[string, object]>([
    ['what arrives', { amount: '41.43008', withdrawFee: '5' }],
    ['what leaves the account', { amount: '46.43008', withdrawFee: '5' }],
    ['what arrives before a tax', { amount: '39.43008', withdrawFee: '5', tax: '2' }],
  ])('is found where the history shows %s', async (_, changes) => {
    await expect(found([row(changes)])).resolves.toBe('131629076');
  });

  test('is none of another amount', async () => {
    const amounts = ['41.43007', '46.43007', '51.43008', '36.43008'];
    const rows = amounts.map((amount, index) => row({ amount, withdrawId: String(index) }));
    await expect(found(rows)).resolves.toBeNull();
  });

  test('of two candidates, one by each reading, is left to a person', async () => {
    const rows = [row(), row({ withdrawId: '7', amount: '46.43008' })];
    expect(await faultOf(found(rows))).toMatchObject({ code: 'WITHDRAWAL_AMBIGUOUS' });
  });
});
