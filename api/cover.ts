/** Holds against what venues have: asked for where balances are fetched, and asked again when a snapshot is too old. */
import { ServiceError } from '../domain/errors.ts';
import type { Hold, Transition, UncoveredHold } from '../domain/transition.ts';
import type { ApiDependencies } from './dependencies.ts';

type Desk = Pick<ApiDependencies, 'balances' | 'log' | 'settings'>;

/** The hold, at a fetched venue only where a young snapshot covers it. */
export function coveredHold(hold: Hold, { balances, settings }: Desk): Hold {
  const isFetched = balances.venues.some(({ venue_key }) => venue_key === hold.venue_key);
  return isFetched ? { ...hold, stale_after_seconds: settings.balanceStaleSeconds } : hold;
}

/** The transition with its holds as {@link coveredHold} has them. */
export function withCover(transition: Transition, desk: Desk): Transition {
  const { holds } = transition;
  return holds === undefined ? transition : { ...transition, holds: holds.map((hold) => coveredHold(hold, desk)) };
}

/**
 * Asks the venue before a hold is refused by what it said some time ago; answers whether there is a new snapshot. One that
 * is too old takes a new fetch; one that is merely used up is asked for once a second at most.
 */
export async function refreshBefore(uncovered: UncoveredHold | null, { balances, log }: Desk): Promise<boolean> {
  if (uncovered === null) return false;
  try {
    const asked = balances.refresh(uncovered.venue_key, { anew: uncovered.effective_withdrawable === null });
    await asked;
    return asked !== null;
  } catch (error) {
    log.warn({ err: error, venue_key: uncovered.venue_key }, 'a hold needs fresh balances and the venue gave none');
    return false;
  }
}

/** Why a hold was not taken. */
export function uncoveredError(uncovered: UncoveredHold | null): ServiceError {
  const reason = uncovered?.effective_withdrawable === null ? 'stale_snapshot' : 'insufficient';
  return new ServiceError('insufficient_effective_withdrawable', { context: { reason, ...uncovered } });
}
