/** Which network addresses belong to the public internet. */
import ipaddr from 'ipaddr.js';

/**
 * IPv6 gives out global unicast addresses from here alone; all else is special, reserved or not in
 * use.
 */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** False for everything private, local, shared, reserved, translated or malformed. */
export function isPublicAddress(text: string): boolean {
  const address = parsed(text);
  if (address === null || address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST);
}

/** Whether the address is this machine itself. */
export function isLoopbackAddress(text: string): boolean {
  return parsed(text)?.range() === 'loopback';
}

/** Only full notation: short and octal forms mean different addresses to different programs. */
function parsed(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  return ipaddr.IPv6.isValid(text) ? ipaddr.IPv6.parse(text) : null;
}
