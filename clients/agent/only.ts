/** Makes a transport that sends only the requests of a table and refuses every other request. */
import { ClientUsageError } from '../http/errors.ts';
import type { Sent, Transport } from '../http/transport.ts';
import type { AgentOperation } from './operations.ts';

/** The only allowed path outside the table. Its unsigned answer has the prefix of all others. */
const HEALTH = '/healthz';

/**
 * Wraps `send`: refuses a request whose method and path are not in the table, before the request is
 * signed. `prefix` returns null until the prefix is known; until then only `GET /healthz` is sent.
 */
export function only(
  table: readonly AgentOperation[],
  prefix: () => string | null,
  send: Transport,
): Transport {
  const allowed = table.map(({ method, path }) => ({ method, path: patternOf(path) }));
  return async (sent) => {
    if (!isAllowed(sent)) throw refused(sent);
    return send(sent);
  };

  function isAllowed({ method, target, signed }: Sent): boolean {
    if (method === 'GET' && target === HEALTH) return !signed;
    const before = prefix();
    const [path = ''] = target.split('?');
    if (before === null || !path.startsWith(`${before}/`)) return false;
    const rest = path.slice(before.length);
    return allowed.some((each) => each.method === method && each.path.test(rest));
  }
}

/** One path segment, but not `.` or `..`: a URL parser removes `..` and the segment before `..`. */
const SEGMENT = "(?!(?:\\.|%2[Ee]){1,2}(?:/|$))(?:[A-Za-z0-9._~!*'()-]|%[0-9A-F]{2})+";

/** Returns the pattern of a path. A parameter matches one encoded segment, never a second path. */
function patternOf(path: string): RegExp {
  const segments = path
    .split('/')
    .map((segment) => (/^\{.+\}$/.test(segment) ? SEGMENT : segment.replace(/[^a-z-]/g, '\\$&')));
  return new RegExp(`^${segments.join('/')}$`);
}

function refused({ method, target }: Sent): ClientUsageError {
  const [path = ''] = target.split('?');
  return new ClientUsageError(`This program may not send ${method} ${path}.`);
}
