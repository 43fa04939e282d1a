/** The HTTP application: one pipeline for every route of the table. */
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { AGENT_BODY_BYTES } from '../domain/agents/bounds.ts';
import { ServiceError } from '../domain/errors.ts';
import type { Caller } from '../domain/roles.ts';
import { ADMISSION, createAdmission, type AdmissionOptions } from './http/admission.ts';
import type { Guard } from './auth/guard.ts';
import { createChangeDesk } from './change-requests/desk.ts';
import type { ServeConsole } from './console/serve.ts';
import type { ApiDependencies } from './dependencies.ts';
import { respondWithError } from './http/errors.ts';
import type { Tracing } from '../platform/tracing/handle.ts';
import { answer, found, signedRequest, type Arrived } from './http/answer.ts';
import {
  createDoor,
  DASHBOARD,
  isSecond,
  SECOND_PREFIX,
  type DashboardOptions,
} from './dashboard/door.ts';
import { beginExchange, exchangeOf, type Exchange } from './http/exchange.ts';
import { createHostCheck, type HostCheck } from './http/host.ts';
import { observeRequest } from './operations/request-metrics.ts';
import { createBodyReader, hasBody, UNVERIFIED_BYTES } from './http/read-body.ts';
import type { Reply, Route, TextReply } from './http/route.ts';
import { EVENT_STREAM, sendStream } from './http/stream-reply.ts';
import { createRouter } from './http/router.ts';
import { securityHeaders } from './http/security-headers.ts';
import { parseTarget, targetOf } from './http/target.ts';

export interface ApiOptions {
  /** Checks the host that an unsigned request names; default: loopback names and addresses only. */
  readonly checkHost?: HostCheck;
  /** Options of the dashboard; left out: no dashboard. */
  readonly dashboard?: DashboardOptions;
  /** Authenticates requests. Left out: no request passes while authentication is on. */
  readonly guard?: Guard;
  /** Serves the operators' console; left out: no console. */
  readonly console?: ServeConsole | undefined;
  readonly tracing?: Pick<Tracing, 'request'> | undefined;
  /** Other limits of admission, for tests. */
  readonly admission?: AdmissionOptions;
  /** Maximum bytes of bodies whose sender is not authenticated yet; other values are for tests. */
  readonly unverifiedBytes?: number;
}

const NAME = 'fund-movement-orchestrator';
const OPEN_CALLER: Caller = { client_id: null, key_id: null, role: 'admin' };

/**
 * Builds the application from its routes. Order of the checks: size, path, headers with key and
 * clock, the body's bytes, admission turn, authentication, rate limit, route, role, body, handler.
 */
export function createApi(
  base: ApiDependencies,
  routes: readonly Route[],
  options: ApiOptions = {},
): Express {
  const app = express();
  app
    .disable('x-powered-by')
    .disable('etag')
    .enable('case sensitive routing')
    .enable('strict routing')
    .set('query parser', false);
  const find = createRouter(routes);
  const { checkHost = createHostCheck([]) } = options;
  const changes = createChangeDesk({
    find: (method, path) => {
      const prefix = isSecond(path) ? SECOND_PREFIX : base.settings.apiPrefix;
      const own = dashboard !== null && prefix !== SECOND_PREFIX && path.startsWith(DASHBOARD);
      return own
        ? { ...dashboard.findOwn(method, path), own }
        : { ...find(method, path.slice(prefix.length)), own };
    },
    operator: async (name) => (await options.dashboard?.authentication.present(name)) ?? null,
    deps: () => deps,
  });
  const deps: ApiDependencies = { ...base, changes };
  const dashboard =
    options.dashboard === undefined ? null : createDoor(deps, find, options.dashboard, checkHost);
  const bodies = createBodyReader(options.unverifiedBytes ?? UNVERIFIED_BYTES);
  const admission = createAdmission(options.admission ?? ADMISSION, deps.log);
  const secure = securityHeaders();

  /** Handles a request of the API after its admission turn has come. */
  const routed = async (
    request: Request,
    response: Response,
    { target, body }: Arrived,
  ): Promise<Reply<unknown> | TextReply> => {
    const exchange = exchangeOf(request);
    const { apiPrefix, authEnabled } = deps.settings;
    const signed = signedRequest(request, { target, body }, exchange);
    const guard = authEnabled ? guardOf(options) : null;
    const caller = guard === null ? OPEN_CALLER : await guard.authenticate(signed);
    exchange.caller = caller;
    body.release();
    if (caller.role === 'agent' && signed.body.byteLength > AGENT_BODY_BYTES)
      throw new ServiceError('body_too_large');
    const wait = guard === null ? null : await guard.limit(caller);
    if (wait !== null) {
      response.setHeader('Retry-After', String(wait));
      throw new ServiceError('rate_limited');
    }

    const { route, params } = found(
      find(request.method, target.path.slice(apiPrefix.length)),
      response,
    );
    exchange.route = route.id;
    await guard?.admit(route, params, { caller, request_id: exchange.request_id });
    return answer({ route, params, caller }, signed, exchange, deps);
  };

  app.use((request: Request, response: Response, next: NextFunction) => {
    const exchange = beginExchange(request);
    // Probes have no span: they would be most of the traces.
    if (request.url !== '/healthz')
      exchange.span = options.tracing?.request(request.method, request.headers) ?? null;
    response.setHeader('X-Request-Id', exchange.request_id);
    response.setHeader('Cache-Control', 'no-store');
    for (const [name, value] of secure) response.setHeader(name, value);
    response.on('close', () => {
      record(request, response, exchange, deps);
    });
    next();
  });

  app.use(async (request: Request, response: Response) => {
    const exchange = exchangeOf(request);
    const follows = hasBody(request);
    const target = parseTarget(targetOf(request));
    if (target.path === '/healthz') {
      exchange.route = 'healthz';
      health(request, response, deps);
      return;
    }
    if (options.console?.(target.path, request, response) === true) {
      exchange.route = 'console';
      return;
    }
    const { apiPrefix, authEnabled } = deps.settings;
    const isDashboard = dashboard !== null && target.path.startsWith(DASHBOARD);
    const isApi = target.path === apiPrefix || target.path.startsWith(`${apiPrefix}/`);
    if (!isDashboard && !isApi) throw new ServiceError('route_not_found');
    if (isApi && !authEnabled) checkHost(request);
    if (isApi && authEnabled && follows)
      await guardOf(options).recognise({
        headers: request.headersDistinct,
        request_id: exchange.request_id,
      });
    if (isDashboard) await dashboard.recognise(request, target, follows);
    const body = await bodies.read(request);
    try {
      const leave = await admission.enter(response);
      try {
        const arrived = { target, body };
        send(
          response,
          isDashboard
            ? await dashboard.answer(request, response, arrived)
            : await routed(request, response, arrived),
        );
      } finally {
        leave();
      }
    } finally {
      body.release();
    }
  });

  // Express recognises an error handler by its four parameters.
  app.use((error: unknown, request: Request, response: Response, _next: NextFunction) => {
    respondWithError(error, response, {
      request_id: exchangeOf(request).request_id,
      log: deps.log,
    });
  });
  return app;
}

function send(response: Response, reply: Reply<unknown> | TextReply): void {
  response.status(reply.status);
  if ('text' in reply && reply.goesOn !== undefined)
    sendStream(response, { text: reply.text, goesOn: reply.goesOn });
  else if ('text' in reply)
    response.type(reply.type ?? 'text/plain; charset=utf-8').send(reply.text);
  else sendJson(response, reply);
}

/** As Express' `json`, which looks up the type of JSON and parses it for each response. */
function sendJson(response: Response, { body, headers = {} }: Reply<unknown>): void {
  const text = JSON.stringify(body);
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(text));
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.end(text);
}

function health(request: Request, response: Response, deps: ApiDependencies): void {
  if (request.method !== 'GET') {
    response.setHeader('Allow', 'GET');
    throw new ServiceError('method_not_allowed', { context: { allow: ['GET'] } });
  }
  response.json({ ok: true, service: NAME, api_prefix: deps.settings.apiPrefix });
}

function guardOf({ guard }: ApiOptions): Guard {
  if (guard === undefined) throw new ServiceError('unauthenticated');
  return guard;
}

function record(
  request: Request,
  response: Response,
  exchange: Exchange,
  deps: ApiDependencies,
): void {
  const seconds = Number(process.hrtime.bigint() - exchange.started) / 1e9;
  const { method } = request;
  // A stream ends when its reader disconnects, so this is not an aborted request.
  const isAnswered =
    response.writableFinished || response.getHeader('content-type') === EVENT_STREAM;
  const status = isAnswered ? response.statusCode : 499;
  observeRequest({ method, route: exchange.route, status, seconds });
  exchange.span?.end({ route: exchange.route, status, request_id: exchange.request_id });
  deps.log.info(
    {
      request_id: exchange.request_id,
      method,
      route: exchange.route,
      status,
      duration_ms: Math.round(seconds * 1000),
      client_id: exchange.caller?.client_id ?? null,
      key_id: exchange.caller?.key_id ?? null,
    },
    'request',
  );
}
