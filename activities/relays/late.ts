/** Names in the log what the alert RelayLag is about. */
import type { Logger } from 'pino';

/** Seconds after which a change that no run has seen is late, as in the alert. */
export const LATE_SECONDS = 60;
const PAUSE_MS = 60_000;

/** Returns a function that logs an entity with a late change, once a minute at most. */
export function createLateLog(log: Logger): (entity: Readonly<Record<string, unknown>>) => void {
  let nextAt = 0;
  return (entity) => {
    if (performance.now() < nextAt) return;
    nextAt = performance.now() + PAUSE_MS;
    log.warn(entity, 'a change has reached no run for more than a minute; it is sent again');
  };
}
