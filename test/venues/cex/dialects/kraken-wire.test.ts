/**
 * Which fields the dialect of Kraken reads and which parameters it sends: all of them are in an
 * example of wire/kraken.json for the same call, or on the page of facts.
 */
import type { CexConnection } from '../../../../venues/cex/connection.ts';
import { kraken } from '../../../../venues/cex/dialects/kraken/dialect.ts';
import {
  ANSWERS,
  answersOf,
  call,
  example,
  EXAMPLES,
  FACTS,
  fieldsOf,
  good,
  ORDER,
  PERIOD,
  scripted,
  watched,
  type Sent,
} from './kraken-script.ts';

const ID = 'FTQcuak-V6Za8qrWnhzTx67yYHz8Tg';
const reads = (connection: CexConnection): readonly Promise<unknown>[] => [
  kraken.time(connection, call),
  kraken.keyFault(connection, { withdraw: true }, call),
  kraken.balances(connection, ['SPOT'], call),
  kraken.withdrawalTerms(connection, ORDER, call),
  Promise.resolve(kraken.addressBook?.(connection, call)),
  Promise.resolve(kraken.quote?.(connection, ORDER, call)),
  kraken.withdraw(
    connection,
    ORDER,
    { asset: 'XBT', label: 'btc-wallet-1', address: ORDER.address, max_fee: '0.0002' },
    call,
  ),
  kraken.search.by === 'baseline'
    ? kraken.search.list(connection, { asset: 'BTC', period: PERIOD }, call)
    : Promise.reject(new Error('no list')),
  Promise.resolve(kraken.cancelWithdrawal?.(connection, ID, call)),
  kraken.findDeposits(connection, { transaction: 't', asset: 'BTC', period: PERIOD }, call),
  kraken.records(connection, { period: PERIOD, subs: [] }, call),
];
const CALLS: Readonly<Record<string, string>> = {
  publicGetTime: 'time',
  publicGetAssets: 'assets',
  privatePostGetApiKeyInfo: 'keyPermissions',
  privatePostBalanceEx: 'balances',
  privatePostWithdrawMethods: 'withdrawalTerms.methods',
  privatePostWithdrawInfo: 'withdrawalTerms.info',
  privatePostWithdrawAddresses: 'addressBook',
  privatePostWithdraw: 'withdraw',
  privatePostWithdrawStatus: 'findWithdrawals',
  privatePostWithdrawCancel: 'cancelWithdrawal',
  privatePostDepositStatus: 'findDeposits',
};
const RECORD = ['refid', 'asset', 'amount', 'fee', 'info', 'txid', 'time', 'status'];
const PAGED = ['result', 'status-prop', 'next_cursor', 'cursor'];
/** What the dialect reads. The names of lists are in kraken-history.test.ts. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  publicGetTime: ['result', 'unixtime'],
  publicGetAssets: ['result', 'XXBT', 'ZEUR', 'ZUSD', 'altname', 'status'],
  privatePostGetApiKeyInfo: [
    ...['result', 'permissions', 'nonceWindow', 'nonce_window'],
    ...['queryFrom', 'query_from', 'queryTo', 'query_to'],
  ],
  privatePostBalanceEx: ['result', 'balance', 'hold_trade', 'credit', 'credit_used'],
  privatePostWithdrawMethods: ['result', 'asset', 'method', 'network', 'minimum'],
  privatePostWithdrawInfo: ['result', 'method', 'limit', 'amount', 'fee'],
  privatePostWithdrawAddresses: [
    ...['result', 'address', 'asset', 'method', 'key', 'tag', 'memo', 'verified'],
  ],
  privatePostWithdraw: ['result', 'refid'],
  privatePostWithdrawStatus: [...RECORD, ...PAGED, 'network', 'key', 'withdrawals'],
  privatePostWithdrawCancel: ['result'],
  privatePostDepositStatus: [...RECORD, ...PAGED, 'originators'],
};
/** Fields that no example has, with the words of the page that has them. */
const OF_THE_PAGE: Readonly<Record<string, string>> = {
  tag: '`tag` (docs',
  credit: 'balance + credit − credit_used − hold_trade',
  credit_used: 'balance + credit − credit_used − hold_trade',
  cursor: '`cursor` (MARK)',
  next_cursor: '`{deposit, next_cursor}` (GCT)',
};

/** What is sent, and the fields that are read by method, over all examples. */
async function drive(): Promise<{
  readonly sent: readonly Sent[];
  readonly fields: ReadonlyMap<string, ReadonlySet<string>>;
}> {
  const fields = new Map<string, Set<string>>();
  const sent: Sent[] = [];
  for (const [method, name] of Object.entries(CALLS)) {
    const names = new Set<string>();
    fields.set(method, names);
    for (const answer of answersOf(name)) {
      const examples = Object.entries(CALLS).map(([each, of]) => [each, example(of)] as const);
      const script = scripted({
        ...Object.fromEntries(examples),
        ...ANSWERS,
        // A history that has an end: its next pages are empty.
        [method]: ({ cursor }) =>
          cursor === undefined || cursor === true ? watched(answer, names) : good([]),
      });
      await Promise.allSettled(reads(script.connection));
      sent.push(...script.sent);
    }
    // An empty page in the form of paged answers.
    const paged = scripted({ ...ANSWERS, [method]: watched(good({}), names) });
    await Promise.allSettled(reads(paged.connection));
  }
  return { sent, fields };
}
const driven = drive();

test.each(Object.keys(CALLS))('the fields of %s are known', async (method) => {
  const { fields } = await driven;
  const found = [...(fields.get(method) ?? [])];
  const shown = new Set(
    EXAMPLES.filter((each) => each.ccxt_method === method).flatMap(({ answer }) =>
      fieldsOf(answer),
    ),
  );
  const expected = FIELDS[method] ?? [];
  expect(expected.filter((each) => !found.includes(each))).toEqual([]);
  // Entries of a record by asset are read under the asset's name; of a loose one, all fields.
  const extra = found.filter((each) => !expected.includes(each) && !shown.has(each));
  expect(extra).toEqual([]);
  const unknown = expected.filter((each) => !shown.has(each));
  expect(unknown.filter((each) => !FACTS.includes(OF_THE_PAGE[each] ?? '\0'))).toEqual([]);
});

test('the fee of a method, which is read where it is shown, names its asset in an example', () => {
  const newer = example('withdrawalTerms.methods (newer fields, shape only)');
  expect(newer['fee']).toHaveProperty('asset');
});

test('the parameters are in an example of the same call, or on the page', async () => {
  const { sent } = await driven;
  expect(new Set(sent.map(({ method }) => method))).toEqual(new Set(Object.keys(CALLS)));
  const unknown = sent.flatMap(({ method, parameters }) => {
    const requests = EXAMPLES.filter((each) => each.ccxt_method === method);
    const names = requests.flatMap(({ request }) => Object.keys(request?.params ?? {}));
    return Object.keys(parameters).filter(
      (each) => !names.includes(each) && !FACTS.includes(`\`${each}\``),
    );
  });
  expect(unknown).toEqual([]);
});
