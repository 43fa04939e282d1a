/**
 * Sessions: a cookie with which an operator's page reads; the cookie allows nothing else. Only
 * pages of the console's own origin may use the cookie.
 */
import { auditOf } from '../../domain/commands/context.ts';
import type { Caller } from '../../domain/roles.ts';
import { SESSION_SECONDS } from '../../domain/sessions.ts';
import { newId } from '../../platform/ids.ts';
import { newToken, TOKEN, tokenHash } from '../../platform/one-time.ts';
import type { Database } from '../../prisma/client.ts';
import { closeSession, openSession, useSession } from '../../store/dashboard-sessions.ts';
import { hmacOf } from '../auth/canonical.ts';
import { AuthenticationError } from '../auth/refusal.ts';
import type { SignedRequest } from '../http/signed-request.ts';
import { callerOf, type SessionReader } from './authenticate.ts';
import type { OperatorKey, OperatorKeys } from './operators.ts';

/** A caller, and the session that the request carries. */
export interface SessionCaller {
  readonly caller: Caller;
  readonly session_id: string;
}

export interface Sessions extends SessionReader {
  /** Returns what {@link SessionReader.read} returns, with the session's id. */
  find(request: SignedRequest, isUse?: boolean): Promise<SessionCaller | null>;
  /** Opens a session for the operator with this key; returns the header that sets its cookie. */
  open(caller: Caller, key: OperatorKey, request_id: string): Promise<string>;
  /** Ends a session; returns the header that removes its cookie from the browser. */
  close(session: SessionCaller, request_id: string): Promise<string>;
}

export interface SessionOptions {
  readonly db: Database;
  readonly keys: OperatorKeys;
  /** Returns the only origin of the console. */
  readonly origin: () => string;
}

export function createSessions({ db, keys, origin }: SessionOptions): Sessions {
  const cookie = () => cookieOf(origin());
  const find: Sessions['find'] = async (request, isUse = true) => {
    const sent = valuesOf(request.headers.cookie ?? [], cookie().name);
    const [token] = sent;
    if (token === undefined) return null;
    if (sent.length > 1) throw new AuthenticationError('session_repeated');
    if (!isSameOrigin(request.headers)) throw new AuthenticationError('session_cross_site');
    const session = TOKEN.test(token) ? await useSession(db, tokenHash(token), { isUse }) : null;
    if (session === null) throw new AuthenticationError('session_unknown');
    const { session_id, operator } = session;
    const key = await keys.find(operator);
    if (key === null || session.key_mark !== markOf(key, token))
      throw new AuthenticationError('session_unknown');
    return { caller: callerOf(operator, key), session_id };
  };
  return {
    find,
    claims: ({ headers }) => valuesOf(headers.cookie ?? [], cookie().name).length > 0,
    read: async (request, isUse) => (await find(request, isUse))?.caller ?? null,
    open: async (caller, key, request_id) => {
      const token = newToken();
      const session_id = newId();
      const operator = caller.dashboard?.operator ?? '';
      const entry = { entity_type: 'dashboard_session', entity_key: session_id };
      await openSession(
        db,
        { session_id, token_hash: tokenHash(token), operator, key_mark: markOf(key, token) },
        [auditOf({ caller, request_id }, { action: 'dashboard_session.create', ...entry })],
      );
      return `${cookie().name}=${token}; Max-Age=${String(SESSION_SECONDS)}${cookie().attributes}`;
    },
    close: async ({ caller, session_id }, request_id) => {
      const entry = { entity_type: 'dashboard_session', entity_key: session_id };
      await closeSession(db, session_id, [
        auditOf({ caller, request_id }, { action: 'dashboard_session.end', ...entry }),
      ]);
      return `${cookie().name}=; Max-Age=0${cookie().attributes}`;
    },
  };
}

/**
 * Returns a mark of the key that opened a session. For a key of the file the mark is an HMAC of the
 * session's token, so a reader of only the table cannot test guessed secrets.
 */
function markOf({ secret, enrolled }: OperatorKey, token: string): string {
  return enrolled === null
    ? `file:${hmacOf(secret, `SVC-DASHBOARD-SESSION\n${token}`).toString('base64url')}`
    : enrolled.key_id;
}

/**
 * Returns the cookie's name and attributes. Over http every port of a host name receives the
 * cookie, so its name includes the port.
 */
function cookieOf(origin: string): { readonly name: string; readonly attributes: string } {
  const { protocol, port } = new URL(origin);
  const attributes = '; Path=/; HttpOnly; SameSite=Strict';
  return protocol === 'https:'
    ? { name: '__Host-svc-session', attributes: `${attributes}; Secure` }
    : { name: `svc-session-${port === '' ? '80' : port}`, attributes };
}

function valuesOf(headers: readonly string[], name: string): readonly string[] {
  return headers
    .flatMap((header) => header.split(';'))
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
}

/**
 * Returns whether a page of the console's own origin sent the request. A browser without
 * `Sec-Fetch-Site` sends our other header to another origin only after a CORS permission, which no
 * origin gets.
 */
function isSameOrigin(headers: SignedRequest['headers']): boolean {
  const site = headers['sec-fetch-site'];
  const [only, ...more] = site ?? headers['x-svc-console'] ?? [];
  return more.length === 0 && only === (site === undefined ? '1' : 'same-origin');
}
