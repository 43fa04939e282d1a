/** The service's API process as main.ts composes it, with the bench's executors. */
import { planApi, startApi } from '../../service/api.ts';
import { openOps, startOps } from '../../service/operations.ts';
import { runPart } from './part.ts';
import { benchParts, stopParts } from './service.ts';

runPart(async (settings) => {
  const parts = await benchParts(settings, 'api');
  const plan = planApi(parts.config);
  const apiPort = await startApi(parts, plan);
  await startOps(parts, {
    listener: await openOps(parts),
    table: plan.table,
    apiPort,
    work: null,
  });
  return () => stopParts(parts);
});
