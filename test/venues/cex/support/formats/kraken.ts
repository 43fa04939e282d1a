/** Kraken's requests and answers, with the shapes and limits of docs/kraken-facts.md. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { add, compare, isMultiple, subtract } from '../../../../../domain/money.ts';
import type { Account, BookEntry, Books, NetworkTerms } from '../books.ts';
import { OwnAnswer, type Format, type RouteContext, type WireRequest } from '../format.ts';
import { Refusal } from '../refusal.ts';
import { refusal, wire } from './kraken-refusals.ts';
import {
  addressView,
  altnameOf,
  assetView,
  depositView,
  idOf,
  keyView,
  methodOf,
  methodView,
  networkOf,
  secondsOf,
  withdrawalView,
} from './kraken-views.ts';

/** The sizes of a page that a source names: 25 of deposits without a limit, and 50 at most (17). */
const [USUAL_PAGE, LARGEST_PAGE] = [25, 50];

const keyOf = (account: Account) => ({
  api_key: `kraken-key-of-${account ?? 'master'}`,
  secret: Buffer.from(`secret-of-${account ?? 'master'}-0123456789`).toString('base64'),
});

const apiKeyOf = ({ headers }: Pick<WireRequest, 'headers'>): string | null =>
  headers['api-key']?.toString() ?? null;

const ok = (result: unknown): object => ({ error: [], result });

export const kraken: Format = {
  exchange: 'kraken',
  books: {
    master: 'treasury',
    // A sub-account has a key of its own, and the master's key shows nothing of it (15).
    subs: [],
    networks: { open: 'Ethereum', suspended: 'Arbitrum One' },
    ids: {
      withdrawal: () => `FT${randomBytes(3).toString('hex')}-${randomBytes(11).toString('hex')}`,
      transfer: (count) => String(count),
    },
  },
  keyOf,
  apiKeyOf,
  authenticate(request, books) {
    const account = [null, ...books.subs].find((each) => keyOf(each).api_key === apiKeyOf(request));
    if (account === undefined) throw new Refusal('key_unknown');
    const { api_key, secret } = keyOf(account);
    const nonce = request.parameters.get('nonce') ?? '';
    const signature = request.headers['api-sign']?.toString() ?? '';
    if (!isSame(signature, signatureOf(request, { nonce, secret }))) throw new Refusal('signature');
    checkNonce(books, { api_key, nonce });
    return account;
  },
  publicRoutes: ['GET /0/public/Time', 'GET /0/public/Assets'],
  refusal,
  error: wire,
  broken: {
    // Pages of Cloudflare, which also came although the request was done (8).
    error_500: { status: 520, body: '<html><title>520: unknown error</title></html>' },
    done_then_500: { status: 504, body: '<html><title>504: Gateway time-out</title></html>' },
    malformed: '{"error":[],"result":{"refid":"FTQcuak-V6Z',
    rate_limited: wire('EAPI:Rate limit exceeded'),
  },
  // The lowest tier (12).
  limits: { capacity: 15, units_per_second: 0.33 },
  costOf: ({ path }) => (!path.includes('/private/') ? 0 : path.endsWith('/Ledgers') ? 2 : 1),
  paths: {
    withdraw: '/0/private/Withdraw',
    withdrawals: '/0/private/WithdrawStatus',
    deposits: '/0/private/DepositStatus',
    terms: '/0/private/WithdrawInfo',
    balances: '/0/private/BalanceEx',
    addressBook: '/0/private/WithdrawAddresses',
    transfer: null,
    transfers: null,
  },
  page: LARGEST_PAGE,
  transfer_decimals: 0,

  routes: {
    'GET /0/public/Time': ({ books }) =>
      ok({
        unixtime: secondsOf(books.now()),
        rfc1123: new Date(books.now()).toUTCString(),
      }),
    'GET /0/public/Assets': ({ books }) =>
      ok(
        Object.fromEntries(
          [...books.assets].map(([asset, networks]) => [idOf(asset), assetView(asset, networks)]),
        ),
      ),
    'POST /0/private/GetApiKeyInfo': ({ books, account }) =>
      ok(keyView(books, keyOf(account).api_key)),
    'POST /0/private/BalanceEx': (context) => {
      needPermission(context, 'read');
      const pools = context.books
        .pools(context.account, 'SPOT')
        .map(
          ({ asset, amount, locked }) =>
            [idOf(asset), { balance: add(amount, locked), hold_trade: locked }] as const,
        );
      return ok(Object.fromEntries(pools));
    },
    'POST /0/private/WithdrawMethods': (context) => {
      needPermission(context, 'read', 'withdraw');
      const asset = assetOf(context, false);
      const shown = [...context.books.assets].filter(([name]) => asset === null || name === asset);
      return ok(
        shown.flatMap(([name, networks]) => networks.map((terms) => methodView(name, terms))),
      );
    },
    'POST /0/private/WithdrawAddresses': (context) => {
      needPermission(context, 'read', 'withdraw');
      const asset = assetOf(context, false);
      return ok(
        context.books.book
          .filter((each) => asset === null || (each.asset ?? asset) === asset)
          .map((each) => addressView(context.books, each)),
      );
    },
    'POST /0/private/WithdrawInfo': withdrawInfo,
    'POST /0/private/Withdraw': withdraw,
    'POST /0/private/WithdrawCancel': cancel,
    'POST /0/private/WithdrawStatus': (context) => {
      const { books, account } = context;
      if (!books.permissions.read && !books.permissions.withdraw) throw new Refusal('permission');
      const own = books.visible(books.withdrawals).filter((each) => each.account === account);
      return ok(pageOf(context, own, { name: 'withdrawals', view: withdrawalView }));
    },
    'POST /0/private/DepositStatus': (context) => {
      needPermission(context, 'read');
      const own = context.books.deposits.filter((each) => each.account === context.account);
      return ok(pageOf(context, own, { name: 'deposit', view: depositView }));
    },
  },
};

/** API-Sign (11). */
function signatureOf(
  { path, body }: WireRequest,
  { nonce, secret }: { readonly nonce: string; readonly secret: string },
): string {
  const digest = createHash('sha256').update(`${nonce}${body}`).digest();
  return createHmac('sha512', Buffer.from(secret, 'base64'))
    .update(Buffer.concat([Buffer.from(path), digest]))
    .digest('base64');
}

function isSame(signature: string, expected: string): boolean {
  return (
    signature.length === expected.length &&
    timingSafeEqual(Buffer.from(signature), Buffer.from(expected))
  );
}

/** The window of the key is 0: each nonce is above all that were accepted before (11). */
function checkNonce(
  { nonces }: Books,
  { api_key, nonce }: { readonly api_key: string; readonly nonce: string },
): void {
  if (!/^[0-9]{1,19}$/.test(nonce)) throw new Refusal('nonce');
  const value = BigInt(nonce);
  if (value <= (nonces.get(api_key) ?? 0n)) throw new Refusal('nonce');
  nonces.set(api_key, value);
}

function needPermission(
  { books: { permissions } }: RouteContext,
  ...needed: readonly (keyof Books['permissions'])[]
): void {
  if (!needed.every((each) => permissions[each])) throw new Refusal('permission');
}

function withdraw(context: RouteContext): object {
  needPermission(context, 'withdraw');
  const { books, account, parameters } = context;
  const { asset, entry, terms } = labelled(context);
  const { address, tag, label } = entry;
  // No source shows the text.
  if (!entry.verified) throw new OwnAnswer(wire('EFunding:(address is not verified)'));
  // Whether Kraken ignores the case is unproven, so it does not here (4).
  const confirmation = parameters.get('address');
  if (confirmation !== null && confirmation !== address) throw new Refusal('address_unknown');
  const max_fee = parameters.get('max_fee');
  const request = {
    ...{ client_id: null, asset, network: terms.network, address, tag, label },
    amount: amountOf(context),
    ...(max_fee === null ? {} : { max_fee }),
  };
  return ok({ refid: books.withdraw(account, request, 'included').id });
}

function withdrawInfo(context: RouteContext): object {
  needPermission(context, 'read', 'withdraw');
  const { asset, terms } = labelled(context);
  const { fee, step, max } = terms;
  const amount = amountOf(context);
  if (compare(amount, fee) <= 0) throw new OwnAnswer(wire('EFunding:Invalid amount'));
  const { books, account } = context;
  const bounds = [books.get(account, 'SPOT', asset), max, books.quota?.left].flatMap(
    (each) => each ?? [],
  );
  const least = bounds.reduce((one, other) => (compare(one, other) < 0 ? one : other));
  const limit = compare(least, fee) > 0 ? subtract(least, fee) : '0';
  return ok({
    method: methodOf(asset, terms.network),
    limit,
    // Decimals that Kraken does not pay are cut.
    amount: cut(subtract(amount, fee), step),
    fee,
  });
}

function cancel(context: RouteContext): object {
  needPermission(context, 'withdraw');
  const { books, account } = context;
  const [asset, refid] = [assetOf(context, true), needed(context, 'refid')];
  const found = books.withdrawals.find(
    (each) => each.id === refid && each.account === account && each.asset === asset,
  );
  if (found === undefined) throw new Refusal('not_found');
  const isPending = found.status === 'pending';
  if (isPending) found.exchange_status = 'Pending, cancel-pending';
  return ok(isPending);
}

/** The entry of the book under the label of the request, and its terms. */
function labelled(context: RouteContext): {
  readonly asset: string;
  readonly entry: BookEntry;
  readonly terms: NetworkTerms;
} {
  const { books } = context;
  const asset = assetOf(context, true);
  const key = needed(context, 'key');
  const entry = books.book.find((each) => each.label === key && (each.asset ?? asset) === asset);
  if (entry === undefined) throw new Refusal('address_not_listed');
  return { asset, entry, terms: books.termsOf(asset, networkOf(books, entry, asset)) };
}

/** The asset that a request names, by id or altname, in any case; null: none. */
function assetOf(context: RouteContext, isNeeded: true): string;
function assetOf(context: RouteContext, isNeeded: false): string | null;
function assetOf(context: RouteContext, isNeeded: boolean): string | null {
  const text = context.parameters.get('asset')?.toUpperCase() ?? '';
  if (text === '' && !isNeeded) return null;
  if (text === '') throw new Refusal('parameter_missing', 'asset');
  const found = [...context.books.assets.keys()].find((asset) =>
    [idOf(asset), altnameOf(asset)].includes(text),
  );
  if (found === undefined) throw new Refusal('unknown_asset', text);
  return found;
}

interface Listed {
  readonly id: string;
  readonly asset: string;
  readonly time: number;
}

/** The newest first; without a cursor a flat list, which is cut without a sign (7). */
function pageOf<T extends Listed>(
  context: RouteContext,
  records: readonly T[],
  { name, view }: { readonly name: string; readonly view: (record: T) => object },
): unknown {
  const { parameters } = context;
  const asset = assetOf(context, false);
  const [start, end] = [bound(context, 'start', 0), bound(context, 'end', Infinity)];
  const found = [...records]
    .reverse()
    .sort((left, right) => secondsOf(right.time) - secondsOf(left.time))
    .filter((each) => asset === null || each.asset === asset)
    .filter(({ time }) => secondsOf(time) >= start && secondsOf(time) <= end);
  const limit = Math.min(bound(context, 'limit', USUAL_PAGE), LARGEST_PAGE);
  const cursor = parameters.get('cursor') ?? 'false';
  if (cursor === 'false') return found.slice(0, limit).map(view);
  const last = found.findIndex(({ id }) => cursorOf(id) === cursor);
  if (cursor !== 'true' && last < 0) throw new Refusal('parameter_invalid', 'cursor');
  const rest = found.slice(cursor === 'true' ? 0 : last + 1);
  const shown = rest.slice(0, limit);
  const next = rest.length > shown.length ? shown.at(-1) : undefined;
  return { [name]: shown.map(view), next_cursor: next === undefined ? null : cursorOf(next.id) };
}

function cursorOf(id: string): string {
  return Buffer.from(id).toString('base64');
}

/** A number, such as seconds since 1970. */
function bound({ parameters }: RouteContext, name: string, usual: number): number {
  const value = Number(parameters.get(name) ?? usual);
  if (Number.isNaN(value) || value < 0) throw new Refusal('parameter_invalid', name);
  return value;
}

/** A parameter that must be there. */
function needed({ parameters }: RouteContext, name: string): string {
  const value = parameters.get(name);
  if (value === null || value === '') throw new Refusal('parameter_missing', name);
  return value;
}

function amountOf(context: RouteContext): string {
  const amount = needed(context, 'amount');
  if (!/^[0-9]+(\.[0-9]+)?$/.test(amount)) throw new Refusal('parameter_invalid', 'amount');
  return amount;
}

/** The amount without the decimals below the step. */
function cut(amount: string, step: string | null): string {
  if (step === null || isMultiple(amount, step)) return amount;
  const decimals = step.split('.')[1]?.length ?? 0;
  const [whole = '0', fraction = ''] = amount.split('.');
  return decimals === 0 ? whole : `${whole}.${fraction.slice(0, decimals)}`;
}
