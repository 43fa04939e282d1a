/**
 * Compares holds with the balances of venues. Balances are fetched where a hold needs them, and
 * again when a snapshot is too old.
 */
import { ServiceError } from '../../domain/errors.ts';
import type { Take, UncoveredHold } from '../../domain/transition.ts';
import type { ApiDependencies } from '../dependencies.ts';

type Desk = Pick<ApiDependencies, 'balances' | 'log' | 'settings'>;

/** Returns the condition for a hold: a recent snapshot covers it where balances are fetched. */
export function takeAt({ balances, settings }: Desk): Take {
  return {
    venues: balances.venues.map(({ venue_key }) => venue_key),
    stale_after_seconds: settings.balanceStaleSeconds,
  };
}

/**
 * Fetches the venue's balance before a hold is refused for an earlier balance; returns whether
 * there is a new snapshot. When the snapshot is too old, any fetch gives a recent one. When the
 * snapshot is only used up, the fetch must have started after the request arrived (`since`, by this
 * process's clock): funds that arrived before the request must not be refused because of an earlier
 * fetch.
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
      'a hold needs a new balance, but the venue returned none',
    );
    return false;
  }
}

/** Returns the error that says why a hold was not taken. */
export function uncoveredError(uncovered: UncoveredHold | null): ServiceError {
  const reason = uncovered?.effective_withdrawable === null ? 'stale_snapshot' : 'insufficient';
  return new ServiceError('insufficient_effective_withdrawable', {
    context: { reason, ...uncovered },
  });
}
