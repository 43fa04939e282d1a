/** The service's worker with its relays, as main.ts composes it, and with the bench's executors. */
import { NO_CHAINS } from '../../domain/plan/tokens.ts';
import { workflowBundle } from '../../activities/bundle.ts';
import { createMovementActivities } from '../../activities/movement.ts';
import { startCommandRelay, startSweeper } from '../../activities/relays/commands.ts';
import { installSdkLog } from '../../activities/sdk-log.ts';
import { startWorker } from '../../activities/worker.ts';
import { createLogger } from '../../platform/log.ts';
import { connectTemporal } from '../../platform/temporal.ts';
import { connectDatabase } from '../../prisma/client.ts';
import { benchExecutors } from '../executors.ts';
import { NAMESPACE, POOL_SIZE, runPart } from './part.ts';
import { until } from '../until.ts';
import { createEvmChains } from '../../venues/evm/client.ts';
import { createEvmSigning } from '../../venues/evm/signing.ts';

/** The service's default. */
const SWEEP_IDLE_SECONDS = 15;

runPart(async ({ databaseUrl, temporalAddress, remotePort }) => {
  const log = createLogger({ logLevel: 'warn' }, 'bench-worker');
  installSdkLog(log);
  const db = connectDatabase({ url: databaseUrl, poolSize: POOL_SIZE });
  const temporal = connectTemporal({ address: temporalAddress, namespace: NAMESPACE });
  const executors = benchExecutors(`http://127.0.0.1:${remotePort}`);
  const worker = startWorker({
    address: temporalAddress,
    namespace: NAMESPACE,
    activities: createMovementActivities({
      db,
      log,
      executors,
      signers: { get: () => undefined },
      signing: createEvmSigning(createEvmChains([])),
      chains: NO_CHAINS,
    }),
    workflowBundle: workflowBundle(),
    log,
    beforeWork: () => temporal.registerSearchAttributes(log),
  });
  const relay = { db, temporal, log, sweepIdleSeconds: SWEEP_IDLE_SECONDS };
  const loops = [startCommandRelay(relay), startSweeper(relay)];
  await until(() => worker.isRunning());
  return async () => {
    await Promise.all(loops.map((loop) => loop.stop()));
    await worker.stop();
    await Promise.all([executors.close(), temporal.close(), db.$disconnect()]);
  };
});
