/** Who may call the dashboard's own routes, and what they are refused for, as OpenAPI says it. */
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

/** The four headers of an operator's signature, and the cookie of a session. */
export function dashboardSchemes(): JsonSchema {
  return {
    ...Object.fromEntries(
      Object.entries(HEADERS).map(([name, description]) => [
        `Dashboard-${name}`,
        { type: 'apiKey', in: 'header', name: `X-SVC-Dashboard-${name}`, description },
      ]),
    ),
    'Dashboard-Session': {
      ...{ type: 'apiKey', in: 'cookie', name: '__Host-svc-session' },
      description:
        'Of `POST /dashboard/session`; over plain http it is called `svc-session-<port>`. It counts for reads, and where the browser says that a page of the same origin asks.',
    },
  };
}

const SIGNATURE = Object.fromEntries(Object.keys(HEADERS).map((name) => [`Dashboard-${name}`, []]));
const SESSION = { 'Dashboard-Session': [] };

/** How a caller of each access says who it is: one of these is enough. */
const WAYS = {
  open: [],
  local: [SIGNATURE, SESSION, {}],
  known: [SIGNATURE, SESSION],
  signed: [SIGNATURE],
  allowlist: [SIGNATURE],
  // By the secret that the body hands over.
  enrolling: [SIGNATURE],
  session: [SESSION],
} as const;

const nameOf = ({ access }: DashboardRoute): keyof typeof WAYS =>
  typeof access === 'string' ? access : access.by;

/** What the operation needs. */
export function dashboardSecurity(route: DashboardRoute): readonly JsonSchema[] {
  return WAYS[nameOf(route)];
}

/** The errors of a route, with those of its door. */
export function dashboardFailures(of: DashboardRoute): readonly ErrorCode[] {
  const { route } = of;
  const name = nameOf(of);
  // `forbidden`: under another host than the console's, or from another machine.
  const all = [...route.errors, 'forbidden'] as const;
  if (name === 'open') return all;
  if (name === 'enrolling' || name === 'session') return [...all, 'unauthenticated'];
  const disabled = route.method === 'GET' ? [] : (['dashboard_writes_disabled'] as const);
  return [...all, 'unauthenticated', 'dashboard_key_pending', ...disabled];
}
