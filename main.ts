/**
 * Starts a service process: settings, then Postgres and Temporal, then the API, the worker or both.
 * `node dist/main.js [all|api|worker]`; `all` becomes `api` with SVC_WORKERS_ENABLED=false.
 */
import { Leaving } from './activities/leaving.ts';
import { installSdk } from './activities/sdk.ts';
import { environment, readConfig, type Config } from './platform/config.ts';
import { PROCESS_ROLES, type ProcessRole } from './platform/config/role.ts';
import { createLogger } from './platform/log.ts';
import { planApi, startApi } from './service/api.ts';
import { connect } from './service/connect.ts';
import { openOps, startOps } from './service/operations.ts';
import { createStops, stopOnSignal } from './service/stop.ts';
import { startWork } from './service/worker.ts';

async function main(): Promise<void> {
  const role = roleOf(process.argv[2]);
  const config = readConfig(environment(), role);
  const plan = planApi(config);
  const [stops, leaving] = [createStops(), new Leaving()];
  const log = createLogger(config, role);
  if (role !== 'api') installSdk(log, sdkMetricsAddress(config));
  stopOnSignal({ stops, leaving, drainSeconds: config.drainSeconds, log });

  const listener = await openOps({ config, log, stops });
  const parts = await connect({ config, role, log, leaving, stops });
  // A stop was requested during the start. It would not end parts that start from here on, so none
  // is started.
  if (stops.stopping) return;
  const work = config.duties.includes('worker') ? await startWork(parts) : null;
  const apiPort = role === 'worker' ? config.port : await startApi(parts, plan);
  await startOps(parts, { listener, table: plan.table, apiPort, work });
}

function sdkMetricsAddress({ opsHost, sdkMetricsPort }: Config): string | undefined {
  if (sdkMetricsPort === undefined) return undefined;
  return `${opsHost.includes(':') ? `[${opsHost}]` : opsHost}:${String(sdkMetricsPort)}`;
}

function roleOf(text: string | undefined): ProcessRole {
  const role = PROCESS_ROLES.find((each) => each === (text ?? 'all'));
  if (role === undefined)
    throw new Error(`unknown role "${text ?? ''}": use ${PROCESS_ROLES.join(', ')}`);
  return role;
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
