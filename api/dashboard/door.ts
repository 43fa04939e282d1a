/**
 * The dashboard's routes: a few that only the dashboard has, and every route of the API again under
 * `/dashboard/api`, for operators with operator keys. Handlers, schemas, roles and errors are the
 * same; only the authentication differs.
 */
import type { Request, Response } from 'express';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { ServiceError } from '../../domain/errors.ts';
import type { Caller } from '../../domain/roles.ts';
import { admit, refuse } from '../auth/admit.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { countOverload } from '../http/admission.ts';
import { answer, found, signedRequest, type Admitted, type Arrived } from '../http/answer.ts';
import { exchangeOf } from '../http/exchange.ts';
import type { HostCheck } from '../http/host.ts';
import { acts, type Reply, type TextReply } from '../http/route.ts';
import { createRouter, type Match } from '../http/router.ts';
import type { SignedRequest } from '../http/signed-request.ts';
import type { Target } from '../http/target.ts';
import type { OperatorAuthentication } from './authenticate.ts';
import { createOriginCheck, isForwarded, type OriginCheck } from './origin.ts';
import { ANYONE, type DashboardRoute } from './route.ts';
import { dashboardRoutes, type DashboardParts } from './routes.ts';

export const DASHBOARD = '/dashboard/';
/** Path prefix of the API's routes for the dashboard. */
export const SECOND_PREFIX = '/dashboard/api';

export interface DashboardOptions {
  /** Dependencies of the dashboard's own routes. */
  readonly parts: () => DashboardParts;
  readonly authentication: OperatorAuthentication;
  /** Returns the only origin under which the console may be opened. */
  readonly origin: () => string;
}

export interface DashboardDoor {
  /** Refuses a request that names another host than the console's. */
  readonly checkOrigin: OriginCheck;
  /** Refuses a request that is unacceptable whatever its body; called before the body is read. */
  recognise(request: Request, target: Target, follows: boolean): Promise<void>;
  answer(
    request: Request,
    response: Response,
    arrived: Arrived,
  ): Promise<Reply<unknown> | TextReply>;
  /** Finds one of the dashboard's own routes. */
  findOwn(method: string, path: string): Match;
}

/** Requests per second of one operator in this process; further requests get 503 `overloaded`. */
const A_SECOND = 20;

/** Creates the door. `find` finds routes of the API. */
export function createDoor(
  deps: ApiDependencies,
  find: (method: string, path: string) => Match,
  { parts, authentication, origin }: DashboardOptions,
  checkHost: HostCheck,
): DashboardDoor {
  const checkOrigin = createOriginCheck(origin);
  const routes = dashboardRoutes(parts);
  const findOwn = createRouter(routes.map(({ route }) => route));
  const ownOf = new Map(routes.map((each) => [each.route.id, each]));
  const limit = createBurstLimit(A_SECOND);

  /** Handles a route of the API for an operator. */
  const second: DashboardDoor['answer'] = async (request, response, arrived) => {
    const exchange = exchangeOf(request);
    const signed = signedRequest(request, arrived, exchange);
    const { caller, by } = await authentication.known(signed);
    exchange.caller = caller;
    arrived.body.release();
    await limit(caller);
    const path = arrived.target.path.slice(SECOND_PREFIX.length);
    const { route, params } = found(find(request.method, path), response);
    exchange.route = route.id;
    const requester = { caller, request_id: exchange.request_id };
    await admit(deps.db, route, params, requester);
    // A stolen cookie gives away the session, so a session may not change anything.
    const check: Admitted['check'] = async ({ query }) => {
      if (by === 'signature' || !acts(route, query)) return;
      await refuse(deps.db, route, requester, new ServiceError('forbidden', { message: UNSIGNED }));
    };
    return answer({ route, params, caller, check }, signed, exchange, deps);
  };

  /** Returns the caller of one of the dashboard's own routes; null for an open route. */
  const callerOf = async (
    { route, access, older }: DashboardRoute,
    request: Request,
    signed: SignedRequest,
  ): Promise<Caller | null> => {
    if (typeof access === 'object') return access.find(signed);
    const nonces = { issued: older !== true };
    switch (access) {
      case 'open':
        return null;
      case 'local':
        if (authentication.claims(signed))
          return (await authentication.known(signed, nonces)).caller;
        assertLocal(request, checkHost);
        return null;
      case 'known':
        return (await authentication.known(signed, nonces)).caller;
      case 'signed':
        return authentication.signed(signed, nonces);
      case 'allowlist': {
        const caller = await authentication.signed(signed, nonces);
        if (caller.dashboard?.allowlist === true) return caller;
        const { request_id } = signed;
        return refuse(
          deps.db,
          route,
          { caller, request_id },
          new ServiceError('forbidden', { message: NO_ALLOWLIST }),
        );
      }
    }
  };

  const own: DashboardDoor['answer'] = async (request, response, arrived) => {
    const exchange = exchangeOf(request);
    const { route, params } = found(findOwn(request.method, arrived.target.path), response);
    exchange.route = route.id;
    const entry = ownOf.get(route.id);
    if (entry === undefined) throw new ServiceError('route_not_found');
    if (entry.older !== true) checkOrigin(request);
    const signed = signedRequest(request, arrived, exchange);
    const caller = await callerOf(entry, request, signed);
    arrived.body.release();
    exchange.caller = caller;
    if (caller !== null && entry.older !== true) await limit(caller);
    return answer({ route, params, caller: caller ?? ANYONE }, signed, exchange, deps);
  };

  return {
    checkOrigin,
    findOwn,
    recognise: async (request, { path }, follows) => {
      if (!isSecond(path)) return;
      checkOrigin(request);
      if (!follows) return;
      await authentication.recognise({
        method: request.method,
        headers: request.headersDistinct,
        request_id: exchangeOf(request).request_id,
      });
    },
    answer: (request, response, arrived) =>
      (isSecond(arrived.target.path) ? second : own)(request, response, arrived),
  };
}

const UNSIGNED = 'This read calls a venue, which a session may not do: sign the request.';
const NO_ALLOWLIST = 'This operator does not write the allowlist: the key needs `allowlist: true`.';

/** Returns whether a path is one of the API's routes for the dashboard. */
export function isSecond(path: string): boolean {
  return path === SECOND_PREFIX || path.startsWith(`${SECOND_PREFIX}/`);
}

/** Throws `forbidden` unless the request comes directly from this machine, without a proxy. */
function assertLocal(request: Request, checkHost: HostCheck): void {
  checkHost(request);
  const address = request.socket.remoteAddress ?? '';
  if ((address === '::1' || /^(::ffff:)?127\./.test(address)) && !isForwarded(request)) return;
  throw new ServiceError('forbidden', {
    message:
      'An unsigned request may read the allowlist only on the machine of the service, without a proxy: sign the request.',
  });
}

/**
 * Returns a function that throws `overloaded` beyond `points` requests of an operator per second.
 */
function createBurstLimit(points: number): (caller: Caller) => Promise<void> {
  const limiter = new RateLimiterMemory({ points, duration: 1 });
  return async ({ dashboard }) => {
    if (dashboard === undefined) return;
    try {
      await limiter.consume(dashboard.operator);
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused;
      countOverload('operator');
      throw new ServiceError('overloaded');
    }
  };
}
