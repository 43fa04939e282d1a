/** Binance's requests and answers, with the shapes and limits that it documents. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Account, Books, Deposit, PoolName, Transfer, Withdrawal } from '../books.ts';
import { OwnAnswer, type Format, type RouteContext, type WireRequest } from '../format.ts';
import { Refusal } from '../refusal.ts';
import { refusal, wire } from './binance-refusals.ts';

const DAY = 86_400_000;
const NETWORKS = { open: 'ETH', suspended: 'SUSPENDED' };
const WITHDRAWAL_STATUS = { pending: '4', completed: '6', failed: '5' };
const DEPOSIT_STATUS = { pending: '0', credited: '6', completed: '1', failed: '2' };
const TRANSFER_STATUS = { pending: 'PROCESS', completed: 'SUCCESS', failed: 'FAILURE' };
const TRANSFER_DECIMALS = 8;
const PAGE = 1_000;

const keyOf = (account: Account) => ({
  api_key: `binance-key-of-${account ?? 'master'}`,
  secret: `secret-of-${account ?? 'master'}-0123456789`,
});

const apiKeyOf = ({ headers }: Pick<WireRequest, 'headers'>): string | null =>
  headers['x-mbx-apikey']?.toString() ?? null;

const ownRefusal = (code: number, text: string): OwnAnswer => new OwnAnswer(wire(400, code, text));

export const binance: Format = {
  exchange: 'binance',
  books: {
    master: 'master@example.com',
    subs: ['sub-a@example.com'],
    networks: NETWORKS,
    ids: {
      withdrawal: () => randomBytes(16).toString('hex'),
      transfer: (count) => String(11_945_860_693 + count),
    },
  },
  keyOf,
  apiKeyOf,
  authenticate(request, books) {
    const account = [null, ...books.subs].find((each) => keyOf(each).api_key === apiKeyOf(request));
    if (account === undefined) throw new Refusal('key_unknown');
    const [signed = '', signature = ''] = request.raw.split('&signature=');
    const expected = createHmac('sha256', keyOf(account).secret).update(signed).digest('hex');
    if (!isSame(signature, expected)) throw new Refusal('signature');
    checkTime(request.parameters, books.now());
    if (!books.permissions.read) throw new Refusal('permission', 'read');
    return account;
  },
  publicRoutes: ['GET /api/v3/time'],
  refusal,
  error: (code) => wire(400, Number(code), 'Refused.'),
  broken: {
    error_500: wire(500, -1000, 'An unknown error occurred while processing the request.'),
    done_then_500: wire(
      500,
      -1007,
      'Timeout waiting for response from backend server. Send status unknown; execution status unknown.',
    ),
    malformed: '{"id": "7213',
    rate_limited: { ...wire(429, -1003, 'Too many requests.'), headers: { 'retry-after': '1' } },
  },
  limits: { capacity: 100, units_per_second: 20 },
  costOf: ({ path }) => (path.endsWith('/address/list') ? 10 : 1),
  paths: {
    withdraw: '/sapi/v1/capital/withdraw/apply',
    withdrawals: '/sapi/v1/capital/withdraw/history',
    deposits: '/sapi/v1/capital/deposit/hisrec',
    terms: '/sapi/v1/capital/config/getall',
    balances: '/api/v3/account',
    addressBook: '/sapi/v1/capital/withdraw/address/list',
    transfer: '/sapi/v1/sub-account/universalTransfer',
    transfers: '/sapi/v1/sub-account/universalTransfer',
  },
  page: PAGE,
  transfer_decimals: TRANSFER_DECIMALS,

  routes: {
    'GET /api/v3/time': ({ books }) => ({ serverTime: books.now() }),
    'GET /sapi/v1/account/apiRestrictions': ({ books: { permissions } }) => ({
      enableWithdrawals: permissions.withdraw,
      permitsUniversalTransfer: permissions.transfer,
    }),

    'GET /api/v3/account': ({ books, account }) => ({ balances: spotView(books, account) }),
    'GET /fapi/v3/balance': ({ books, account }) =>
      books.pools(account, 'USDT_FUTURE').map(({ asset, amount }) => ({
        asset,
        balance: amount,
        availableBalance: amount,
        maxWithdrawAmount: amount,
      })),
    'POST /sapi/v1/asset/get-funding-asset': ({ books, account }) =>
      books.pools(account, 'FUNDING').map(({ asset, amount, locked }) => ({
        asset,
        free: amount,
        locked: '0',
        freeze: locked,
        withdrawing: '0.25',
        btcValuation: '0',
      })),
    'GET /sapi/v4/sub-account/assets': (context) => ({
      balances: spotView(context.books, sub(context, 'email')).map((each) => ({
        ...each,
        freeze: '0',
        withdrawing: '0',
      })),
    }),
    'GET /sapi/v2/sub-account/futures/account': (context) => {
      if (needed(context, 'futuresType') !== '1')
        throw new Refusal('parameter_invalid', 'futuresType');
      const assets = context.books.pools(sub(context, 'email'), 'USDT_FUTURE');
      return {
        futureAccountResp: {
          assets: assets.map(({ asset, amount }) => ({
            asset,
            walletBalance: amount,
            maxWithdrawAmount: amount,
          })),
        },
      };
    },

    'GET /sapi/v1/capital/config/getall': ({ books }) =>
      [...books.assets].map(([coin, networks]) => ({
        coin,
        free: '0',
        networkList: networks.map(({ network, enabled, fee, min, max, step, ...rest }) => ({
          coin,
          network,
          withdrawEnable: enabled,
          withdrawFee: fee,
          withdrawMin: min,
          withdrawMax: max ?? '0',
          withdrawIntegerMultiple: step ?? '0',
          addressRegex: rest.address_pattern === null ? '' : `^${rest.address_pattern}$`,
          memoRegex: '',
        })),
      })),
    'GET /sapi/v1/capital/withdraw/address/list': ({ books }) =>
      books.book.map(({ label, address, tag, asset, network, verified }) => ({
        address,
        addressTag: tag ?? '',
        coin: asset ?? '',
        network: network ?? '',
        whiteStatus: verified,
        name: label,
      })),

    'POST /sapi/v1/capital/withdraw/apply': withdraw,
    'GET /sapi/v1/capital/withdraw/history': (context) => {
      const { books, account } = context;
      const client = context.parameters.get('withdrawOrderId');
      const [from, to] = period(context, client === null ? 90 : 7);
      const found = books
        .visible(books.withdrawals)
        .filter((each) => each.account === account && each.time >= from && each.time <= to)
        .filter((each) => client === null || each.client_id === client);
      const shown = client === null ? byOffset(context, newestFirst(found)) : found;
      return shown.map(withdrawalView);
    },
    'GET /sapi/v1/capital/deposit/hisrec': (context) => {
      const { books, account, parameters } = context;
      const [from, to] = period(context, 90);
      const [coin, txId] = [parameters.get('coin'), parameters.get('txId')];
      const found = books.deposits
        .filter((each) => each.account === account && each.time >= from && each.time <= to)
        .filter(
          (each) =>
            (coin === null || each.asset === coin) &&
            (txId === null || each.tx.toLowerCase() === txId.toLowerCase()),
        );
      return (txId === null ? byOffset(context, newestFirst(found)) : found).map(depositView);
    },

    'GET /sapi/v1/sub-account/list': (context) => {
      masterOnly(context);
      const shown = byPage(context, context.books.subs, { usual: 1, most: 200 });
      return { subAccounts: shown.map((email) => ({ email, isFreeze: false })) };
    },
    'POST /sapi/v1/sub-account/universalTransfer': transfer,
    'GET /sapi/v1/sub-account/universalTransfer': transfersIn,
  },
};

function withdraw(context: RouteContext): object {
  const { books, account, parameters } = context;
  // Without the wallet Binance takes the one that is selected on its website.
  if (parameters.get('walletType') !== '0') throw new Refusal('insufficient_funds');
  const request = {
    client_id: parameters.get('withdrawOrderId'),
    asset: needed(context, 'coin'),
    network: parameters.get('network') ?? '',
    address: needed(context, 'address'),
    tag: parameters.get('addressTag'),
    amount: needed(context, 'amount'),
  };
  return { id: books.withdraw(account, request, 'included').id };
}

function transfer(context: RouteContext): object {
  masterOnly(context);
  const { books, parameters } = context;
  const client_id = parameters.get('clientTranId') ?? '';
  if (!/^[A-Za-z0-9]{0,32}$/.test(client_id))
    throw ownRefusal(-1100, 'Illegal characters found in a parameter.');
  const end = (email: string, pool: string) => ({
    account: parameters.has(email) ? sub(context, email) : null,
    pool: poolOf(context, pool),
  });
  const request = {
    client_id,
    source: end('fromEmail', 'fromAccountType'),
    destination: end('toEmail', 'toAccountType'),
    asset: needed(context, 'asset'),
    amount: needed(context, 'amount'),
  };
  const { id } = books.transfer(request, { decimals: TRANSFER_DECIMALS });
  return { tranId: Number(id), clientTranId: client_id };
}

function transfersIn(context: RouteContext): object {
  masterOnly(context);
  const { books, parameters } = context;
  const [from, to] = period(context, 7);
  const [sends, receives] = [parameters.has('fromEmail'), parameters.has('toEmail')];
  if (sends && receives) throw ownRefusal(-1128, 'Combination of optional parameters invalid.');
  const sender = sends ? sub(context, 'fromEmail') : null;
  const receiver = receives ? sub(context, 'toEmail') : null;
  const client = parameters.get('clientTranId');
  const found = books
    .visible(books.transfers)
    .filter((each) => each.time >= from && each.time <= to)
    .filter(({ source, destination }) =>
      receives ? destination.account === receiver : source.account === sender,
    )
    .filter((each) => client === null || each.client_id === client);
  const shown =
    client === null ? byPage(context, newestFirst(found), { usual: 500, most: 500 }) : found;
  return { result: shown.map((each) => transferView(books, each)), totalCount: found.length };
}

/** A withdrawal as the history shows it. */
export function withdrawalView(withdrawal: Withdrawal) {
  const { id, asset, network, address, tag, client_id, status } = withdrawal;
  return {
    ...{ id, coin: asset, network, address, addressTag: tag ?? '' },
    amount: withdrawal.net_amount,
    transactionFee: withdrawal.fee,
    transferType: withdrawal.within ? 1 : 0,
    status: Number(withdrawal.exchange_status ?? WITHDRAWAL_STATUS[status]),
    txId: withdrawal.tx ?? '',
    ...(client_id === null ? {} : { withdrawOrderId: client_id }),
    applyTime: new Date(withdrawal.time).toISOString().slice(0, 19).replace('T', ' '),
  };
}

function depositView({ id, asset, network, address, tag, amount, ...deposit }: Deposit): object {
  return {
    ...{ id, coin: asset, network, address, addressTag: tag ?? '', amount },
    txId: deposit.tx,
    insertTime: deposit.time,
    transferType: 0,
    status: Number(deposit.exchange_status ?? DEPOSIT_STATUS[deposit.status]),
  };
}

function transferView({ master }: Books, transfer: Transfer): object {
  const { source, destination, asset, amount, status } = transfer;
  return {
    tranId: Number(transfer.id),
    fromEmail: source.account ?? master,
    toEmail: destination.account ?? master,
    fromAccountType: source.pool,
    toAccountType: destination.pool,
    clientTranId: transfer.client_id ?? '',
    ...{ asset, amount },
    status: transfer.exchange_status ?? TRANSFER_STATUS[status],
    createTimeStamp: transfer.time,
  };
}

function spotView(books: Books, account: Account) {
  return books
    .pools(account, 'SPOT')
    .map(({ asset, amount, locked }) => ({ asset, free: amount, locked }));
}

function isSame(signature: string, expected: string): boolean {
  return (
    signature.length === expected.length &&
    timingSafeEqual(Buffer.from(signature), Buffer.from(expected))
  );
}

function checkTime(parameters: URLSearchParams, now: number): void {
  const timestamp = Number(parameters.get('timestamp'));
  const window = Number(parameters.get('recvWindow') ?? 5_000);
  if (window > 60_000) throw ownRefusal(-1131, 'recvWindow must be less than 60000');
  if (!(timestamp < now + 1_000 && now - timestamp <= window)) throw new Refusal('clock');
}

/** A parameter that must be there. */
function needed({ parameters }: RouteContext, name: string): string {
  const value = parameters.get(name);
  if (value === null || value === '') throw new Refusal('parameter_missing', name);
  return value;
}

function poolOf(context: RouteContext, name: string): PoolName {
  const value = needed(context, name);
  if (value === 'SPOT' || value === 'USDT_FUTURE') return value;
  throw new Refusal('parameter_invalid', name);
}

function masterOnly({ account }: RouteContext): void {
  if (account !== null) throw new Refusal('master_only');
}

function sub(context: RouteContext, name: string): string {
  masterOnly(context);
  const email = needed(context, name);
  if (!context.books.exists(email)) throw new Refusal('unknown_account');
  return email;
}

function newestFirst<T extends { readonly time: number }>(rows: readonly T[]): readonly T[] {
  return [...rows].reverse().sort((left, right) => right.time - left.time);
}

function byOffset<T>(context: RouteContext, rows: readonly T[]): readonly T[] {
  const limit = whole(context, 'limit', { least: 1, usual: PAGE, most: PAGE });
  const offset = whole(context, 'offset', { least: 0, usual: 0 });
  return rows.slice(offset, offset + limit);
}

function byPage<T>(
  context: RouteContext,
  rows: readonly T[],
  limits: { readonly usual: number; readonly most: number },
): readonly T[] {
  const limit = whole(context, 'limit', { least: 1, ...limits });
  const page = whole(context, 'page', { least: 1, usual: 1 });
  return rows.slice((page - 1) * limit, page * limit);
}

/** A parameter that is a whole number. */
function whole(
  { parameters }: RouteContext,
  name: string,
  limits: { readonly least: number; readonly usual: number; readonly most?: number },
): number {
  const value = Number(parameters.get(name) ?? limits.usual);
  if (Number.isInteger(value) && value >= limits.least && value <= (limits.most ?? value))
    return value;
  throw new Refusal('parameter_invalid', name);
}

/** "Less than" so many days; by default as many until now. */
function period({ books, parameters }: RouteContext, days: number): readonly [number, number] {
  const to = Number(parameters.get('endTime') ?? books.now());
  const from = Number(parameters.get('startTime') ?? to - days * DAY + 1);
  if (to - from >= days * DAY)
    throw ownRefusal(-4047, `Time interval must be within 0-${String(days)} days`);
  return [from, to];
}
