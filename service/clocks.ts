/** Measures, in every process, how far clocks are from the process's own. */
import { createClocks, type Clocks } from '../activities/relays/clocks.ts';
import type { Parts } from './parts.ts';

/**
 * Starts to measure. An API judges requests by its own clock, so it compares that with the
 * database's; clocks of venues hold sends back, so workers measure these, too.
 */
export function startClocks({ config, log, db, bound, stops }: Parts): Clocks {
  const venues = config.duties.includes('worker') ? bound.venues.clocks : {};
  const clocks = createClocks({ db, log, venues });
  const measuring = clocks.start(config.healthIntervalSeconds * 1_000);
  stops.work.push({ name: 'clocks', stop: async () => measuring.stop().then(() => []) });
  return clocks;
}
