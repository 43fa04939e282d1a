/** State and money rules of a local exchange, in no exchange's own words. Money is exact. */
import { randomBytes } from 'node:crypto';
import { add, compare, isMultiple, subtract } from '../../../../domain/money.ts';
import { Refusal } from './refusal.ts';

/** The exchange's name of a sub-account; null: the master account. */
export type Account = string | null;
/** A pool in the service's words. Each format has its exchange's words for them. */
export type PoolName = 'SPOT' | 'USDT_FUTURE' | 'FUNDING';
export type Status = 'pending' | 'completed' | 'failed';

export interface Withdrawal {
  readonly id: string;
  readonly account: Account;
  /** The id that the caller sent; null: none, or the exchange takes none. */
  readonly client_id: string | null;
  readonly asset: string;
  readonly network: string;
  readonly address: string;
  readonly tag: string | null;
  /** What the destination gets. With the fee it is what left the account. */
  readonly net_amount: string;
  readonly fee: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  status: Status;
  /** The exchange's own status; null: the usual one for `status`. */
  exchange_status: string | null;
  /** Whether it is a booking within the exchange; then `tx` is no transaction of a chain. */
  within: boolean;
  /** Transaction hash, or the exchange's text for a booking within it; null: none so far. */
  tx: string | null;
  /** The label of the address in the exchange's book; null: it was not sent by its label. */
  readonly label: string | null;
  /** Histories show the record from then on, in milliseconds since 1970. */
  visible_from: number;
}

export interface TransferEnd {
  readonly account: Account;
  readonly pool: PoolName;
}

export interface Transfer {
  /** Digits, which some exchanges write as a number, or the caller's id where it has no other. */
  readonly id: string;
  readonly client_id: string | null;
  readonly source: TransferEnd;
  readonly destination: TransferEnd;
  readonly asset: string;
  readonly amount: string;
  readonly time: number;
  status: Status;
  exchange_status: string | null;
  visible_from: number;
}

export interface Deposit {
  readonly id: string;
  readonly account: Account;
  readonly asset: string;
  readonly network: string;
  readonly address: string;
  readonly tag: string | null;
  readonly amount: string;
  readonly time: number;
  /** `credited`: part of the balance, but not withdrawable yet. */
  status: Status | 'credited';
  exchange_status: string | null;
  readonly tx: string;
}

/** An entry of the master's address book. Null: for every asset, or on every network. */
export interface BookEntry {
  readonly label: string;
  readonly address: string;
  readonly tag: string | null;
  readonly asset: string | null;
  readonly network: string | null;
  verified: boolean;
}

/** Terms of one asset on one network. Amounts are what leaves the account, fee included. */
export interface NetworkTerms {
  readonly network: string;
  enabled: boolean;
  /** When the exchange expects to pay out again, in milliseconds since 1970; null: not known. */
  opens_at: number | null;
  fee: string;
  min: string;
  /** Null: no limit. */
  max: string | null;
  /** Amounts are multiples of it; null: any amount. */
  step: string | null;
  needs_tag: boolean;
  /** Pattern of a whole address; null: the exchange does not check it. */
  address_pattern: string | null;
}

export interface WithdrawalRequest {
  readonly client_id: string | null;
  readonly asset: string;
  readonly network: string;
  readonly address: string;
  readonly tag: string | null;
  readonly amount: string;
  /** The label of the address book's entry; null: sent by its address alone. */
  readonly label?: string | null;
  /** The highest fee that the caller accepts; absent: any. */
  readonly max_fee?: string;
}

/** Whether the exchange takes its fee from the amount of a request, or on top of it. */
export type FeeRule = 'included' | 'on_top';

export interface TransferRequest {
  readonly client_id: string | null;
  readonly source: TransferEnd;
  readonly destination: TransferEnd;
  readonly asset: string;
  readonly amount: string;
}

export interface PoolAmount {
  readonly asset: string;
  /** What may leave the pool; below zero: a debt. */
  readonly amount: string;
  /** What is in the pool and may not leave it, such as for open orders. */
  readonly locked: string;
}

/** What may be set directly. `reset` of the exchange does not change any of it. */
interface Settings {
  /** Added to the exchange's clock, in milliseconds. */
  skew: number;
  /** Whether withdrawals are completed at once. */
  settles: boolean;
  /** What every API key may do. */
  permissions: { read: boolean; withdraw: boolean; transfer: boolean };
  /** Whether withdrawals go to verified addresses of the book alone. */
  enforces_book: boolean;
  /** What may still be withdrawn, in an asset or in `USD`; null: no quota. */
  quota: { unit: string; left: string } | null;
  /** Until then no withdrawal is made, as after a change of the account's e-mail address. */
  held_until: number;
  /** How much later than now histories show a new record, in milliseconds. */
  late_ms: number;
}

export interface Books extends Settings {
  readonly master: string;
  /** The sub-accounts of the master. */
  readonly subs: string[];
  readonly withdrawals: Withdrawal[];
  readonly transfers: Transfer[];
  readonly deposits: Deposit[];
  readonly book: BookEntry[];
  /** Terms by asset. */
  readonly assets: Map<string, NetworkTerms[]>;
  /** The highest nonce that each API key has used. */
  readonly nonces: Map<string, bigint>;
  /** The exchange's clock. */
  now(): number;
  exists(account: Account): boolean;
  set(account: Account, pool: PoolName, asset: string, amount: string): void;
  get(account: Account, pool: PoolName, asset: string): string;
  /** Sets what is in the pool besides the amount and may not leave it. */
  lock(account: Account, pool: PoolName, asset: string, amount: string): void;
  /** As if the account had never had such a pool. */
  forget(account: Account, pool: PoolName): void;
  pools(account: Account, pool: PoolName): readonly PoolAmount[];
  /** The terms of the asset on the network. Throws a Refusal for an unknown one. */
  termsOf(asset: string, network: string): NetworkTerms;
  /** The records that histories show by now. */
  visible<T extends { readonly visible_from: number }>(records: readonly T[]): readonly T[];
  /** Pays out from the account's `SPOT` pool, or throws a Refusal and changes nothing. */
  withdraw(account: Account, request: WithdrawalRequest, feeRule: FeeRule): Withdrawal;
  /** Moves between pools, or throws a Refusal and changes nothing. */
  transfer(request: TransferRequest, most: { readonly decimals: number }): Transfer;
}

export interface BooksOptions {
  readonly master: string;
  readonly subs: readonly string[];
  /** The exchange's names of a network that pays out, and of one that is suspended. */
  readonly networks: { readonly open: string; readonly suspended: string };
  /** Makes the ids of new records; `count` is how many there are already. */
  readonly ids: {
    withdrawal(count: number): string;
    transfer(count: number, client_id: string | null): string;
  };
}

/** What {@link Settings} are at first, for `Object.assign`. */
export const settings = (): Settings => ({
  skew: 0,
  settles: true,
  permissions: { read: true, withdraw: true, transfer: true },
  enforces_book: true,
  quota: null,
  held_until: 0,
  late_ms: 0,
});

/** The terms at first: `USDC` on an open and a suspended network, and `TINY` with 18 decimals. */
export function assetsOf({
  open,
  suspended,
}: BooksOptions['networks']): Map<string, NetworkTerms[]> {
  const terms: NetworkTerms = {
    network: open,
    enabled: true,
    opens_at: null,
    fee: '0.25',
    min: '10',
    max: '1000000',
    step: '0.000001',
    needs_tag: false,
    address_pattern: '(0x)[0-9A-Fa-f]{40}',
  };
  const [smallest, two] = ['0.000000000000000001', '0.000000000000000002'];
  return new Map([
    ['USDC', [terms, { ...terms, network: suspended, enabled: false }]],
    ['TINY', [{ ...terms, fee: smallest, min: two, step: smallest }]],
  ]);
}

export function createBooks({ master, subs, networks, ids }: BooksOptions): Books {
  const books: Books = {
    ...settings(),
    ...createPools(),
    master,
    subs: [...subs],
    withdrawals: [],
    transfers: [],
    deposits: [],
    book: [],
    assets: assetsOf(networks),
    nonces: new Map(),
    now: () => Date.now() + books.skew,
    exists: (account) => account === null || books.subs.includes(account),
    termsOf(asset, network) {
      const networksOf = books.assets.get(asset);
      if (networksOf === undefined) throw new Refusal('unknown_asset', asset);
      const terms = networksOf.find((each) => each.network === network);
      if (terms === undefined) throw new Refusal('unknown_network', network);
      return terms;
    },
    visible: (records) => records.filter(({ visible_from }) => visible_from <= Date.now()),
    withdraw: (account, request, feeRule) =>
      withdraw(books, { account, request, feeRule, id: ids.withdrawal }),
    transfer(request, { decimals }) {
      checkTransfer(books, request, decimals);
      const { source, destination, asset, amount } = request;
      take(books, source, asset, amount);
      give(books, destination, asset, amount);
      const made: Transfer = {
        ...request,
        id: ids.transfer(books.transfers.length, request.client_id),
        time: books.now(),
        status: 'completed',
        exchange_status: null,
        visible_from: Date.now() + books.late_ms,
      };
      books.transfers.push(made);
      return made;
    },
  };
  return books;
}

function createPools(): Pick<Books, 'set' | 'get' | 'lock' | 'forget' | 'pools'> {
  const amounts = new Map<string, string>();
  const locked = new Map<string, string>();
  const name = (account: Account, pool: PoolName, asset: string): string =>
    JSON.stringify([account, pool, asset]);
  const pools: Books['pools'] = (account, pool) =>
    [...amounts].flatMap(([key, amount]) => {
      const [owner, kind, asset] = JSON.parse(key) as [Account, PoolName, string];
      return owner === account && kind === pool
        ? [{ asset, amount, locked: locked.get(key) ?? '0' }]
        : [];
    });
  return {
    set: (account, pool, asset, amount) => void amounts.set(name(account, pool, asset), amount),
    get: (account, pool, asset) => amounts.get(name(account, pool, asset)) ?? '0',
    lock: (account, pool, asset, amount) => void locked.set(name(account, pool, asset), amount),
    forget(account, pool) {
      for (const { asset } of pools(account, pool)) {
        amounts.delete(name(account, pool, asset));
        locked.delete(name(account, pool, asset));
      }
    },
    pools,
  };
}

function take(books: Books, { account, pool }: TransferEnd, asset: string, amount: string): void {
  const left = subtract(books.get(account, pool, asset), amount);
  if (compare(left, '0') < 0) throw new Refusal('insufficient_funds', asset);
  books.set(account, pool, asset, left);
}

function give(books: Books, { account, pool }: TransferEnd, asset: string, amount: string): void {
  books.set(account, pool, asset, add(books.get(account, pool, asset), amount));
}

interface Planned {
  readonly account: Account;
  readonly request: WithdrawalRequest;
  readonly feeRule: FeeRule;
  readonly id: (count: number) => string;
}

function withdraw(books: Books, { account, request, feeRule, id }: Planned): Withdrawal {
  if (!books.permissions.withdraw) throw new Refusal('permission', 'withdraw');
  if (books.held_until > Date.now()) throw new Refusal('held');
  const terms = books.termsOf(request.asset, request.network);
  if (!terms.enabled) throw new Refusal('suspended', request.network);
  checkAddress(books, request, terms);
  const { fee } = terms;
  const amount = feeRule === 'included' ? request.amount : add(request.amount, fee);
  checkAmount(terms, { amount, max_fee: request.max_fee });
  const quota = quotaAfter(books, request.asset, amount);
  take(books, { account, pool: 'SPOT' }, request.asset, amount);
  books.quota = quota;
  const { client_id, asset, network, address, tag, label = null } = request;
  const made: Withdrawal = {
    ...{ account, client_id, asset, network, address, tag, label, fee },
    id: id(books.withdrawals.length),
    net_amount: subtract(amount, fee),
    time: books.now(),
    status: books.settles ? 'completed' : 'pending',
    exchange_status: null,
    within: false,
    tx: books.settles ? newHash() : null,
    visible_from: Date.now() + books.late_ms,
  };
  books.withdrawals.push(made);
  return made;
}

function checkAddress(
  { enforces_book, book }: Books,
  { address, tag, asset, network }: WithdrawalRequest,
  { address_pattern, needs_tag }: NetworkTerms,
): void {
  if (address_pattern !== null && !new RegExp(`^(?:${address_pattern})$`).test(address))
    throw new Refusal('address_unknown', address);
  if (needs_tag && tag === null) throw new Refusal('tag_missing');
  const isListed = book.some(
    (entry) =>
      entry.verified &&
      entry.address.toLowerCase() === address.toLowerCase() &&
      entry.tag === tag &&
      (entry.asset ?? asset) === asset &&
      (entry.network ?? network) === network,
  );
  if (enforces_book && !isListed) throw new Refusal('address_not_listed', address);
}

function checkAmount(
  { fee, min, max, step }: NetworkTerms,
  { amount, max_fee }: { readonly amount: string; readonly max_fee: string | undefined },
): void {
  if (max_fee !== undefined && compare(fee, max_fee) > 0) throw new Refusal('fee_above_limit', fee);
  if (compare(amount, min) < 0 || compare(amount, fee) <= 0)
    throw new Refusal('below_minimum', min);
  if (max !== null && compare(amount, max) > 0) throw new Refusal('above_maximum', max);
  if (step !== null && !isMultiple(amount, step)) throw new Refusal('precision', step);
}

/** What is left of the quota after the amount. Each asset of the local exchange is worth 1 USD. */
function quotaAfter({ quota }: Books, asset: string, amount: string): Books['quota'] {
  if (quota === null || ![asset, 'USD'].includes(quota.unit)) return quota;
  const left = subtract(quota.left, amount);
  if (compare(left, '0') < 0) throw new Refusal('quota', `${quota.left} ${quota.unit}`);
  return { ...quota, left };
}

function checkTransfer(
  books: Books,
  { source, destination, amount }: TransferRequest,
  decimals: number,
): void {
  if (!books.permissions.transfer) throw new Refusal('permission', 'transfer');
  for (const { account } of [source, destination])
    if (!books.exists(account)) throw new Refusal('unknown_account', account ?? '');
  if ((amount.split('.')[1] ?? '').length > decimals)
    throw new Refusal('precision', String(decimals));
}

/** A transaction hash as chains write it. */
export function newHash(): string {
  return `0x${randomBytes(32).toString('hex')}`;
}
