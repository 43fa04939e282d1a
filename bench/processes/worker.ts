/**
 * The service's worker process with all its loops as main.ts composes it, with the bench's
 * executors.
 */
import { installSdk } from '../../activities/sdk.ts';
import { planApi } from '../../service/api.ts';
import { openOps, startOps } from '../../service/operations.ts';
import { startWork } from '../../service/worker.ts';
import { until } from '../until.ts';
import { runPart } from './part.ts';
import { benchParts, stopParts } from './service.ts';

runPart(async (settings) => {
  const parts = await benchParts(settings, 'worker');
  installSdk(parts.log);
  const work = await startWork(parts);
  const { table } = planApi(parts.config);
  const listener = await openOps(parts);
  await startOps(parts, { listener, table, apiPort: settings.apiPort, work });
  await until(() => work.worker.isRunning());
  return () => stopParts(parts);
});
