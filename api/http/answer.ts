/** Handles a request that has arrived in full; the API and the dashboard share this code. */
import type { Request, Response } from 'express';
import type { Logger } from 'pino';
import { ChangeWaits, type ChangeCall } from '../../domain/approval/change.ts';
import { requestKindOf } from '../../domain/approval/power.ts';
import type { Requester } from '../../domain/commands/context.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { Caller } from '../../domain/roles.ts';
import { mayBeWritten } from '../../store/faults.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { parseBody } from './body.ts';
import type { Exchange } from './exchange.ts';
import type { HeldBody } from './read-body.ts';
import type { Reply, Route, TextReply } from './route.ts';
import type { Match } from './router.ts';
import type { SignedRequest } from './signed-request.ts';
import type { Target } from './target.ts';
import { singleHeaders, validate } from './validate.ts';

/** A request that has arrived in full. */
export interface Arrived {
  readonly target: Target;
  readonly body: HeldBody;
}

/** Returns the request in the form on which signatures are checked. */
export function signedRequest(
  request: Request,
  { target, body }: Arrived,
  exchange: Exchange,
): SignedRequest {
  return {
    method: request.method,
    target,
    headers: request.headersDistinct,
    body: body.bytes,
    request_id: exchange.request_id,
  };
}

/** Returns the route of a match; throws 404 or 405 when no route matches. */
export function found(match: Match, response: Response): Extract<Match, { kind: 'route' }> {
  if (match.kind === 'none') throw new ServiceError('route_not_found');
  if (match.kind === 'route') return match;
  response.setHeader('Allow', match.allow.join(', '));
  throw new ServiceError('method_not_allowed', { context: { allow: match.allow } });
}

export interface Admitted {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
  readonly caller: Caller;
  /** Runs after validation and before the handler; throws to refuse the request. */
  readonly check?: ((input: { readonly query: unknown }) => Promise<void>) | undefined;
}

/** Validates the request for its route and calls the handler. */
export async function answer(
  { route, params, caller, check }: Admitted,
  { headers: sent, body: bytes, target: { path, query } }: SignedRequest,
  exchange: Exchange,
  deps: ApiDependencies,
): Promise<Reply<unknown> | TextReply> {
  const headers = singleHeaders(sent);
  const body = parseBody({
    bytes,
    contentType: headers['content-type'],
    contentEncoding: exchange.encoding,
  });
  const input = validate(route, {
    params,
    query,
    body,
    dryRun: headers['dry-run'],
    idempotencyKey: headers['idempotency-key'],
  });
  await check?.(input);
  const { request_id, span } = exchange;
  const own = withRequestLog(deps, request_id);
  const requester = { caller, request_id };
  const call = {
    method: route.method,
    path,
    body: (body ?? null) as JsonValue,
    idempotency_key: headers['idempotency-key'] ?? null,
  };
  const handle = (): ReturnType<typeof route.handle> => {
    const make = () => route.handle({ ...input, headers, requester }, own);
    return route.method === 'GET' || input.dryRun
      ? make()
      : make()
          .catch((error: unknown) => waiting(error, route, { call, requester, deps, make }))
          .catch(leaveOpen);
  };
  return span === null ? handle() : span.run(handle);
}

/** Returns the dependencies with the request's logger, made when it is used: few requests log. */
function withRequestLog(deps: ApiDependencies, request_id: string): ApiDependencies {
  let log: Logger | undefined;
  return {
    ...deps,
    get log() {
      return (log ??= deps.log.child({ request_id }));
    },
  };
}

interface Waiting {
  readonly call: ChangeCall;
  readonly requester: Requester;
  readonly deps: ApiDependencies;
  readonly make: () => ReturnType<Route['handle']>;
}

/**
 * Answers a call that waits for people with its change request; throws any other error unchanged.
 * Only a route that declares so may do it.
 */
async function waiting(
  error: unknown,
  { id, power }: Route,
  { call, requester, deps, make }: Waiting,
): Promise<Reply<unknown> | TextReply> {
  if (!(error instanceof ChangeWaits)) throw error;
  const kind = requestKindOf(power);
  if (kind === null || !error.effect.kinds.includes(kind))
    throw new Error(`the route ${id} does what it does not declare`, { cause: error });
  return (await deps.changes?.ask(error, call, requester)) ?? make();
}

/**
 * Throws `outcome_unknown` instead of `dependency_unavailable` when the write may have happened:
 * the reply to a statement was lost. Throws other errors unchanged.
 */
function leaveOpen(error: unknown): never {
  const isDoubtful =
    error instanceof ServiceError && error.code === 'dependency_unavailable' && mayBeWritten(error);
  throw isDoubtful ? new ServiceError('outcome_unknown', { cause: error }) : error;
}
