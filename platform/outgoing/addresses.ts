/** The addresses behind a URL's host, looked up once and each checked. */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isLoopbackAddress, isPublicAddress } from './public-address.ts';

export interface Address {
  readonly address: string;
  readonly family: number;
}

/** All addresses of a name. */
export type Resolve = (host: string) => Promise<readonly Address[]>;

/** The system's own answer, hosts file included. */
export const systemResolve: Resolve = (host) => lookup(host, { all: true, verbatim: true });

/** A host behind which is an address that must not be called. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

/**
 * The addresses that a connection to `host` may use. A listed address is taken as it stands,
 * `localhost` must mean this machine, and every other name must lead to public addresses only: one
 * that does not spoils them all, since a name that mixes both is what an attack looks like.
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
    throw new AddressRefused('an address is not allowed');
  return found;
}
