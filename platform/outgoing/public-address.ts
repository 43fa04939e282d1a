/** Decides which network addresses belong to the public internet. */
import ipaddr from 'ipaddr.js';

/**
 * IPv6 assigns global unicast addresses only from this range; all others are special, reserved or
 * unused.
 */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** Returns false for private, local, shared, reserved, translated or malformed addresses. */
export function isPublicAddress(text: string): boolean {
  const address = parsed(text);
  if (address === null || address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST);
}

/** Returns whether the network address is this machine itself. */
export function isLoopbackAddress(text: string): boolean {
  return parsed(text)?.range() === 'loopback';
}

/** Parses only the full notation, since programs disagree about short and octal forms. */
function parsed(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  return ipaddr.IPv6.isValid(text) ? ipaddr.IPv6.parse(text) : null;
}
