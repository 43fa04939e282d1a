/** Keeps the balances of every venue young. */
import type { Logger } from 'pino';
import type { BalanceDesk } from '../../platform/balance-desk.ts';
import { startLoop, type Loop } from '../../platform/loop.ts';

/** One loop a venue, so that one that hangs holds up no other. */
export function startBalanceLoops(desk: BalanceDesk, log: Logger): readonly Loop[] {
  return desk.venues.map(({ venue_key, interval_seconds }) =>
    startLoop({
      name: `balances of ${venue_key}`,
      pauseMs: interval_seconds * 1_000,
      log,
      work: async () => {
        await desk.refresh(venue_key);
      },
    }),
  );
}
