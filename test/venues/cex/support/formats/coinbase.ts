/** Coinbase's requests and answers, with the shapes and limits of docs/coinbase-facts.md. */
import { isPositive } from '../../../../../domain/money.ts';
import { OwnAnswer, type Format, type RouteContext } from '../format.ts';
import { Refusal } from '../refusal.ts';
import { refusal, wire } from './coinbase-refusals.ts';
import { apiKeyOf, authenticate, keyOf, uuidOf } from './coinbase-tokens.ts';
import {
  accountView,
  brokerageView,
  currencyView,
  keyView,
  secondsOf,
  sendView,
  timeOf,
  transactionsOf,
  walletId,
  walletsOf,
  type Row,
  type Wallet,
} from './coinbase-views.ts';

/** The sizes of a page of v2 and v3: without a limit, and at most (4, 10). */
const V2_PAGE = { usual: 25, most: 100 };
const V3_PAGE = { usual: 49, most: 250 };
/** How many records a page of v2 lacks, though others follow: a short page is not the last (10). */
const MISSING = 7;
/** As Coinbase requires of `idem`: a UUID of version 4 in lower case (5). */
const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const TRANSACTIONS = `/v2/accounts/${walletId(null, 'USDC')}/transactions`;

export const coinbase: Format = {
  exchange: 'coinbase',
  books: {
    master: 'treasury',
    // No transfer to a portfolio can be found again, so none is bound (12).
    subs: [],
    networks: { open: 'ethereum', suspended: 'arbitrum' },
    ids: {
      withdrawal: (count) => uuidOf(`send ${String(count)}`),
      transfer: (count) => String(count),
    },
  },
  keyOf,
  apiKeyOf,
  authenticate,
  publicRoutes: ['GET /v2/time', 'GET /api/v3/brokerage/time', 'GET /v2/currencies/crypto'],
  refusal,
  error: (code) => wire(code, 'Refused.'),
  broken: {
    error_500: wire('internal_server_error', 'An internal error has occurred.'),
    done_then_500: { ...wire('internal_server_error', 'Internal server error'), status: 503 },
    malformed: '{"data":{"id":"3c04e35e-8e5a',
    // No source has the header; without it tests would wait for the client's own pause.
    rate_limited: {
      ...wire('rate_limit_exceeded', 'Too many requests'),
      headers: { 'retry-after': '1' },
    },
  },
  // Units of 34 ms, as the library counts them (17): v3 takes 30 of them in a second.
  limits: { capacity: 30, units_per_second: 30 },
  costOf: ({ path }) => (path.startsWith('/v2/') ? 10.6 : 1),
  paths: {
    withdraw: TRANSACTIONS,
    withdrawals: TRANSACTIONS,
    deposits: TRANSACTIONS,
    terms: '/v2/accounts',
    balances: '/api/v3/brokerage/accounts',
    addressBook: null,
    transfer: null,
    transfers: null,
  },
  page: V2_PAGE.most,
  transfer_decimals: 0,
  fee_limit: '0.25',
  unshown: [
    'smallest amount',
    'networks',
    'address book',
    'reason of a wrong clock',
    'deposits on hold',
  ],

  routes: {
    'GET /v2/time': ({ books }) => ({
      data: { epoch: secondsOf(books.now()), iso: timeOf(books.now()) },
    }),
    'GET /api/v3/brokerage/time': ({ books }) => ({
      iso: timeOf(books.now()),
      epochSeconds: String(secondsOf(books.now())),
      epochMillis: String(books.now()),
    }),
    'GET /v2/currencies/crypto': ({ books }) => ({
      data: [...books.assets].map(([asset, networks]) => currencyView(asset, networks)),
    }),
    'GET /api/v3/brokerage/key_permissions': (context) => {
      needView(context);
      return keyView(context.books);
    },
    'GET /api/v3/brokerage/accounts': (context) => {
      needView(context);
      return brokerageAccounts(context);
    },

    'GET /v2/accounts': (context) => {
      needView(context);
      const { books, account } = context;
      const rows = walletsOf(books, account).map((each) => accountView(books, each));
      return pageOf(context, rows, '/v2/accounts');
    },
    'GET /v2/accounts/{}': (context) => {
      needView(context);
      return { data: accountView(context.books, walletOf(context)) };
    },
    'GET /v2/accounts/{}/transactions': (context) => {
      needView(context);
      const { books, account } = context;
      const wallet = walletOf(context);
      const rows = transactionsOf(books, account, wallet);
      return pageOf(context, rows, `/v2/accounts/${wallet.id}/transactions`);
    },
    'GET /v2/accounts/{}/transactions/{}': (context) => {
      needView(context);
      const { books, account, path } = context;
      const rows = transactionsOf(books, account, walletOf(context));
      const found = rows.find(({ id }) => id === path[1]);
      if (found === undefined) throw new Refusal('not_found');
      return { data: found };
    },
    'POST /v2/accounts/{}/transactions': send,
  },
};

function needView({ books }: RouteContext): void {
  if (!books.permissions.read) throw new Refusal('permission');
}

/** The wallet that the path names: by its id, or by its asset, which means the wallet of it (4). */
function walletOf({ books, account, path: [id] }: RouteContext): Wallet {
  const wallets = walletsOf(books, account);
  const found =
    wallets.find((each) => each.id === id) ??
    wallets.find(({ type, asset }) => type === 'wallet' && asset === id);
  if (found === undefined) throw new Refusal('not_found');
  return found;
}

/** Sends. `amount` is what arrives: the fee of the books comes on top, and no answer shows it. */
function send(context: RouteContext): OwnAnswer {
  const { books, account, parameters } = context;
  if (!books.permissions.withdraw) throw new Refusal('permission');
  const { id, asset, type } = walletOf(context);
  // A send must not depend on which wallet of an asset Coinbase takes for the primary one (4).
  if (id !== context.path[0] || type !== 'wallet') throw new Refusal('not_found');
  if (needed(context, 'type') !== 'send') throw new Refusal('parameter_invalid', 'type');
  if (needed(context, 'currency') !== asset) throw new Refusal('parameter_invalid', 'currency');
  const client_id = idemOf(context);
  const earlier = books.withdrawals.find(
    (each) => client_id !== null && each.client_id === client_id && each.account === account,
  );
  // Whether the status is then 200 or 201 is unproven (21).
  if (earlier !== undefined) return made(200, sendView(earlier));
  const request = {
    ...{ client_id, asset, address: needed(context, 'to'), amount: amountOf(context) },
    // The default network of the asset.
    network: parameters.get('network') ?? books.assets.get(asset)?.[0]?.network ?? '',
    tag: parameters.get('destination_tag'),
  };
  const sent = books.withdraw(account, request, 'on_top');
  return made(201, sendView({ ...sent, status: 'pending' }));
}

function made(status: number, data: object): OwnAnswer {
  return new OwnAnswer({ status, body: { data } });
}

function idemOf({ parameters }: RouteContext): string | null {
  const idem = parameters.get('idem');
  if (idem !== null && !UUID_V4.test(idem)) throw new Refusal('parameter_invalid', 'idem');
  return idem;
}

function amountOf(context: RouteContext): string {
  const amount = needed(context, 'amount');
  if (!/^[0-9]+(\.[0-9]+)?$/.test(amount) || !isPositive(amount))
    throw new Refusal('parameter_invalid', 'amount');
  return amount;
}

/** A page of v2: the records after `starting_after`. The end has no `next_uri`. */
function pageOf(context: RouteContext, rows: readonly Row[], path: string): object {
  const { parameters } = context;
  const limit = limitOf(context, V2_PAGE);
  const order = parameters.get('order') ?? 'desc';
  if (!['asc', 'desc'].includes(order)) throw new Refusal('parameter_invalid', 'order');
  const after = parameters.get('starting_after');
  const ordered = order === 'asc' ? [...rows].reverse() : rows;
  const last = ordered.findIndex(({ id }) => id === after);
  if (after !== null && last < 0) throw new Refusal('parameter_invalid', 'starting_after');
  const rest = ordered.slice(last + 1);
  const data = rest.slice(0, rest.length > limit ? Math.max(1, limit - MISSING) : limit);
  const next = rest.length > data.length ? data.at(-1) : undefined;
  return {
    pagination: {
      ...{ ending_before: null, starting_after: after, limit, order, previous_uri: null },
      next_uri:
        next === undefined ? null : `${path}?limit=${String(limit)}&starting_after=${next.id}`,
    },
    data,
  };
}

/** A page of v3: the accounts after the cursor, which is an id here. */
function brokerageAccounts(context: RouteContext): object {
  const { books, account, parameters } = context;
  const limit = limitOf(context, V3_PAGE);
  const wallets = walletsOf(books, account).filter(
    ({ type, isUsed }) => type === 'wallet' && isUsed,
  );
  const cursor = parameters.get('cursor') ?? '';
  const last = wallets.findIndex(({ id }) => id === cursor);
  if (cursor !== '' && last < 0) throw new Refusal('parameter_invalid', 'cursor');
  const shown = wallets.slice(last + 1, last + 1 + limit);
  const has_next = last + 1 + shown.length < wallets.length;
  return {
    accounts: shown.map(brokerageView),
    has_next,
    cursor: has_next ? (shown.at(-1)?.id ?? '') : '',
    size: shown.length,
  };
}

function limitOf(
  { parameters }: RouteContext,
  { usual, most }: { readonly usual: number; readonly most: number },
): number {
  const limit = Number(parameters.get('limit') ?? usual);
  if (!Number.isInteger(limit) || limit < 1 || limit > most)
    throw new Refusal('parameter_invalid', 'limit');
  return limit;
}

/** A parameter that must be there. */
function needed({ parameters }: RouteContext, name: string): string {
  const value = parameters.get(name);
  if (value === null || value === '') throw new Refusal('parameter_missing', name);
  return value;
}
