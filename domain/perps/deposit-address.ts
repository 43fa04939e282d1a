/** Deposit addresses of the perps venue: only nodes of type perp_deposit may pay them. */
import { perpRoleOf } from './ready.ts';
import type { Destination } from '../allowlist/destination.ts';
import { unpadded } from '../allowlist/unpadded.ts';
import type { ChainAssets } from '../plan/tokens.ts';

export const USE_PERP_DEPOSIT = 'USE_PERP_DEPOSIT';

/**
 * Returns why a node may not pay these destinations; null when none is a deposit address. The venue
 * credits a plain transfer to that address to the sender, whatever the amount; on another chain it
 * credits no account.
 */
export function paysDepositAddress(
  actionType: string,
  destinations: readonly Pick<Destination, 'address'>[],
  chains: ChainAssets,
): { readonly code: typeof USE_PERP_DEPOSIT; readonly message: string } | null {
  if (perpRoleOf(actionType) === 'deposit') return null;
  for (const venue of chains.flatMap(({ deposit_venues }) => deposit_venues)) {
    const wanted = venue.deposit_address.toLowerCase();
    if (destinations.some(({ address }) => unpadded(address).toLowerCase() === wanted))
      return {
        code: USE_PERP_DEPOSIT,
        message: `${venue.deposit_address} is the deposit address of ${venue.venue_key}: pay it with perp_deposit`,
      };
  }
  return null;
}
