/**
 * Empties builds of the workers that the server drains: signals their runs to leave, so that an old
 * build's workers can be stopped although movements may stay open for weeks.
 */
import type { Logger } from 'pino';
import { Gauge } from 'prom-client';
import { nameOfBuild, type Build } from '../../domain/builds.ts';
import { createLeaver, takerWithoutWorker } from '../../platform/leaving-runs.ts';
import { startLoop, type Loop } from '../../platform/loop.ts';
import type { Builds, BuildState, BuildStatus } from '../../platform/temporal-builds.ts';
import type { Leases } from './leases.ts';

const PAUSE_MS = 60_000;
/** A run may come to a build late, after the server has seen none there. */
const LEFT: readonly BuildStatus[] = ['draining', 'drained'];
export const BUILDS_LEASE = 'draining-builds';

const openRuns = new Gauge({
  name: 'svc_build_open_runs',
  help: 'Open runs that stay on a build of the workers, by build and by what the server does with it.',
  labelNames: ['deployment', 'build', 'status'],
});

/**
 * Starts the loop for the deployment of `build`. A run whose signal failed is signalled in the next
 * turn.
 */
export function startBuildDrainer(options: {
  readonly temporal: { readonly builds: Omit<Builds, 'promote'> };
  readonly build: Build;
  readonly log: Logger;
  readonly leases: Pick<Leases, 'under'>;
  readonly pauseMs?: number;
}): Loop {
  const { build, log, leases, pauseMs = PAUSE_MS } = options;
  const calls = options.temporal.builds;
  const leave = createLeaver(calls);
  let isShown = false;
  const turn = leases.under(BUILDS_LEASE, async () => {
    const open = await showOpen(calls, await calls.list(build.deployment));
    isShown = true;
    const left = open.filter(({ status }) => LEFT.includes(status));
    if (left.length === 0) return;
    const idle = await takerWithoutWorker(calls, await calls.takers());
    if (idle !== undefined) {
      // There the runs would stand still.
      log.warn(
        { build: idle === null ? null : nameOfBuild(idle) },
        'runs stay on their build, because no worker of a build on which new runs start polls',
      );
      return;
    }
    const by = await calls.wayOut();
    for (const each of left) {
      const sent = await leave({ deployment: each.deployment, build: each.build, by });
      if (sent.signalled > 0)
        log.info(
          { build: nameOfBuild(each), by, ...sent },
          'runs were signalled to leave their build',
        );
    }
  });
  return startLoop({
    name: 'draining builds',
    pauseMs,
    log,
    work: async () => {
      isShown = false;
      try {
        return await turn();
      } finally {
        // Another process holds the lease and shows the figures, or they could not be read.
        if (!isShown) openRuns.reset();
      }
    },
  });
}

/** Shows the figures, and returns the builds that have open runs. */
async function showOpen(
  calls: Pick<Builds, 'countOpen'>,
  builds: readonly BuildState[],
): Promise<readonly BuildState[]> {
  const counted: (readonly [BuildState, number])[] = [];
  for (const each of builds) counted.push([each, await calls.countOpen(each)]);
  // Set together, so that a page of metrics never shows a half of them.
  openRuns.reset();
  for (const [{ deployment, build, status }, count] of counted)
    openRuns.set({ deployment, build, status }, count);
  return counted.flatMap(([each, count]) => (count > 0 ? [each] : []));
}
