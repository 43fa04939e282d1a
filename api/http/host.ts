/**
 * Whom an unsigned request was addressed to. A page that somebody opens may have a name of its
 * author's, which the author lets point to this machine: the browser then reads our answers for it,
 * as the page's own. Such a request names that host, so what needs no signature is answered under
 * names of ours alone.
 */
import type { IncomingMessage } from 'node:http';
import { isLoopbackHost, normalHost } from '../../domain/callbacks/target.ts';
import { ServiceError } from '../../domain/errors.ts';

/** Throws `forbidden` unless the request names a host of ours. */
export type HostCheck = (request: Pick<IncomingMessage, 'headers' | 'socket'>) => void;

/**
 * Names of ours: loopback names, the address of the connection, and `names`: those that the server
 * listens on and those that are configured.
 */
export function createHostCheck(names: readonly string[]): HostCheck {
  const known = new Set(names.map(normalHost));
  return ({ headers: { host }, socket }) => {
    // Only HTTP/1.0 may leave it out, which no browser speaks.
    if (host === undefined) return;
    const named = hostOf(host);
    if (
      named !== null &&
      (isLoopbackHost(named) || known.has(named) || named === addressOf(socket.localAddress))
    )
      return;
    throw new ServiceError('forbidden', {
      message:
        'Without a signature this is answered under the names of this machine alone; SVC_ALLOWED_HOSTS_CSV takes more of them.',
    });
  };
}

/** The host without its port, in its normal form; null when it is none. */
function hostOf(header: string): string | null {
  const [, host] = /^(\[[^\]]*\]|[^:]*)(?::\d{1,5})?$/.exec(header) ?? [];
  return host === undefined ? null : normalHost(host);
}

function addressOf(address: string | undefined): string | null {
  return address === undefined ? null : normalHost(address.replace(/^::ffff:(?=\d+\.)/, ''));
}
