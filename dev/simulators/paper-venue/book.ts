/**
 * The venue's state in memory: balances, orders and idempotency keys, computed from the journal's
 * events.
 */
import { createDepositBook, type DepositBook } from './book-deposits.ts';
import { createTransferBook, type TransferBook } from './book-transfers.ts';
import type {
  AcceptedEvent,
  AddressEntry,
  EventOf,
  Posting,
  Terms,
  Transfer,
  VenueEvent,
} from './events.ts';

export type OrderState = 'accepted' | 'signed' | 'mined' | 'reverted' | 'completed' | 'cancelled';

export interface Order {
  readonly order_id: string;
  readonly idempotency_key: string;
  readonly action_type: string;
  readonly terms: Terms;
  readonly postings: readonly Posting[];
  readonly transfer: Transfer | null;
  readonly not_before: number;
  readonly accepted_at: string;
  state: OrderState;
  signed?: {
    readonly nonce: number;
    readonly raw_tx: `0x${string}`;
    readonly tx_hash: `0x${string}`;
  };
}

/**
 * Everything that happened under one idempotency key. More than one order only while keys are not
 * deduplicated.
 */
export interface KeyRecord {
  readonly idempotency_key: string;
  readonly movement_id: string;
  readonly node_key: string;
  readonly orders: Order[];
  fingerprint?: string;
  refusal?: { readonly error_code: string; readonly error_message: string };
  cancelled: boolean;
  submit_calls: number;
}

/**
 * Addresses that withdrawals may go to; all addresses while `enabled` is false. The master account
 * and its sub-accounts share one address book.
 */
export interface AddressBook {
  readonly enabled: boolean;
  readonly entries: readonly AddressEntry[];
}

export interface Book {
  apply(event: VenueEvent): void;
  identity(): string | undefined;
  key(idempotencyKey: string): KeyRecord | undefined;
  keys(): readonly KeyRecord[];
  order(orderId: string): Order | undefined;
  /** Returns the orders with an unpaid or not yet mined payment, oldest first. */
  open(): readonly Order[];
  /**
   * Returns the signed orders with this nonce or a higher one, ordered by nonce: the chain has not
   * mined these.
   */
  signedFrom(nonce: number): readonly Order[];
  nextNonce(): number;
  balance(account: string, accountType: string, asset: string): bigint;
  readonly transfers: TransferBook;
  readonly deposits: DepositBook;
  addresses(): AddressBook;
}

/** Creates an empty book. `apply` is the only way to change it, so a replay gives the same book. */
export function createBook(): Book {
  const keys = new Map<string, KeyRecord>();
  const orders = new Map<string, Order>();
  const byNonce = new Map<number, Order>();
  const balances = new Map<string, bigint>();
  const unsettled = new Map<string, Order>();
  let nextNonce = 0;
  let identity: string | undefined;
  let addresses: AddressBook = { enabled: false, entries: [] };

  const post = (postings: readonly Posting[], sign: 1n | -1n): void => {
    for (const { account, account_type, asset, delta } of postings) {
      const place = `${account}/${account_type}/${asset}`;
      balances.set(place, (balances.get(place) ?? 0n) + sign * BigInt(delta));
    }
  };
  const transfers = createTransferBook((postings) => post(postings, 1n));
  const deposits = createDepositBook((postings) => post(postings, 1n));
  const record = (caller: {
    idempotency_key: string;
    movement_id: string;
    node_key: string;
  }): KeyRecord => {
    const known = keys.get(caller.idempotency_key);
    if (known !== undefined) return known;
    const { idempotency_key, movement_id, node_key } = caller;
    const fresh: KeyRecord = {
      idempotency_key,
      movement_id,
      node_key,
      orders: [],
      cancelled: false,
      submit_calls: 0,
    };
    keys.set(idempotency_key, fresh);
    return fresh;
  };
  const accept = (event: AcceptedEvent): void => {
    const owner = record(event);
    const order = orderOf(event);
    owner.fingerprint ??= event.fingerprint;
    owner.orders.push(order);
    orders.set(order.order_id, order);
    if (order.state === 'accepted') unsettled.set(order.order_id, order);
    post(event.postings, 1n);
  };
  const known = (orderId: string): Order => {
    const order = orders.get(orderId);
    if (order === undefined) throw new Error(`the ledger names an unknown order ${orderId}`);
    return order;
  };

  return {
    apply: (event) => {
      switch (event.type) {
        case 'opened':
          identity = event.identity;
          return post(event.postings, 1n);
        case 'called':
          record(event).submit_calls += 1;
          return;
        case 'accepted':
          return accept(event);
        case 'refused':
          return refuse(record(event), event);
        case 'signed': {
          const order = known(event.order_id);
          order.state = 'signed';
          order.signed = { nonce: event.nonce, raw_tx: event.raw_tx, tx_hash: event.tx_hash };
          byNonce.set(event.nonce, order);
          nextNonce = Math.max(nextNonce, event.nonce + 1);
          return;
        }
        case 'mined': {
          const order = known(event.order_id);
          order.state = event.succeeded ? 'mined' : 'reverted';
          unsettled.delete(order.order_id);
          if (!event.succeeded) post(order.postings, -1n);
          return;
        }
        case 'cancelled': {
          record(event).cancelled = true;
          if (event.order_id === null) return;
          const order = known(event.order_id);
          order.state = 'cancelled';
          unsettled.delete(order.order_id);
          return post(order.postings, -1n);
        }
        case 'deposited':
          return deposits.apply(event);
        case 'address_book':
          addresses = { enabled: event.enabled, entries: event.entries };
          return;
        default:
          return transfers.apply(event);
      }
    },
    identity: () => identity,
    key: (idempotencyKey) => keys.get(idempotencyKey),
    keys: () => [...keys.values()],
    order: (orderId) => orders.get(orderId),
    open: () => [...unsettled.values()],
    signedFrom: (nonce) => {
      const found: Order[] = [];
      for (let used = nonce; used < nextNonce; used += 1) {
        const order = byNonce.get(used);
        if (order !== undefined) found.push(order);
      }
      return found;
    },
    nextNonce: () => nextNonce,
    balance: (account, accountType, asset) =>
      balances.get(`${account}/${accountType}/${asset}`) ?? 0n,
    transfers,
    deposits,
    addresses: () => addresses,
  };
}

function orderOf(event: AcceptedEvent): Order {
  const { order_id, idempotency_key, action_type, terms, postings, transfer, not_before, at } =
    event;
  // An order without a payment on the chain is complete as soon as it is booked.
  const state: OrderState = transfer === null ? 'completed' : 'accepted';
  return {
    order_id,
    idempotency_key,
    action_type,
    terms,
    postings,
    transfer,
    not_before,
    accepted_at: at,
    state,
  };
}

function refuse(owner: KeyRecord, event: EventOf<'refused'>): void {
  owner.fingerprint ??= event.fingerprint;
  owner.refusal = { error_code: event.error_code, error_message: event.error_message };
}
