/** The parts of the service as main.ts connects them, with the bench's executors in their place. */
import { readConfig } from '../../platform/config.ts';
import { createLogger } from '../../platform/log.ts';
import { connect } from '../../service/connect.ts';
import { Leaving } from '../../activities/leaving.ts';
import type { Parts } from '../../service/parts.ts';
import { createStops, endParts } from '../../service/stop.ts';
import { createBalanceDesk } from '../../platform/balance-desk.ts';
import { refreshBalances } from '../../store/balances.ts';
import { benchExecutors } from '../executors.ts';
import { poolFetchers } from '../pools.ts';
import { NAMESPACE, POOL_SIZE, type PartSettings } from './part.ts';

/** Longer than any bench: nothing expires while it waits. */
const APPROVAL_TTL_SECONDS = 86_400;

/** Settings are the defaults but for addresses; `stops` of what it answers ends everything. */
export async function benchParts(settings: PartSettings, role: 'api' | 'worker'): Promise<Parts> {
  const { databaseUrl, temporalAddress, apiPort, remotePort, slots, pools } = settings;
  const config = readConfig({
    SVC_DATABASE_URL: databaseUrl,
    SVC_DATABASE_POOL_SIZE: String(POOL_SIZE),
    SVC_TEMPORAL_ADDRESS: temporalAddress,
    SVC_TEMPORAL_NAMESPACE: NAMESPACE,
    SVC_HOST: '127.0.0.1',
    SVC_PORT: String(apiPort),
    SVC_OPS_HOST: '127.0.0.1',
    SVC_OPS_PORT: '0',
    SVC_AUTH_ENABLED: 'false',
    SVC_LOG_LEVEL: 'warn',
    SVC_APPROVAL_TTL_SECONDS: String(APPROVAL_TTL_SECONDS),
    ...(slots === undefined ? {} : { SVC_WORKER_SLOTS: String(slots) }),
  });
  const [stops, leaving] = [createStops(), new Leaving()];
  const log = createLogger(config, `bench-${role}`);
  const parts = await connect({ config, role, log, leaving, stops });
  const executors = benchExecutors(`http://127.0.0.1:${remotePort}`);
  stops.connections.push(() => executors.close());
  const bound = { ...parts.bound, executors };
  if (pools === undefined) return { ...parts, bound };
  const desk = createBalanceDesk(poolFetchers(pools), (venueKey, fetch) =>
    refreshBalances(parts.db, venueKey, fetch, () => undefined),
  );
  return { ...parts, bound, desk };
}

/** Ends the parts as a process of the service does. */
export async function stopParts({ stops, log }: Parts): Promise<void> {
  await endParts(stops, log, Promise.resolve());
}
