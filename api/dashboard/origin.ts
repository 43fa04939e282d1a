/**
 * Checks the host name under which the console is opened. Session, keys and passkeys belong to that
 * one origin, so requests under another name are refused; a proxy's headers do not count.
 */
import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../../domain/errors.ts';

/** Throws `forbidden` unless the request names the host and port of the console's origin. */
export type OriginCheck = (request: Pick<IncomingMessage, 'headers'>) => void;

/** Creates the check. `origin`, called at each request, returns e.g. `https://console.example`. */
export function createOriginCheck(origin: () => string): OriginCheck {
  return ({ headers: { host } }) => {
    const expected = origin();
    if (host?.toLowerCase() === new URL(expected).host) return;
    throw new ServiceError('forbidden', {
      message: `The console can be opened only at ${expected}: open that address, or set SVC_CONSOLE_ORIGIN to the address that browsers use.`,
    });
  };
}

/** Headers in which a proxy names the original client. */
const FORWARDED = /^(forwarded|via|x-forwarded(-.*)?|x-real-ip|x-original-host|cf-connecting-ip)$/;

/** Returns whether a proxy forwarded the request, so that its peer is not the client. */
export function isForwarded({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return Object.keys(headers).some((name) => FORWARDED.test(name));
}
