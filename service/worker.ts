/** Starts the worker: workflows and activities of movements and of capital transfers. */
import { createMovementActivities } from '../activities/movement.ts';
import { createTransferActivities } from '../activities/capital-transfers/activities.ts';
import { workflowBundle } from '../activities/bundle.ts';
import { startWorker, type RunningWorker } from '../activities/worker.ts';
import { createEvmSigning } from '../venues/evm/signing.ts';
import type { Clocks } from '../activities/relays/clocks.ts';
import { startClocks } from './clocks.ts';
import { startLoops } from './loops.ts';
import type { Parts } from './parts.ts';
import { workStopSeconds } from './stop.ts';

export interface Work {
  readonly worker: RunningWorker;
  readonly clocks: Clocks;
}

/** Starts the worker and the background loops. */
export async function startWork(parts: Parts): Promise<Work> {
  const { config, log, db, temporal, access, tracing, payloadCodec, bound, desk } = parts;
  const { leaving, stops } = parts;
  const { executors, signers, venues } = bound;
  const clocks = startClocks(parts);
  const stopSeconds = workStopSeconds(bound);
  const worker = startWorker({
    access: access.current,
    explain: temporal.explain,
    activities: {
      ...createMovementActivities({
        db,
        log,
        executors,
        signers,
        chains: venues.chainAssets,
        unansweredSeconds: config.unansweredSeconds,
        venueWaitAttentionSeconds: config.venueWaitAttentionSeconds,
        bridgeSnapshotMaxAgeSeconds: config.bridgeSnapshotMaxAgeSeconds,
        unhurriedSeconds: config.unhurriedSeconds,
        signing: createEvmSigning(venues.chains, venues.acts),
        queuedVenues: new Set(venues.queues.map(({ venue_key }) => venue_key)),
        clocks,
        leaving,
      }),
      ...createTransferActivities({
        db,
        log,
        clocks,
        leaving,
        providers: venues.transferProviders,
        pendingSeconds: config.transferPendingSeconds,
        unhurriedSeconds: config.unhurriedSeconds,
        refreshBalances: (venueKey) =>
          void desk.refresh(venueKey, { since: performance.now() })?.catch(() => undefined),
      }),
    },
    workflowBundle: workflowBundle({
      encodeFailures: payloadCodec !== undefined,
      callStacks: config.workflowCallStacks,
      traceHeaders: tracing !== null,
      versioned: config.build !== null,
    }),
    build: config.build,
    slots: config.workerSlots,
    queues: venues.queues,
    payloadCodec,
    activityInterceptor:
      tracing === null ? undefined : (await import('../activities/tracing.ts')).activityTracing,
    log,
    leaving,
    stopSeconds,
    beforeWork: () => temporal.registerSearchAttributes(log),
  });
  stops.work.push({ name: 'worker', stop: () => worker.stop() });
  log.info({ stop_seconds: stopSeconds }, 'a stop waits up to this many seconds for running work');
  access.follow((renewed) => worker.use(renewed));
  startLoops(parts);
  return { worker, clocks };
}
