/** A transport that sends the requests of a table, and refuses every other. */
import { ClientUsageError } from '../http/errors.ts';
import type { Sent, Transport } from '../http/transport.ts';
import type { AgentOperation } from './operations.ts';

/** The one path outside the table: unsigned, it returns the prefix of all others. */
const HEALTH = '/healthz';

/**
 * Refuses every request whose method and path the table does not have, before it is signed.
 * `prefix` is null until it is known; until then only the request for it is sent.
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

/** What is no dot segment, which would be taken out of the path with the one before it. */
const SEGMENT = "(?!(?:\\.|%2[Ee]){1,2}(?:/|$))(?:[A-Za-z0-9._~!*'()-]|%[0-9A-F]{2})+";

/** A parameter is one encoded segment, so that it can never become another path. */
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
