/** OKX's requests and answers, with the shapes and limits that docs/okx-facts.md names. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { add, isPositive } from '../../../../../domain/money.ts';
import type { Account, Books, PoolName, TransferEnd } from '../books.ts';
import { OwnAnswer, type Format, type RouteContext, type WireRequest } from '../format.ts';
import { Refusal } from '../refusal.ts';
import { refusal, wire } from './okx-refusals.ts';
import {
  billsView,
  chainView,
  depositView,
  fundingView,
  maxWithdrawalView,
  POOL_OF,
  tradingView,
  transferView,
  typeOf,
  withdrawalState,
  withdrawalView,
  type Row,
} from './okx-views.ts';

const DAY = 86_400_000;
const PAGE = 100;
const TRANSFER_DECIMALS = 8;
const CLOCK_MS = 30_000;
const CANCELLABLE = ['0', '17', '19'];
const MASTER_UID = '44705892343619584';

const good = (data: readonly object[]): object => ({ code: '0', msg: '', data });
const ownRefusal = (code: string, text: string): OwnAnswer => new OwnAnswer(wire(code, text));

const keyOf = (account: Account) => ({
  api_key: `okx-key-of-${account ?? 'master'}`,
  secret: `secret-of-${account ?? 'master'}-0123456789`,
  password: `passphrase-of-${account ?? 'master'}`,
});

const apiKeyOf = ({ headers }: Pick<WireRequest, 'headers'>): string | null =>
  headers['ok-access-key']?.toString() ?? null;

/** Units of 110 ms, as the library counts them (section 2). */
const COSTS: Readonly<Record<string, number>> = {
  '/api/v5/asset/transfer': 5,
  '/api/v5/asset/transfer-state': 1,
  '/api/v5/asset/bills-history': 10,
  '/api/v5/account/balance': 2,
  '/api/v5/account/config': 4,
  '/api/v5/account/max-withdrawal': 1,
  '/api/v5/account/subaccount/max-withdrawal': 1,
  '/api/v5/asset/subaccount/balances': 10 / 3,
  '/api/v5/account/subaccount/balances': 10 / 3,
};
const USUAL_COST = 5 / 3;

export const okx: Format = {
  exchange: 'okx',
  books: {
    master: 'treasury',
    subs: ['hahatest1'],
    networks: { open: 'ERC20', suspended: 'Arbitrum One' },
    ids: {
      withdrawal: (count) => String(67_485 + count),
      transfer: (count) => String(754_147 + count),
    },
  },
  keyOf,
  apiKeyOf,
  authenticate(request, books) {
    const { headers } = request;
    const account = [null, ...books.subs].find((each) => keyOf(each).api_key === apiKeyOf(request));
    if (account === undefined) throw new Refusal('key_unknown');
    const { secret, password } = keyOf(account);
    if (headers['ok-access-passphrase'] !== password)
      throw ownRefusal('50105', 'Request header "OK-ACCESS-PASSPHRASE" incorrect.');
    const time = headers['ok-access-timestamp']?.toString() ?? '';
    checkTime(time, books.now());
    const signed = `${time}${request.method}${request.url}${request.body}`;
    const expected = createHmac('sha256', secret).update(signed).digest('base64');
    if (!isSame(headers['ok-access-sign']?.toString() ?? '', expected))
      throw new Refusal('signature');
    // These are keys of real trading.
    if (headers['x-simulated-trading'] !== undefined)
      throw ownRefusal('50101', 'APIKey does not match current environment.');
    if (request.method === 'POST' && !headers['content-type']?.includes('application/json'))
      throw ownRefusal('50006', 'Invalid Content-Type. Please use "application/JSON".');
    if (!books.permissions.read) throw new Refusal('permission', 'read');
    return account;
  },
  publicRoutes: ['GET /api/v5/public/time'],
  refusal,
  error: (code) => wire(code, 'Refused.'),
  broken: {
    error_500: wire('50026', 'System error. Try again later'),
    // It comes with status 400, and names neither success nor failure (10.4).
    done_then_500: wire(
      '50004',
      'API endpoint request timeout. (does not mean that the request was successful or failed, please check the request result).',
    ),
    malformed: '{"code":"0","data":[{"wdId":"674',
    // No source has the header; without it tests would wait for the client's own pause.
    rate_limited: {
      ...wire('50011', 'Rate limit reached.'),
      headers: { 'retry-after': '1' },
    },
  },
  limits: { capacity: 20, units_per_second: 10 },
  costOf: ({ path }) => COSTS[path] ?? USUAL_COST,
  paths: {
    withdraw: '/api/v5/asset/withdrawal',
    withdrawals: '/api/v5/asset/withdrawal-history',
    deposits: '/api/v5/asset/deposit-history',
    terms: '/api/v5/asset/currencies',
    balances: '/api/v5/asset/balances',
    addressBook: null,
    transfer: '/api/v5/asset/transfer',
    transfers: '/api/v5/asset/transfer-state',
  },
  page: PAGE,
  transfer_decimals: TRANSFER_DECIMALS,

  routes: {
    'GET /api/v5/public/time': ({ books }) => good([{ ts: String(books.now()) }]),
    'GET /api/v5/account/config': configView,

    'GET /api/v5/asset/balances': ({ books, account }) => good(fundingView(books, account)),
    'GET /api/v5/account/balance': ({ books, account }) => good(tradingView(books, account)),
    'GET /api/v5/account/max-withdrawal': ({ books, account }) =>
      good(maxWithdrawalView(books, account)),
    'GET /api/v5/asset/subaccount/balances': (context) =>
      good(fundingView(context.books, sub(context))),
    'GET /api/v5/account/subaccount/balances': (context) =>
      good(tradingView(context.books, sub(context))),
    'GET /api/v5/account/subaccount/max-withdrawal': (context) =>
      good(maxWithdrawalView(context.books, sub(context))),

    'GET /api/v5/asset/currencies': ({ books, parameters }) => {
      const wanted = parameters.get('ccy')?.split(',');
      return good(
        [...books.assets].flatMap(([asset, chains]) =>
          (wanted?.includes(asset) ?? true)
            ? chains.map((terms) => chainView(books, asset, terms))
            : [],
        ),
      );
    },
    'POST /api/v5/asset/withdrawal': withdraw,
    'POST /api/v5/asset/cancel-withdrawal': cancel,
    'GET /api/v5/asset/withdrawal-history': (context) => {
      const { books, account, parameters } = context;
      const rows = books
        .visible(books.withdrawals)
        .filter((each) => each.account === account)
        .map(withdrawalView);
      const found = filtered(context, rows, ['ccy', 'wdId', 'clientId', 'txId', 'state']);
      const isById = parameters.has('clientId') || parameters.has('wdId');
      if (isById && found.length === 0) throw new Refusal('not_found');
      return good(paged(context, found));
    },
    'GET /api/v5/asset/deposit-history': (context) => {
      const { books, account } = context;
      const rows = books.deposits.filter((each) => each.account === account).map(depositView);
      // It compares a hash as it is: whether it is more lenient is unproven (9).
      const found = filtered(context, rows, ['ccy', 'depId', 'fromWdId', 'txId', 'state']);
      return good(paged(context, found));
    },

    'POST /api/v5/asset/transfer': transfer,
    'GET /api/v5/asset/transfer-state': transferState,
    'GET /api/v5/asset/bills': (context) => good(bills(context, context.books.now() - 30 * DAY)),
    'GET /api/v5/asset/bills-history': (context) => good(bills(context, 0)),
  },
};

function configView({ books: { permissions }, account }: RouteContext): object {
  const perm = [
    ...(permissions.transfer ? ['trade'] : []),
    'read_only',
    // A sub-account cannot withdraw (3).
    ...(permissions.withdraw && account === null ? ['withdraw'] : []),
  ].join(',');
  const [uid, type] = account === null ? [MASTER_UID, '0'] : [`${MASTER_UID.slice(1)}7`, '1'];
  return good([
    { acctLv: '2', ip: '', kycLv: '3', label: '', mainUid: MASTER_UID, perm, type, uid },
  ]);
}

function withdraw(context: RouteContext): object {
  const { books, account, parameters } = context;
  if (account !== null)
    throw ownRefusal(
      '59504',
      "Sub-accounts don't support withdrawals. Please use your main account for withdrawals.",
    );
  const [asset, amount] = [needed(context, 'ccy'), needed(context, 'amt')];
  const [address = '', ...tags] = needed(context, 'toAddr').split(':');
  if (needed(context, 'dest') !== '4') throw new Refusal('parameter_invalid', 'dest');
  // A colon without a tag is an address that is not on the list (5).
  if (tags.length > 0 && tags.join('') === '') throw new Refusal('address_not_listed');
  const chain = parameters.get('chain') ?? mainChain(books, asset);
  if (!chain.startsWith(`${asset}-`)) throw new Refusal('unknown_network', chain);
  const made = books.withdraw(
    account,
    {
      client_id: clientId(context),
      asset,
      network: chain.slice(asset.length + 1),
      address,
      tag: tags.length === 0 ? null : tags.join(':'),
      amount,
    },
    'on_top',
  );
  const echo = { ccy: asset, amt: amount, chain, clientId: made.client_id ?? '' };
  return good([{ ...echo, wdId: made.id }]);
}

/** Without a chain OKX takes the main one of the currency. */
function mainChain(books: Books, asset: string): string {
  return `${asset}-${books.assets.get(asset)?.[0]?.network ?? ''}`;
}

function cancel(context: RouteContext): object {
  const { books, account } = context;
  if (!books.permissions.transfer) throw new Refusal('permission', 'trade');
  const wdId = needed(context, 'wdId');
  const found = books.withdrawals.find((each) => each.id === wdId && each.account === account);
  if (found === undefined) throw new Refusal('not_found');
  const state = withdrawalState(found);
  if (state === '-2') throw ownRefusal('58220', 'Withdrawal request already canceled.');
  if (!CANCELLABLE.includes(state)) throw ownRefusal('58216', 'Operation not allowed.');
  found.status = 'failed';
  found.exchange_status = '-2';
  const back = add(found.net_amount, found.fee);
  const { asset } = found;
  books.set(account, 'SPOT', asset, add(books.get(account, 'SPOT', asset), back));
  return good([{ wdId }]);
}

function transfer(context: RouteContext): object {
  const { books } = context;
  const [asset, amount] = [needed(context, 'ccy'), needed(context, 'amt')];
  if (!isPositive(amount)) throw ownRefusal('58114', 'Transfer amount must be greater than 0');
  const [source, destination] = endsOf(context);
  const request = { client_id: clientId(context), source, destination, asset, amount };
  const made = books.transfer(request, { decimals: TRANSFER_DECIMALS });
  const { from, to, clientId: echoed } = transferView(made);
  return good([{ transId: made.id, ccy: asset, clientId: echoed, from, amt: amount, to }]);
}

/** The ends of a transfer with the key of the context's account (section 3). */
function endsOf(context: RouteContext): readonly [source: TransferEnd, destination: TransferEnd] {
  const { account, parameters } = context;
  const [from, to] = [poolOf(context, 'from'), poolOf(context, 'to')];
  const own = (pool: PoolName): TransferEnd => ({ account, pool });
  switch (parameters.get('type') ?? '0') {
    case '0':
      if (from === to)
        throw ownRefusal('58123', 'The From parameter cannot be the same as the To parameter.');
      return [own(from), own(to)];
    case '1':
      return [own(from), { account: sub(context), pool: to }];
    case '2':
      return [{ account: sub(context), pool: from }, own(to)];
    default:
      throw ownRefusal(
        '58127',
        "Main account API key does not support current transfer 'type' parameter.",
      );
  }
}

/** Transfers of the last two weeks, by their id and their type. */
function transferState(context: RouteContext): object {
  const { books, account, parameters } = context;
  const [id, type] = [parameters.get('transId'), parameters.get('type') ?? '0'];
  const client = id === null ? needed(context, 'clientId') : null;
  const found = books
    .visible(books.transfers)
    .filter((each) => each.time >= books.now() - 14 * DAY && typeOf(each) === type)
    .filter(({ source, destination }) => [source.account, destination.account].includes(account))
    .filter((each) => (id === null ? each.client_id === client : each.id === id));
  if (found.length === 0) throw new Refusal('not_found');
  return good(found.map(transferView));
}

function bills(context: RouteContext, since: number): readonly object[] {
  const { books, account } = context;
  const rows = billsView(books, account).filter(({ ts }) => Number(ts) >= since);
  return paged(context, filtered(context, rows, ['ccy', 'type', 'clientId']));
}

function filtered(
  { parameters }: RouteContext,
  rows: readonly Row[],
  names: readonly string[],
): readonly Row[] {
  return rows.filter((row) =>
    names.every((name) => !parameters.has(name) || row[name] === parameters.get(name)),
  );
}

/** The newest first; `after` takes the older ones alone, `before` the newer ones (section 9). */
function paged({ parameters }: RouteContext, rows: readonly Row[]): readonly Row[] {
  const limit = Number(parameters.get('limit') ?? PAGE);
  if (!Number.isInteger(limit) || limit < 1 || limit > PAGE)
    throw new Refusal('parameter_invalid', 'limit');
  const older = Number(parameters.get('after') ?? Number.POSITIVE_INFINITY);
  const newer = Number(parameters.get('before') ?? Number.NEGATIVE_INFINITY);
  return [...rows]
    .reverse()
    .filter(({ ts }) => Number(ts) < older && Number(ts) > newer)
    .sort((left, right) => Number(right.ts) - Number(left.ts))
    .slice(0, limit);
}

function clientId({ parameters }: RouteContext): string | null {
  const id = parameters.get('clientId');
  if (id !== null && !/^[A-Za-z0-9]{1,32}$/.test(id))
    throw new Refusal('parameter_invalid', 'clientId');
  return id;
}

function poolOf(context: RouteContext, name: string): PoolName {
  const pool = POOL_OF[needed(context, name)];
  if (pool === undefined) throw new Refusal('parameter_invalid', name);
  return pool;
}

/** The sub-account that the master's request names. */
function sub(context: RouteContext): string {
  if (context.account !== null) throw new Refusal('master_only');
  const name = needed(context, 'subAcct');
  if (!context.books.exists(name)) throw new Refusal('unknown_account');
  return name;
}

/** A parameter that must be there. */
function needed({ parameters }: RouteContext, name: string): string {
  const value = parameters.get(name);
  if (value === null || value === '') throw new Refusal('parameter_missing', name);
  return value;
}

function isSame(signature: string, expected: string): boolean {
  return (
    signature.length === expected.length &&
    timingSafeEqual(Buffer.from(signature), Buffer.from(expected))
  );
}

function checkTime(text: string, now: number): void {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/.test(text))
    throw ownRefusal('50112', 'Invalid OK-ACCESS-TIMESTAMP.');
  if (Math.abs(now - Date.parse(text)) > CLOCK_MS) throw new Refusal('clock');
}
