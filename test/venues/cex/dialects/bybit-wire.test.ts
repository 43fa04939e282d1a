/**
 * What the dialect of Bybit reads and sends has a source: an example of the call in
 * wire/bybit.json, or the page of facts.
 */
import type { WithdrawalOrder } from '../../../../venues/cex/dialect.ts';
import * as answers from '../../../../venues/cex/dialects/bybit/answers.ts';
import { bybit } from '../../../../venues/cex/dialects/bybit/dialect.ts';
import {
  call,
  example,
  EXAMPLES,
  FACTS,
  KEY,
  keyOf,
  pageOf,
  PERIOD,
  recordOf,
  scripted,
} from './bybit-script.ts';

interface Shaped {
  readonly shape: object;
}
/** The schemas of each call's answer. What they hold is read too. */
const READ: Readonly<Record<string, readonly Shaped[]>> = {
  publicGetV5MarketTime: [answers.serverTime],
  [KEY]: [answers.keyInfo, answers.keyInfo.shape.permissions],
  privateGetV5AssetTransferQueryAccountCoinsBalance: [answers.coinBalances, answers.coinBalance],
  privateGetV5AssetWithdrawWithdrawableAmount: [
    answers.withdrawable,
    answers.withdrawable.shape.withdrawableAmount,
  ],
  privateGetV5AccountWalletBalance: [answers.walletBalance, answers.walletCoin],
  privateGetV5AccountWithdrawal: [answers.leaving],
  privateGetV5AssetAssetOverview: [
    answers.overview,
    answers.overview.shape.list.element,
    answers.coinName,
  ],
  privateGetV5AssetCoinQueryInfo: [
    answers.coins,
    answers.coins.shape.rows.element,
    answers.chainTerms,
  ],
  privateGetV5AssetWithdrawQueryAddress: [answers.bookEntry],
  privatePostV5AssetWithdrawCreate: [answers.withdrawn],
  privatePostV5AssetWithdrawCancel: [answers.cancelled],
  privateGetV5AssetWithdrawQueryRecord: [answers.withdrawal],
  privateGetV5AssetDepositQueryRecord: [answers.deposit],
  privateGetV5AssetDepositQueryInternalRecord: [answers.internalDeposit],
  privatePostV5AssetTransferInterTransfer: [answers.transferred],
  privatePostV5AssetTransferUniversalTransfer: [answers.transferred],
  privateGetV5AssetTransferQueryInterTransferList: [answers.transfer],
  privateGetV5AssetTransferQueryUniversalTransferList: [answers.universalTransfer],
};

const ofMethod = (method: string) => EXAMPLES.filter(({ ccxt_method }) => ccxt_method === method);

/** Whether the page of facts, or a note to an example of the call, has the name as a word. */
const isFact = (method: string, name: string): boolean =>
  [FACTS, ...ofMethod(method).map(({ notes }) => notes)].some((text) =>
    new RegExp(`\\b${name}\\b`).test(text),
  );

/** Every key in a value, at any depth. */
function keysIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const nested = Object.values(value).flatMap(keysIn);
  return Array.isArray(value) ? nested : [...Object.keys(value), ...nested];
}

test('every field that is read is in an example of the call', () => {
  const unknown = Object.entries(READ).flatMap(([method, schemas]) => {
    const known = new Set(ofMethod(method).flatMap(({ answer }) => keysIn(answer)));
    return schemas
      .flatMap(({ shape }) => Object.keys(shape))
      .filter((field) => !known.has(field))
      .map((field) => ({ method, field }));
  });
  expect(unknown).toEqual([]);
});

const ORDER: WithdrawalOrder = {
  client_id: 'id',
  asset: 'MNT',
  network: 'ETH',
  address: '0x48101adb67d426cb15e46be5f1d9f6ab25f311ea',
  tag: '7',
  amount: '100',
  fee_limit: null,
};

/** Calls everything that the dialect has, and returns what was sent. */
async function everythingSent() {
  const { connection, sent } = scripted({
    ...Object.fromEntries(Object.keys(READ).map((method) => [method, pageOf()])),
    publicGetV5MarketTime: example('time'),
    [KEY]: keyOf(),
    privateGetV5AssetTransferQueryAccountCoinsBalance: example('balances, FUND, all coins'),
    privateGetV5AssetWithdrawWithdrawableAmount: example('what may be withdrawn'),
    privateGetV5AccountWalletBalance: example('balances, UNIFIED'),
    privateGetV5AccountWithdrawal: example('what may leave UNIFIED'),
    privateGetV5AssetAssetOverview: example("holdings of a sub-account with the master's key"),
    privateGetV5AssetCoinQueryInfo: example('withdrawalTerms'),
    privateGetV5AssetWithdrawQueryAddress: pageOf(recordOf('addressBook', { tag: '7' }, 1)),
    privatePostV5AssetWithdrawCreate: example('withdraw'),
    privatePostV5AssetWithdrawCancel: example('cancelWithdrawal'),
    privateGetV5AssetWithdrawQueryRecord: ({ cursor }) =>
      cursor === undefined ? example('listWithdrawals') : pageOf(),
    privatePostV5AssetTransferInterTransfer: example('transfer within the account of the key'),
    privatePostV5AssetTransferUniversalTransfer: example('transfer between uids'),
  });
  const types = bybit.account_types.own;
  await bybit.time(connection, call);
  await bybit.keyFault(connection, { withdraw: true }, call);
  await bybit.balances(connection, types, call);
  await bybit.subBalances(connection, { sub_account: '592334', types }, call);
  await bybit.withdrawalTerms(connection, ORDER, call);
  await bybit.addressBook?.(connection, call);
  const quote = (await bybit.quote?.(connection, ORDER, call)) ?? {};
  await bybit.withdraw(connection, ORDER, quote, call);
  if (bybit.search.by === 'baseline')
    await bybit.search.list(connection, { asset: 'USDT', period: PERIOD }, call);
  await bybit.cancelWithdrawal?.(connection, '10197', call);
  await bybit.findDeposits(connection, { transaction: 't', asset: 'USDT', period: PERIOD }, call);
  const source = { sub_account: null, account_type: 'SPOT' } as const;
  for (const sub_account of [null, '592334']) {
    const destination = { sub_account, account_type: 'USDT_FUTURE' } as const;
    const transfer = { reference: 'id', source, destination, asset: 'USDT', amount: '1' };
    await bybit.transfer(connection, transfer, call);
    await bybit.findTransfers(connection, transfer, PERIOD, call);
  }
  await bybit.records(connection, { period: PERIOD, subs: ['592334'] }, call);
  return sent;
}

test('every call is known, and every parameter is in a request of it, or on the page', async () => {
  const sent = await everythingSent();
  expect([...new Set(sent.map(({ method }) => method))].sort()).toEqual(Object.keys(READ).sort());
  expect(Object.keys(READ).filter((method) => !FACTS.includes(`\`${method}\``))).toEqual([]);
  const names = sent.flatMap(({ method, parameters }) =>
    Object.keys(parameters).map((name) => ({ method, name })),
  );
  const unknown = names.filter(
    ({ method, name }) =>
      !isFact(method, name) &&
      !ofMethod(method).some(({ request }) => Object.hasOwn(request?.params ?? {}, name)),
  );
  expect(unknown).toEqual([]);
  // The test drives pages, filters, tags and sub-accounts.
  expect(names.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['cursor', 'transferId', 'memberId', 'fromMemberId', 'tag', 'coinName']),
  );
});
