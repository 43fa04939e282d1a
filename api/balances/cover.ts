/**
 * Compares holds with what venues have. Balances are fetched where they are required, and again
 * when a snapshot is too old.
 */
import { ServiceError } from '../../domain/errors.ts';
import type { Take, UncoveredHold } from '../../domain/transition.ts';
import type { ApiDependencies } from '../dependencies.ts';

type Desk = Pick<ApiDependencies, 'balances' | 'log' | 'settings'>;

/** Where balances are fetched, what is taken must be covered by a young snapshot. */
export function takeAt({ balances, settings }: Desk): Take {
  return {
    venues: balances.venues.map(({ venue_key }) => venue_key),
    stale_after_seconds: settings.balanceStaleSeconds,
  };
}

/**
 * Asks the venue before a hold is refused by what it said some time ago; answers whether there is a
 * new snapshot. Where the one at hand is too old, any fetch makes a young one. Where it is merely
 * used up, a refusal is by what the venue says after the request came in (`since`, by this
 * process's clock): what arrived before must not be refused for a fetch of a moment ago.
 */
export async function refreshBefore(
  uncovered: UncoveredHold | null,
  since: number,
  { balances, log }: Desk,
): Promise<boolean> {
  if (uncovered === null) return false;
  try {
    const refreshing = balances.refresh(
      uncovered.venue_key,
      uncovered.effective_withdrawable === null ? { anew: true } : { since },
    );
    await refreshing;
    return refreshing !== null;
  } catch (error) {
    log.warn(
      { err: error, venue_key: uncovered.venue_key },
      'a hold needs fresh balances and the venue gave none',
    );
    return false;
  }
}

/** Why a hold was not taken. */
export function uncoveredError(uncovered: UncoveredHold | null): ServiceError {
  const reason = uncovered?.effective_withdrawable === null ? 'stale_snapshot' : 'insufficient';
  return new ServiceError('insufficient_effective_withdrawable', {
    context: { reason, ...uncovered },
  });
}
