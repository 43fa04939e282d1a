/** The service's API with its hand-over, as main.ts composes it, and with the bench's executors. */
import { createApi } from '../../api/http/app.ts';
import { routes } from '../../api/routes.ts';
import { listen } from '../../api/http/server.ts';
import { NO_CHAINS } from '../../domain/plan/tokens.ts';
import { createHandOver } from '../../platform/handover.ts';
import { createLogger } from '../../platform/log.ts';
import { connectTemporal } from '../../platform/temporal.ts';
import { connectDatabase } from '../../prisma/client.ts';
import { NO_BALANCES } from '../../platform/balance-desk.ts';
import { benchExecutors } from '../executors.ts';
import { NAMESPACE, POOL_SIZE, runPart } from './part.ts';

/** Longer than any bench: nothing expires while it waits. */
const APPROVAL_TTL_SECONDS = 86_400;

runPart(async ({ databaseUrl, temporalAddress, apiPort, remotePort }) => {
  const log = createLogger({ logLevel: 'warn' }, 'bench-api');
  const db = connectDatabase({ url: databaseUrl, poolSize: POOL_SIZE });
  const temporal = connectTemporal({ address: temporalAddress, namespace: NAMESPACE });
  const executors = benchExecutors(`http://127.0.0.1:${remotePort}`);
  const handOver = createHandOver({ temporal, log });
  const app = createApi(
    {
      db,
      log,
      executors,
      balances: NO_BALANCES,
      chains: NO_CHAINS,
      signers: { list: () => [], get: () => undefined },
      handOver: (movementId, command) =>
        handOver.send({
          movementId,
          kind: command?.kind ?? 'wake',
          commandId: command?.command_id ?? null,
        }),
      settings: {
        apiPrefix: '/v3',
        approvalTtlSeconds: APPROVAL_TTL_SECONDS,
        authEnabled: false,
        balanceStaleSeconds: 300,
        temporalNamespace: NAMESPACE,
        temporalUiUrl: 'http://127.0.0.1',
      },
    },
    routes,
  );
  const server = await listen({ app, host: '127.0.0.1', port: apiPort });
  return async () => {
    await server.close();
    await handOver.stop();
    await Promise.all([executors.close(), temporal.close(), db.$disconnect()]);
  };
});
