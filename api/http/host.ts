/**
 * Checks which host an unsigned request names. An attacker's page may let its own host name point
 * to this machine; the browser then lets that page read our responses. Such a request names the
 * attacker's host, so unsigned requests are allowed only under our own host names.
 */
import type { IncomingMessage } from 'node:http';
import { isLoopbackHost, normalHost } from '../../domain/callbacks/target.ts';
import { ServiceError } from '../../domain/errors.ts';

/** Throws `forbidden` unless the request names one of our hosts. */
export type HostCheck = (request: Pick<IncomingMessage, 'headers' | 'socket'>) => void;

/**
 * Creates the check. Our hosts are loopback names, the address of the connection, and `names`:
 * hosts that the server listens on and configured hosts.
 */
export function createHostCheck(names: readonly string[]): HostCheck {
  const known = new Set(names.map(normalHost));
  return ({ headers: { host }, socket }) => {
    // Only HTTP/1.0 allows a request without a Host header, and no browser uses HTTP/1.0.
    if (host === undefined) return;
    const named = hostOf(host);
    if (
      named !== null &&
      (isLoopbackHost(named) || known.has(named) || named === addressOf(socket.localAddress))
    )
      return;
    throw new ServiceError('forbidden', {
      message:
        'An unsigned request must name this machine as its host. SVC_ALLOWED_HOSTS_CSV adds host names.',
    });
  };
}

/** Returns the host without its port, normalised; null for an invalid host. */
function hostOf(header: string): string | null {
  const [, host] = /^(\[[^\]]*\]|[^:]*)(?::\d{1,5})?$/.exec(header) ?? [];
  return host === undefined ? null : normalHost(host);
}

function addressOf(address: string | undefined): string | null {
  return address === undefined ? null : normalHost(address.replace(/^::ffff:(?=\d+\.)/, ''));
}
