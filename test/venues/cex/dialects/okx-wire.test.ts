/**
 * What the dialect of OKX reads and sends has a source: an example of the call in wire/okx.json, or
 * the page of facts.
 */
import type { Period, WithdrawalOrder } from '../../../../venues/cex/dialect.ts';
import * as answers from '../../../../venues/cex/dialects/okx/answers.ts';
import { okx } from '../../../../venues/cex/dialects/okx/dialect.ts';
import { call, changed, example, EXAMPLES, FACTS, good, scripted } from './okx-script.ts';

/** The schemas of each call's answer. */
const READ: Readonly<Record<string, readonly { readonly shape: object }[]>> = {
  publicGetPublicTime: [answers.serverTime],
  privateGetAccountConfig: [answers.accountConfig],
  privateGetAssetBalances: [answers.fundingBalance],
  privateGetAssetSubaccountBalances: [answers.fundingBalance],
  privateGetAccountBalance: [answers.tradingBalance, answers.tradingDetail],
  privateGetAccountSubaccountBalances: [answers.tradingBalance, answers.tradingDetail],
  privateGetAccountMaxWithdrawal: [answers.maxWithdrawal],
  privateGetAccountSubaccountMaxWithdrawal: [answers.maxWithdrawal],
  privateGetAssetCurrencies: [answers.currency, answers.chainTerms],
  privatePostAssetWithdrawal: [answers.withdrawn],
  privatePostAssetCancelWithdrawal: [answers.withdrawn],
  privateGetAssetWithdrawalHistory: [answers.withdrawal],
  privateGetAssetDepositHistory: [answers.deposit],
  privatePostAssetTransfer: [answers.transferred],
  privateGetAssetTransferState: [answers.transfer],
  privateGetAssetBills: [answers.bill],
  privateGetAssetBillsHistory: [answers.bill],
};

const ofMethod = (method: string) => EXAMPLES.filter(({ ccxt_method }) => ccxt_method === method);

/** Whether the page of facts has the name in code. */
const isFact = (name: string): boolean => FACTS.includes(`\`${name}\``);

/** Every key in a value, at any depth. */
function keysIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const nested = Object.values(value).flatMap(keysIn);
  return Array.isArray(value) ? nested : [...Object.keys(value), ...nested];
}

test('every field that is read is in an example of the call, or on the page of facts', () => {
  const unknown = Object.entries(READ).flatMap(([method, schemas]) => {
    const known = new Set(ofMethod(method).flatMap(({ answer }) => keysIn(answer)));
    return schemas
      .flatMap(({ shape }) => Object.keys(shape))
      .filter((field) => !known.has(field))
      .map((field) => ({ method, field }));
  });
  // No example has a tag (docs/okx-facts.md, 5).
  const fields = ['tag', 'pmtId', 'memo', 'addrEx'];
  expect(unknown).toEqual(
    fields.map((field) => ({ method: 'privateGetAssetWithdrawalHistory', field })),
  );
  expect(fields.filter((field) => !isFact(field))).toEqual([]);
});

/** Calls everything that the dialect has, and returns what was sent. */
async function everythingSent() {
  const page = Array.from({ length: 100 }, (_, index) => ({
    ...{ billId: String(index), depId: String(index), wdId: String(index), ccy: 'USDT' },
    ...{ amt: '1', balChg: '1', fee: '0', to: '', type: '20', ts: String(Date.now() - index) },
    state: '0',
  }));
  const from = { sub_account: null, account_type: 'SPOT' } as const;
  const { connection, sent } = scripted({
    ...Object.fromEntries(Object.keys(READ).map((method) => [method, good()])),
    publicGetPublicTime: example('server time'),
    privateGetAccountConfig: example('key permissions'),
    privateGetAccountBalance: example('balances, trading account (18)'),
    privateGetAccountSubaccountBalances: example('balances of a sub, trading'),
    privateGetAssetCurrencies: example('withdrawal terms'),
    privatePostAssetWithdrawal: example('withdraw'),
    privatePostAssetCancelWithdrawal: example('cancelWithdrawal'),
    privateGetAssetWithdrawalHistory: changed('findWithdrawals, a real record', { state: '0' }),
    privatePostAssetTransfer: example('transfer master -> sub (type 1)'),
    privateGetAssetBills: ({ after }) => (after === undefined ? good(...page) : good(page.at(-1)!)),
  });
  const order: WithdrawalOrder = {
    ...{ client_id: 'id', asset: 'BTC', network: 'Bitcoin', address: 'address', tag: '7' },
    ...{ amount: '1', fee_limit: null },
  };
  const transfer = {
    ...{ reference: 'id', source: from, destination: { ...from, sub_account: 'test' } },
    ...{ asset: 'USDT', amount: '1' },
  };
  const period: Period = { from: Date.now() - 86_400_000, to: Date.now() };
  const older: Period = { ...period, from: Date.now() - 40 * 86_400_000 };
  const types = okx.account_types.own;
  await okx.time(connection, call);
  await okx.keyFault(connection, { withdraw: true }, call);
  await okx.balances(connection, types, call);
  await okx.subBalances(connection, { sub_account: 'test', types }, call);
  await okx.withdrawalTerms(connection, order, call);
  const quote = (await okx.quote?.(connection, order, call)) ?? {};
  await okx.withdraw(connection, order, quote, call);
  if (okx.search.by === 'client_id')
    await okx.search.find(connection, { client_id: 'id', asset: 'BTC', period }, call);
  await okx.cancelWithdrawal?.(connection, '25147041', call);
  for (const transaction of ['7', 'ab'.repeat(32)])
    await okx.findDeposits(connection, { transaction, asset: 'USDT', period }, call);
  await okx.transfer(connection, transfer, call);
  await okx.findTransfers(connection, transfer, period, call);
  for (const each of [period, older])
    await okx.records(connection, { period: each, subs: ['test'] }, call);
  return sent;
}

test('every call is known, and every parameter is in a request of it, or on the page', async () => {
  const sent = await everythingSent();
  expect([...new Set(sent.map(({ method }) => method))].sort()).toEqual(Object.keys(READ).sort());
  expect(Object.keys(READ).filter((method) => !isFact(method))).toEqual([]);
  const names = sent.flatMap(({ method, parameters }) =>
    Object.keys(parameters).map((name) => ({ method, name })),
  );
  const unknown = names.filter(
    ({ method, name }) =>
      !isFact(name) &&
      !ofMethod(method).some(({ request }) => Object.hasOwn(request?.params ?? {}, name)),
  );
  expect(unknown).toEqual([]);
  // The test drives pages, filters, tags and sub-accounts.
  expect(names.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['after', 'fromWdId', 'txId', 'clientId', 'wdId', 'subAcct', 'toAddr']),
  );
});
