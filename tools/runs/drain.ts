/** Signals the runs of a build to leave it, until none is left or the time is over. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Build, LeaveBuild, WayToLeave } from '../../domain/builds.ts';
import { createLeaver, takerWithoutWorker } from '../../platform/leaving-runs.ts';
import type { Builds } from '../../platform/temporal-builds.ts';
import { ToolError } from '../io.ts';
import { unknownBuild } from './unknown.ts';

/** Milliseconds between two rounds: the server's list of runs lags by about that much. */
const PAUSE_MS = 2_000;

export interface DrainOptions {
  /** Null: as the server can. */
  readonly by: WayToLeave | null;
  readonly dryRun: boolean;
  readonly waitSeconds: number;
  readonly pauseMs?: number;
}

export interface Drained extends LeaveBuild {
  readonly dry_run: boolean;
  /** Open runs at the start, and at the end. */
  readonly found: number;
  readonly left: number;
  /** Signals that were sent, and those of them that failed and were repeated. */
  readonly signalled: number;
  readonly failed: number;
}

type Calls = Omit<Builds, 'promote'>;

/**
 * Drains the build. A run with a send under way leaves after it. Throws a {@link ToolError} for a
 * build that no worker has registered, and for one whose runs would come back or have no worker,
 * also when that becomes so while it drains.
 */
export async function drainBuild(calls: Calls, of: Build, options: DrainOptions): Promise<Drained> {
  await refuseTarget(calls, of, options.dryRun);
  const order: LeaveBuild = { ...of, by: options.by ?? (await calls.wayOut()) };
  const found = await calls.countOpen(of);
  const leave = createLeaver(calls);
  const tally = { signalled: 0, failed: 0 };
  const until = performance.now() + options.waitSeconds * 1_000;
  let left = found;
  // The count lags, so 0 is sure only when it is still 0 after a pause.
  let isSure = options.dryRun;
  while (!isSure) {
    const { signalled, failed } = await leave(order);
    tally.signalled += signalled;
    tally.failed += failed;
    if (performance.now() >= until) break;
    await sleep(options.pauseMs ?? PAUSE_MS);
    const before = left;
    left = await calls.countOpen(of);
    isSure = before === 0 && left === 0;
    if (!isSure) await refuseTarget(calls, of, false);
  }
  return { ...order, dry_run: options.dryRun, found, left, ...tally };
}

async function refuseTarget(
  calls: Pick<Builds, 'list' | 'hasWorker' | 'takers'>,
  { deployment, build }: Build,
  dryRun: boolean,
): Promise<void> {
  const known = await calls.list(deployment);
  const status = known.find((each) => each.build === build)?.status;
  if (status === undefined) throw unknownBuild({ deployment, build }, known);
  const takers = await calls.takers();
  // All new runs start in a deployment of another name, so the status of this one is out of date.
  const isLeft = takers.every((taker) => taker !== null && taker.deployment !== deployment);
  if (!isLeft && (status === 'current' || status === 'ramping'))
    throw new ToolError(
      `New runs start on the build ${build}, which is ${status}. Promote another build first: fundadmin runs promote --build <build>, with --deployment <new name> after the deployment's name has changed.`,
    );
  const idle = dryRun ? undefined : await takerWithoutWorker(calls, takers);
  if (idle !== undefined)
    throw new ToolError(
      `No worker ${idle === null ? 'without a build' : `of the build ${idle.build}`} polls, and new runs start there: runs that leave would stand still. Start one, or promote a build that has workers, which also ends a ramp.`,
    );
}
