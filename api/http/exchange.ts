/** Facts about one request while it is handled: its id, route and caller, for logs and metrics. */
import type { IncomingMessage } from 'node:http';
import { newId } from '../../platform/ids.ts';
import type { Caller } from '../../domain/roles.ts';
import type { RequestSpan } from '../../platform/tracing/handle.ts';

export interface Exchange {
  readonly request_id: string;
  readonly started: bigint;
  /**
   * The Content-Encoding as sent. Removed from the request's headers, so that the body reader
   * returns the raw bytes, which are hashed.
   */
  readonly encoding: string | undefined;
  /** The route's id; `none` until a route is found. */
  route: string;
  caller: Caller | null;
  /** Null when the request is not traced. */
  span: RequestSpan | null;
}

const KEPT_REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;
const exchanges = new WeakMap<IncomingMessage, Exchange>();

/** Returns the incoming request id when it is well-formed, otherwise a new id. */
export function requestIdOf(header: string | readonly string[] | undefined): string {
  return typeof header === 'string' && KEPT_REQUEST_ID.test(header) ? header : newId();
}

/** Starts the record of a request; called before anything else handles the request. */
export function beginExchange(request: IncomingMessage): Exchange {
  const exchange: Exchange = {
    request_id: requestIdOf(request.headers['x-request-id']),
    started: process.hrtime.bigint(),
    encoding: request.headers['content-encoding'],
    route: 'none',
    caller: null,
    span: null,
  };
  delete request.headers['content-encoding'];
  exchanges.set(request, exchange);
  return exchange;
}

/** Returns the record that {@link beginExchange} started. */
export function exchangeOf(request: IncomingMessage): Exchange {
  return exchanges.get(request) ?? beginExchange(request);
}
