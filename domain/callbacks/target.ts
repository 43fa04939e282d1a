/**
 * Checks where callbacks may go, by the URL alone. The addresses that a host name resolves to are
 * checked at the call.
 */

const HOST = /^([a-z0-9._-]+|\[[0-9a-f:.]+\])$/;

/**
 * Returns the host of a URL in its normal form (lower case, punycode, IPv6 in brackets); null if
 * `text` is not a host.
 */
export function normalHost(text: string): string | null {
  const bare = text.trim().toLowerCase();
  // A colon outside brackets would start a port. Ports are not listed: every port of a listed host
  // may be called.
  const host = bare.includes(':') && !bare.startsWith('[') ? `[${bare}]` : bare;
  const address = `https://${host}/`;
  if (/[/?#@\\%\s]|]./.test(host) || !URL.canParse(address)) return null;
  const { hostname } = new URL(address);
  return HOST.test(hostname) ? hostname : null;
}

/** Returns whether a URL's host is this machine. */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** Why a callback can never be sent to a URL with the present settings. */
export type TargetRefusal = 'malformed_url' | 'scheme_not_allowed' | 'host_not_allowed';

export type TargetCheck =
  { readonly ok: true; readonly url: URL } | { readonly ok: false; readonly reason: TargetRefusal };

/** Accepts https, or http to this machine; in both cases the host must be listed. */
export function checkTarget(address: string, allowedHosts: ReadonlySet<string>): TargetCheck {
  if (!URL.canParse(address)) return { ok: false, reason: 'malformed_url' };
  const url = new URL(address);
  if (url.username !== '' || url.password !== '') return { ok: false, reason: 'malformed_url' };
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopbackHost(url.hostname))) {
    return { ok: false, reason: 'scheme_not_allowed' };
  }
  return allowedHosts.has(url.hostname)
    ? { ok: true, url }
    : { ok: false, reason: 'host_not_allowed' };
}
