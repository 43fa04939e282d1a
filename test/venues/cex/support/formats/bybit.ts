/** Bybit's requests and answers, with the shapes and limits that docs/bybit-facts.md names. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Account, Books } from '../books.ts';
import type { Format, RouteContext, WireRequest } from '../format.ts';
import { Refusal } from '../refusal.ts';
import { PAGE, pageOf } from './bybit-lists.ts';
import {
  checkFields,
  memberOf,
  needMemberTransfer,
  needPermission,
  ownRefusal,
} from './bybit-parameters.ts';
import * as reads from './bybit-reads.ts';
import { error, refusal, wire } from './bybit-refusals.ts';
import {
  cancel,
  interTransfer,
  TRANSFER_DECIMALS,
  universalTransfer,
  withdraw,
} from './bybit-sends.ts';
import { addressView, coinView, keyView } from './bybit-views.ts';

const USUAL_WINDOW_MS = 5_000;
const AHEAD_MS = 1_000;

const good = (books: Books, result: object, retMsg = 'success'): object => ({
  retCode: 0,
  retMsg,
  result,
  retExtInfo: {},
  time: books.now(),
});

const keyOf = (account: Account) => ({
  api_key: `bybit-key-of-${account ?? 'master'}`,
  secret: `secret-of-${account ?? 'master'}-0123456789`,
});

const headerOf = ({ headers }: Pick<WireRequest, 'headers'>, name: string): string =>
  headers[`x-bapi-${name}`]?.toString() ?? '';

/** Units of 20 ms, as the library counts them (section 2). */
const COSTS: Readonly<Record<string, number>> = {
  '/v5/asset/withdraw/create': 50,
  '/v5/asset/withdraw/cancel': 50,
  '/v5/asset/withdraw/query-record': 10,
  '/v5/asset/withdraw/query-address': 10,
  '/v5/asset/coin/query-info': 28,
  '/v5/asset/transfer/inter-transfer': 50,
  '/v5/asset/transfer/universal-transfer': 10,
  '/v5/asset/transfer/query-inter-transfer-list': 50,
  '/v5/asset/transfer/query-universal-transfer-list': 25,
  '/v5/asset/transfer/query-account-coins-balance': 25,
  '/v5/asset/transfer/query-account-coin-balance': 50,
  '/v5/asset/deposit/query-record': 10,
  '/v5/asset/deposit/query-sub-member-record': 10,
  '/v5/account/wallet-balance': 1,
};
const USUAL_COST = 5;

/** A route that needs a key and takes no parameters but `names`. Wraps what it results in. */
const route =
  (names: readonly string[], resultOf: (context: RouteContext) => object) =>
  (context: RouteContext): object => {
    checkFields(context, names);
    return good(context.books, resultOf(context));
  };

const IN_PAGES = ['limit', 'cursor'];
const IN_WINDOWS = ['startTime', 'endTime', ...IN_PAGES];
const OF_TRANSFER = ['transferId', 'coin', 'amount', 'fromAccountType', 'toAccountType'];
const OF_TRANSFERS = ['transferId', 'coin', 'status', ...IN_WINDOWS];

export const bybit: Format = {
  exchange: 'bybit',
  books: {
    master: '290118',
    subs: ['592334'],
    networks: { open: 'ETH', suspended: 'ARBI' },
    ids: {
      withdrawal: (count) => String(131_629_076 + count),
      // A transfer has no other id than the caller's.
      transfer: (count, client_id) => client_id ?? String(count),
    },
  },
  keyOf,
  apiKeyOf: (request) => {
    const key = headerOf(request, 'api-key');
    return key === '' ? null : key;
  },
  authenticate(request, books) {
    const [key, time] = [headerOf(request, 'api-key'), headerOf(request, 'timestamp')];
    const sign = headerOf(request, 'sign');
    if ([key, time, sign].includes(''))
      throw ownRefusal(
        10001,
        `empty value: apiTimestamp[${time}] apiKey[${key}] apiSignature[${sign}]: openapi sign params error!`,
      );
    const account = [null, ...books.subs].find((each) => keyOf(each).api_key === key);
    if (account === undefined) throw new Refusal('key_unknown');
    checkTime(request, books.now());
    if (!isSame(sign, signatureOf(request, keyOf(account).secret))) throw new Refusal('signature');
    return account;
  },
  publicRoutes: ['GET /v5/market/time'],
  refusal,
  error,
  broken: {
    // Both come with status 200, and leave open what was done (10.2).
    error_500: wire(10016, 'Server error.'),
    done_then_500: wire(10000, 'Server Timeout'),
    malformed: '{"retCode":0,"retMsg":"success","result":{"id":"131629',
    rate_limited: {
      status: 200,
      body: { retCode: 10006, retMsg: 'Too many visits!' },
      // No source has the header; without it tests would wait for the client's own pause.
      headers: { 'retry-after': '1' },
    },
  },
  // Bybit counts each call apart; here all calls share two seconds of the library's rate.
  limits: { capacity: 100, units_per_second: 50 },
  costOf: ({ path }) => COSTS[path] ?? USUAL_COST,
  paths: {
    withdraw: '/v5/asset/withdraw/create',
    withdrawals: '/v5/asset/withdraw/query-record',
    deposits: '/v5/asset/deposit/query-record',
    terms: '/v5/asset/coin/query-info',
    balances: '/v5/asset/transfer/query-account-coins-balance',
    addressBook: '/v5/asset/withdraw/query-address',
    transfer: '/v5/asset/transfer/universal-transfer',
    transfers: '/v5/asset/transfer/query-universal-transfer-list',
  },
  page: PAGE,
  transfer_decimals: TRANSFER_DECIMALS,
  // What may be withdrawn shows them, and no state of a deposit does (8).
  unshown: ['deposits on hold'],

  routes: {
    'GET /v5/market/time': ({ books }) => {
      const now = String(books.now());
      const result = { timeSecond: now.slice(0, -3), timeNano: `${now}000000` };
      return good(books, result, 'OK');
    },
    'GET /v5/user/query-api': route([], ({ books, account }) =>
      keyView(books, account, keyOf(account).api_key),
    ),

    'GET /v5/asset/transfer/query-account-coins-balance': route(
      ['memberId', 'accountType', 'coin', 'withBonus'],
      reads.coinsBalance,
    ),
    'GET /v5/asset/transfer/query-account-coin-balance': route(
      [
        ...['memberId', 'toMemberId', 'accountType', 'toAccountType', 'coin', 'withBonus'],
        ...['withTransferSafeAmount', 'withLtvTransferSafeAmount'],
      ],
      reads.coinBalance,
    ),
    'GET /v5/asset/withdraw/withdrawable-amount': route(['coin'], reads.withdrawableAmount),
    'GET /v5/account/wallet-balance': route(['accountType', 'coin'], reads.walletBalance),
    'GET /v5/account/withdrawal': route(['coinName'], reads.availableWithdrawal),
    'GET /v5/asset/asset-overview': route(
      ['memberId', 'accountType', 'valuationCurrency'],
      reads.assetOverview,
    ),

    'GET /v5/asset/coin/query-info': route(['coin'], ({ books, parameters }) => {
      const coin = parameters.get('coin');
      const found = [...books.assets].filter(([asset]) => asset === (coin ?? asset));
      return { rows: found.map(([asset, terms]) => coinView(asset, terms)) };
    }),
    'GET /v5/asset/withdraw/query-address': route(
      ['coin', 'chain', 'addressType', ...IN_PAGES],
      (context) => {
        needPermission(context, 'Withdraw');
        // Here every entry is one on a chain, and none is an account of Bybit (1).
        const isOfBybit = context.parameters.get('addressType') === '1';
        const entries = isOfBybit ? [] : context.books.book.map(addressView);
        return pageOf(context, entries, { days: null });
      },
    ),
    'POST /v5/asset/withdraw/create': route(
      [
        ...['coin', 'chain', 'address', 'tag', 'amount', 'timestamp', 'forceChain', 'accountType'],
        ...['feeType', 'requestId', 'transactionPurpose', 'questionnaire'],
      ],
      withdraw,
    ),
    'POST /v5/asset/withdraw/cancel': route(['id'], cancel),
    'GET /v5/asset/withdraw/query-record': route(
      ['withdrawID', 'txID', 'coin', 'withdrawType', ...IN_WINDOWS],
      reads.withdrawals,
    ),

    'GET /v5/asset/deposit/query-record': route(['id', 'txID', 'coin', ...IN_WINDOWS], (context) =>
      reads.deposits(context, { account: context.account, within: false }),
    ),
    'GET /v5/asset/deposit/query-internal-record': route(
      ['txID', 'coin', ...IN_WINDOWS],
      (context) => reads.deposits(context, { account: context.account, within: true }),
    ),
    'GET /v5/asset/deposit/query-sub-member-record': route(
      ['id', 'subMemberId', 'txID', 'coin', ...IN_WINDOWS],
      (context) => {
        if (context.account !== null) throw new Refusal('master_only');
        const account = memberOf(context, 'subMemberId');
        return reads.deposits(context, { account, within: false });
      },
    ),

    'POST /v5/asset/transfer/inter-transfer': route(OF_TRANSFER, interTransfer),
    'POST /v5/asset/transfer/universal-transfer': route(
      [...OF_TRANSFER, 'fromMemberId', 'toMemberId'],
      universalTransfer,
    ),
    'GET /v5/asset/transfer/query-inter-transfer-list': route(OF_TRANSFERS, (context) => {
      needPermission(context, 'AccountTransfer');
      return reads.transfers(context, true);
    }),
    'GET /v5/asset/transfer/query-universal-transfer-list': route(OF_TRANSFERS, (context) => {
      needMemberTransfer(context);
      return reads.transfers(context, false);
    }),
  },
};

/** Of the query or the body as it was sent; neither host nor path is signed (14). */
function signatureOf(request: WireRequest, secret: string): string {
  const [time, key] = [headerOf(request, 'timestamp'), headerOf(request, 'api-key')];
  return createHmac('sha256', secret)
    .update(`${time}${key}${headerOf(request, 'recv-window')}${request.raw}`)
    .digest('hex');
}

function isSame(signature: string, expected: string): boolean {
  return (
    signature.length === expected.length &&
    timingSafeEqual(Buffer.from(signature), Buffer.from(expected))
  );
}

/** A clock that is a second ahead is refused, and one behind by more than the window (14). */
function checkTime(request: WireRequest, now: number): void {
  const text = headerOf(request, 'timestamp');
  const recvWindow = headerOf(request, 'recv-window');
  const window = recvWindow === '' ? USUAL_WINDOW_MS : Number(recvWindow);
  const time = /^[0-9]{13}$/.test(text) ? Number(text) : NaN;
  if (now - window <= time && time < now + AHEAD_MS) return;
  throw new Refusal(
    'clock',
    `req_timestamp[${text}],server_timestamp[${String(now)}],recv_window[${String(window)}]`,
  );
}
