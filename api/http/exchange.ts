/**
 * What is known about one request while it is answered: its id, route and caller, for logs and
 * metrics.
 */
import type { IncomingMessage } from 'node:http';
import { newId } from '../../platform/ids.ts';
import type { Caller } from '../../domain/roles.ts';
import type { RequestSpan } from '../../platform/tracing/handle.ts';

export interface Exchange {
  readonly request_id: string;
  readonly started: bigint;
  /**
   * The Content-Encoding as sent; hidden from the body reader so that raw bytes are what is read
   * and hashed.
   */
  readonly encoding: string | undefined;
  /** The id of the route, once one is found. */
  route: string;
  caller: Caller | null;
  /** Null where nothing is traced. */
  span: RequestSpan | null;
}

const KEPT_REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;
const exchanges = new WeakMap<IncomingMessage, Exchange>();

/** The incoming request id when it is well-formed, else a new one. */
export function requestIdOf(header: string | readonly string[] | undefined): string {
  return typeof header === 'string' && KEPT_REQUEST_ID.test(header) ? header : newId();
}

/** Starts the record of a request; the first thing that is done with it. */
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

/** The record that {@link beginExchange} started. */
export function exchangeOf(request: IncomingMessage): Exchange {
  return exchanges.get(request) ?? beginExchange(request);
}
