/** API and worker in this process, on an existing Postgres and Temporal, with one executor. */
import { pino } from 'pino';
import { NO_CHAINS } from '../../domain/plan/tokens.ts';
import { workflowBundle } from '../../activities/bundle.ts';
import { createMovementActivities } from '../../activities/movement.ts';
import { Leaving } from '../../activities/leaving.ts';
import { startWorker } from '../../activities/worker.ts';
import { createApi } from '../../api/app.ts';
import { routes } from '../../venues/routes.ts';
import { listen } from '../../api/http/server.ts';
import type { MovementActivities } from '../../domain/messages.ts';
import type { Executor } from '../../domain/executor.ts';
import { createExecutorRegistry } from '../../executors/registry.ts';
import { connectTemporal, type Temporal } from '../../platform/temporal.ts';
import type { Database } from '../../prisma/client.ts';
import { NO_BALANCES } from '../../platform/balance-desk.ts';
import { instantExecutor } from '../executors.ts';
import { connectApi, type BenchApi } from '../load/api.ts';
import { NAMESPACE, type PartSettings } from '../processes/part.ts';
import { until } from '../until.ts';
import { createEvmChains } from '../../venues/evm/client.ts';
import { createEvmSigning } from '../../venues/evm/signing.ts';

export interface CostService {
  readonly api: BenchApi;
  readonly port: number;
  readonly temporal: Temporal;
  stop(): Promise<void>;
}

/**
 * Neither relay nor sweeper runs and every command is handed over at once: what is counted is the
 * movement alone.
 */
export async function startCostService(options: {
  readonly settings: Pick<PartSettings, 'temporalAddress'>;
  readonly db: Database;
  readonly wrap: (activities: MovementActivities) => MovementActivities;
  /** The instant executor when left out. */
  readonly executor?: Executor;
  /** How long an activity may go on to other phases; as in the service when left out. */
  readonly soonMs?: number;
}): Promise<CostService> {
  const { settings, db, wrap, executor = instantExecutor(), soonMs } = options;
  const log = pino({ level: 'silent' });
  const access = { address: settings.temporalAddress, namespace: NAMESPACE };
  const temporal = connectTemporal(access);
  const executors = createExecutorRegistry({ locals: [executor], remotes: [] });
  const deps = { db, log, executors };
  const worker = startWorker({
    access: () => access,
    activities: wrap(
      createMovementActivities({
        ...deps,
        signers: { get: () => undefined },
        signing: createEvmSigning(createEvmChains([])),
        chains: NO_CHAINS,
        ...(soonMs === undefined ? {} : { soonMs }),
      }),
    ),
    workflowBundle: workflowBundle(),
    ...{ log, leaving: new Leaving(), stopSeconds: 5 },
    beforeWork: () => temporal.registerSearchAttributes(log),
  });
  const app = createApi(
    {
      ...deps,
      signers: { list: () => [], get: () => undefined },
      balances: NO_BALANCES,
      chains: NO_CHAINS,
      handOver: (movementId, command) =>
        void temporal.wake({
          movementId,
          kind: command?.kind ?? 'wake',
          commandId: command?.command_id ?? null,
        }),
      settings: {
        ...{
          apiPrefix: '/v3',
          approvalTtlSeconds: 3_600,
          authEnabled: false,
          balanceStaleSeconds: 300,
          bridgeSnapshotMaxAgeSeconds: 3_600,
          edition: 'commercial',
        },
        ...{ temporalNamespace: NAMESPACE, temporalUiUrl: 'http://127.0.0.1' },
      },
    },
    routes,
  );
  const server = await listen({ app, host: '127.0.0.1', port: 0, graceMs: 500 });
  const api = connectApi(server.port);
  await until(() => worker.isRunning());
  return {
    api,
    port: server.port,
    temporal,
    stop: async () => {
      await api.close();
      await server.close();
      await worker.stop();
      await temporal.close();
    },
  };
}
