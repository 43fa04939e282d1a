/** The network addresses of a URL's host, looked up once and each checked. */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isLoopbackAddress, isPublicAddress } from './public-address.ts';

export interface Address {
  readonly address: string;
  readonly family: number;
}

/** Returns all network addresses of a host name. */
export type Resolve = (host: string) => Promise<readonly Address[]>;

/** The system's own look-up, including the hosts file. */
export const systemResolve: Resolve = (host) => lookup(host, { all: true, verbatim: true });

/** Thrown when a host has a network address that must not be called. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

/**
 * Returns the network addresses that a connection to `host` may use. A listed address is accepted
 * as written, and `localhost` must mean this machine. Any other name must have only public
 * addresses: one private address refuses the whole name, since a mixed name is a sign of an attack.
 */
export async function checkedAddresses(
  host: string,
  options: { readonly listed: ReadonlySet<string>; readonly resolve: Resolve },
): Promise<readonly Address[]> {
  const literal = host.replace(/^\[(.*)]$/, '$1');
  const family = isIP(literal);
  if (family !== 0)
    return accepted(
      [{ address: literal, family }],
      (address) => options.listed.has(host) || isPublicAddress(address),
    );
  const found = await options.resolve(host);
  if (host === 'localhost' && options.listed.has(host)) return accepted(found, isLoopbackAddress);
  return accepted(found, isPublicAddress);
}

function accepted(
  found: readonly Address[],
  allowed: (address: string) => boolean,
): readonly Address[] {
  if (found.length === 0 || !found.every(({ address }) => allowed(address)))
    throw new AddressRefused('a network address of the host is not allowed');
  return found;
}
