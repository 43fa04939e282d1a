/**
 * Where callbacks may go, as far as the address itself shows. What a name resolves to is checked
 * when it is called.
 */

const HOST = /^([a-z0-9._-]+|\[[0-9a-f:.]+\])$/;

/**
 * The host of a URL in its one normal form (lower case, punycode, IPv6 in brackets), or null when
 * `text` is no host.
 */
export function normalHost(text: string): string | null {
  const bare = text.trim().toLowerCase();
  // A colon outside of brackets would start a port, and every port of a listed host may be called.
  const host = bare.includes(':') && !bare.startsWith('[') ? `[${bare}]` : bare;
  const address = `https://${host}/`;
  if (/[/?#@\\%\s]|]./.test(host) || !URL.canParse(address)) return null;
  const { hostname } = new URL(address);
  return HOST.test(hostname) ? hostname : null;
}

/** Whether a URL's host means this machine itself. */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** Why a callback can never be sent to an address while the settings are as they are. */
export type TargetRefusal = 'malformed_url' | 'scheme_not_allowed' | 'host_not_allowed';

export type TargetCheck =
  { readonly ok: true; readonly url: URL } | { readonly ok: false; readonly reason: TargetRefusal };

/** https, or http to this machine itself, and in either case a host that is listed. */
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
