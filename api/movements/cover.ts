/** Holds against what venues have: asked for where balances are fetched, and asked again when a snapshot is too old. */
import type { Transition, UncoveredHold } from '../../domain/transition.ts';
import type { ApiDependencies } from '../dependencies.ts';

type Desk = Pick<ApiDependencies, 'balances' | 'log' | 'settings'>;

/** The transition, with holds at fetched venues only where a young snapshot covers them. */
export function withCover(transition: Transition, { balances, settings }: Desk): Transition {
  if (transition.holds === undefined) return transition;
  const fetched = new Set(balances.venues.map(({ venue_key }) => venue_key));
  const stale_after_seconds = settings.balanceStaleSeconds;
  return { ...transition, holds: transition.holds.map((hold) => (fetched.has(hold.venue_key) ? { ...hold, stale_after_seconds } : hold)) };
}

/** Asks the venue when it was its old snapshot that did not cover the hold; answers whether there is a new one. */
export async function refreshStale(uncovered: UncoveredHold | null, { balances, log }: Desk): Promise<boolean> {
  if (uncovered === null || uncovered.effective_withdrawable !== null) return false;
  try {
    await balances.refresh(uncovered.venue_key, { anew: true });
    return true;
  } catch (error) {
    log.warn({ err: error, venue_key: uncovered.venue_key }, 'a hold needs fresh balances and the venue gave none');
    return false;
  }
}
