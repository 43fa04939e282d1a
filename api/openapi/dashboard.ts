/** Authentication and refusals of the dashboard's own routes in OpenAPI. */
import type { ErrorCode } from '../../domain/errors.ts';
import type { DashboardRoute } from '../dashboard/route.ts';
import type { JsonSchema } from './schemas.ts';

const HEADERS = {
  Operator: 'The name of the operator.',
  Timestamp: 'Seconds since 1970, in decimal digits.',
  Nonce:
    'One of `GET /dashboard/nonce`, used once. A key of the file may take any new one on the routes of the allowlist.',
  Signature:
    '`v3=` and HMAC-SHA256 in lowercase hex, over eight lines: `SVC-DASHBOARD-V3`, then those of the API, then the operator.',
};

/** Returns the four headers of an operator's signature, and the cookie of a session. */
export function dashboardSchemes(): JsonSchema {
  return {
    ...Object.fromEntries(
      Object.entries(HEADERS).map(([name, description]) => [
        `Dashboard-${name}`,
        { type: 'apiKey', in: 'header', name: `X-SVC-Dashboard-${name}`, description },
      ]),
    ),
    'Dashboard-Session': {
      type: 'apiKey',
      in: 'cookie',
      name: '__Host-svc-session',
      description:
        'Of `POST /dashboard/session`; over plain http it is called `svc-session-<port>`. It counts for reads, and where the browser says that a page of the same origin asks.',
    },
  };
}

const SIGNATURE = Object.fromEntries(Object.keys(HEADERS).map((name) => [`Dashboard-${name}`, []]));
const SESSION = { 'Dashboard-Session': [] };

/** The ways to authenticate for each access; one of them is enough. */
const WAYS = {
  open: [],
  local: [SIGNATURE, SESSION, {}],
  known: [SIGNATURE, SESSION],
  signed: [SIGNATURE],
  allowlist: [SIGNATURE],
  // Signed with the secret in the body.
  enrolling: [SIGNATURE],
  session: [SESSION],
} as const;

const nameOf = ({ access }: DashboardRoute): keyof typeof WAYS =>
  typeof access === 'string' ? access : access.by;

/** Returns the security requirements of a route. */
export function dashboardSecurity(route: DashboardRoute): readonly JsonSchema[] {
  return WAYS[nameOf(route)];
}

/** Returns the errors of a route, including those of its authentication. */
export function dashboardFailures(of: DashboardRoute): readonly ErrorCode[] {
  const { route } = of;
  const name = nameOf(of);
  // `forbidden`: the request names another host than the console's, or comes from another machine.
  const all = [...route.errors, 'forbidden'] as const;
  if (name === 'open') return all;
  if (name === 'enrolling' || name === 'session') return [...all, 'unauthenticated'];
  const disabled = route.method === 'GET' ? [] : (['dashboard_writes_disabled'] as const);
  return [...all, 'unauthenticated', 'dashboard_key_pending', ...disabled];
}
