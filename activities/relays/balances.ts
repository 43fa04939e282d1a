/** Refreshes the balances of every venue at intervals. */
import type { Logger } from 'pino';
import type { Leases } from './leases.ts';
import type { BalanceDesk } from '../../platform/balance-desk.ts';
import { sha256Hex } from '../../platform/hash.ts';
import { startLoop, type Loop } from '../../platform/loop.ts';

/** Returns the name of the lease; workers that are bound to the same venues share it. */
export function balancesLease({ venues }: Pick<BalanceDesk, 'venues'>): string {
  const keys = venues.map(({ venue_key }) => venue_key).sort();
  return `balances ${sha256Hex(JSON.stringify(keys)).slice(0, 8)}`;
}

/**
 * Starts one loop per venue, so that a venue that hangs delays no other. One worker fetches for
 * all, since venues limit calls; a caller that needs balances sooner uses the desk.
 */
export function startBalanceLoops(
  desk: BalanceDesk,
  { log, leases }: { readonly log: Logger; readonly leases: Pick<Leases, 'under'> },
): readonly Loop[] {
  const lease = balancesLease(desk);
  return desk.venues.map(({ venue_key, interval_seconds }) =>
    startLoop({
      name: 'balances',
      of: venue_key,
      pauseMs: interval_seconds * 1_000,
      log,
      work: leases.under(lease, async () => {
        await desk.refresh(venue_key);
      }),
    }),
  );
}
