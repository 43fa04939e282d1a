/**
 * What a format has to define: how one exchange's requests and answers look. The state and the
 * rules of money are in `books.ts`; HTTP and misbehaviour are in `exchange.ts`.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Account, Books, BooksOptions } from './books.ts';
import type { RefusalKind } from './refusal.ts';

export interface WireRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** With the query, as it was sent. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** The body as it was sent; empty without one. */
  readonly body: string;
  /** The query of a GET or HEAD, else the body, as it was sent. */
  readonly raw: string;
  /** Of the query and of a body, which may be a form or a flat JSON object. */
  readonly parameters: URLSearchParams;
}

export interface RouteContext {
  readonly books: Books;
  /** Whose API key signed the request; null: the master's, or the route is public. */
  readonly account: Account;
  /** What the path has at the placeholders of the route's name, in order. */
  readonly path: readonly string[];
  readonly parameters: URLSearchParams;
  readonly body: string;
}

export interface WireAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * An answer that is neither a {@link RefusalKind} nor a body with status 200. A route may throw it,
 * or return it.
 */
export class OwnAnswer extends Error {
  readonly answer: WireAnswer;
  constructor(answer: WireAnswer) {
    super(`answers ${String(answer.status)}`);
    this.answer = answer;
  }
}

/** What a credentials file holds. */
export interface Credentials {
  readonly api_key: string;
  readonly secret: string;
  readonly password?: string;
}

/** What an exchange may not show. Then only the exchange itself refuses what depends on it. */
export type Unshown =
  'smallest amount' | 'networks' | 'address book' | 'reason of a wrong clock' | 'deposits on hold';

export interface Format {
  /** The exchange's id in the venues file and in `DIALECTS`. */
  readonly exchange: string;
  /** Names and ids of the local exchange's accounts, networks and records. */
  readonly books: BooksOptions;
  /** The content of the credentials file of an account. */
  keyOf(account: Account): Credentials;
  /** The API key that the request names, as {@link keyOf} has it in `api_key`; null: none. */
  apiKeyOf(request: WireRequest): string | null;
  /**
   * Checks key, signature, and clock or nonce, and keeps the nonce in `books.nonces`. Returns
   * whose key it is. Throws a Refusal.
   */
  authenticate(request: WireRequest, books: Books): Account;
  /** Routes that need no key, as in `routes`. */
  readonly publicRoutes: readonly string[];
  /**
   * By method and path, such as `POST /0/private/Withdraw`; a part of the path that is `{}` stands
   * for any value. Returns the whole body of an answer with status 200, or an {@link OwnAnswer}.
   * Throws a Refusal or an {@link OwnAnswer}.
   */
  readonly routes: Readonly<Record<string, (context: RouteContext) => unknown>>;
  /** The exchange's own answer for each refusal of a path. `detail` as in Refusal. */
  refusal(kind: RefusalKind, detail: string, path: string): WireAnswer;
  /** How the exchange answers with one of its error codes, as `Dialect.refusals` names them. */
  error(code: string): WireAnswer;
  readonly broken: {
    /** Nothing was done. */
    readonly error_500: WireAnswer;
    /** It was done. */
    readonly done_then_500: WireAnswer;
    /** Text of an answer with status 200 that ends too early. */
    readonly malformed: string;
    readonly rate_limited: WireAnswer;
  };
  /** How the exchange counts requests of one API key: it takes `capacity` units at once. */
  readonly limits: { readonly capacity: number; readonly units_per_second: number };
  /** The units of one request. */
  costOf(request: Pick<WireRequest, 'method' | 'path'>): number;
  /** The whole paths that tests let fail or count; null: the exchange has no such call. */
  readonly paths: {
    readonly withdraw: string;
    /** The history of withdrawals. */
    readonly withdrawals: string;
    readonly deposits: string;
    /** A call that preflight needs for the terms of a withdrawal. */
    readonly terms: string;
    readonly balances: string;
    readonly addressBook: string | null;
    readonly transfer: string | null;
    /** The history of transfers. */
    readonly transfers: string | null;
  };
  /** Most records on a page of the history of withdrawals. */
  readonly page: number;
  /** Most decimals of a transfer's amount. */
  readonly transfer_decimals: number;
  /**
   * The `fee_limit` of withdrawals that tests make: the fee of the books. Absent: the exchange
   * shows its fee before a send, so they need none.
   */
  readonly fee_limit?: string;
  /** Absent: it shows everything. */
  readonly unshown?: readonly Unshown[];
}

/** Returns whether the exchange shows it. */
export function shows({ unshown = [] }: Format, what: Unshown): boolean {
  return !unshown.includes(what);
}
