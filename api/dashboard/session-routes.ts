/** Routes with which a page of the console signs in: enrol a key, open and end a session. */
import { createSecretKey } from 'node:crypto';
import type { Caller } from '../../domain/roles.ts';
import { SESSION_IDLE_SECONDS, SESSION_SECONDS } from '../../domain/sessions.ts';
import { AuthenticationError } from '../auth/refusal.ts';
import { defineRoute } from '../http/route.ts';
import { noBody, noParams, noQuery } from '../http/schemas.ts';
import type { OperatorAuthentication } from './authenticate.ts';
import type { Enrol } from './enrol.ts';
import type { OperatorKey } from './operators.ts';
import { ANYONE, type DashboardRoute } from './route.ts';
import { endSessionResponse, enrolBody, enrolResponse, SECRET, sessionResponse } from './schema.ts';
import type { SessionCaller, Sessions } from './sessions.ts';

export interface SessionRouteOptions {
  readonly authentication: OperatorAuthentication;
  readonly sessions: Sessions;
  readonly enrol: Enrol;
}

const common = { tag: 'Dashboard', roles: [], params: noParams, query: noQuery } as const;

/** Returns the routes. `options` is called at requests only. */
export function sessionRoutes(options: () => SessionRouteOptions): readonly DashboardRoute[] {
  /** The key, or the session, that authenticated the caller of each running request. */
  const keys = new WeakMap<Caller, OperatorKey>();
  const current = new WeakMap<Caller, SessionCaller>();
  return [
    {
      access: {
        by: 'enrolling',
        find: async (request) => {
          const secret = secretIn(request.body);
          // Without a well-formed secret no signature can be checked; the validation refuses the
          // body.
          if (secret !== null)
            await options().authentication.signedBy(request, createSecretKey(secret, 'utf8'));
          return ANYONE;
        },
      },
      route: defineRoute({
        ...common,
        id: 'enrolOperator',
        method: 'POST',
        power: { widens: 'keys' },
        path: '/dashboard/enrol',
        summary: 'Hand over the key that this browser made',
        body: enrolBody,
        response: enrolResponse,
        errors: ['enrolment_refused'],
        handler: async ({ body, headers, requester }, { db }) => ({
          status: 200,
          body: await options().enrol(db, {
            ...body,
            signer: headers['x-svc-dashboard-operator'] ?? '',
            request_id: requester.request_id,
          }),
        }),
      }),
    },
    {
      access: {
        by: 'signed',
        find: async (request) => {
          const { authentication } = options();
          const { caller, key } = await authentication.signedWith(request, { issued: true });
          keys.set(caller, key);
          return caller;
        },
      },
      route: defineRoute({
        ...common,
        id: 'openSession',
        method: 'POST',
        power: 'narrows',
        path: '/dashboard/session',
        summary: 'Open a session, which reads',
        body: noBody,
        response: sessionResponse,
        status: 201,
        errors: ['dashboard_key_pending'],
        handler: async ({ requester: { caller, request_id } }) => {
          const key = keys.get(caller);
          if (key === undefined) throw new AuthenticationError('key_unknown');
          const cookie = await options().sessions.open(caller, key, request_id);
          return {
            status: 201,
            headers: { 'Set-Cookie': cookie },
            body: {
              operator: caller.dashboard?.operator ?? '',
              role: key.role,
              allowlist: key.allowlist,
              expires_in_seconds: SESSION_SECONDS,
              idle_seconds: SESSION_IDLE_SECONDS,
            },
          };
        },
      }),
    },
    {
      access: {
        by: 'session',
        find: async (request) => {
          const session = await options().sessions.find(request);
          if (session === null) throw new AuthenticationError('header_missing');
          current.set(session.caller, session);
          return session.caller;
        },
      },
      route: defineRoute({
        ...common,
        id: 'endSession',
        method: 'DELETE',
        power: 'narrows',
        path: '/dashboard/session',
        summary: 'End the session that the request carries',
        body: noBody,
        response: endSessionResponse,
        errors: [],
        handler: async ({ requester: { caller, request_id } }) => {
          const session = current.get(caller);
          if (session === undefined) throw new AuthenticationError('session_unknown');
          const cookie = await options().sessions.close(session, request_id);
          return { status: 200, headers: { 'Set-Cookie': cookie }, body: { ended: true as const } };
        },
      }),
    },
  ];
}

/** Returns the secret in a body; null when the body has no well-formed secret. */
function secretIn(bytes: Uint8Array): string | null {
  try {
    const body: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    const secret: unknown =
      typeof body === 'object' && body !== null ? Reflect.get(body, 'secret') : null;
    return typeof secret === 'string' && SECRET.test(secret) ? secret : null;
  } catch {
    return null;
  }
}
