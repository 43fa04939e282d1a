/** Decides on which build of the workers new runs start. */
import type { BuildStatus, Builds } from '../../platform/temporal-builds.ts';
import { ToolError } from '../io.ts';
import { unknownBuild } from './unknown.ts';

export interface Promotion {
  readonly deployment: string;
  /** Null: workers without a build. */
  readonly build: string | null;
  /** Percent of the new runs; 0 ends the ramp. Null: all, and the build becomes the current one. */
  readonly ramp: number | null;
}

export interface Promoted extends Promotion {
  /** What the server did with the build before; null for workers without a build. */
  readonly was: BuildStatus | null;
}

/**
 * Promotes the build. Open runs stay on theirs. Throws a {@link ToolError} when no worker has
 * registered the build, when none of it polls now, and for the end of a ramp that is none.
 */
export async function promoteBuild(
  calls: Pick<Builds, 'list' | 'promote' | 'hasWorker' | 'isRamped'>,
  { deployment, build, ramp }: Promotion,
): Promise<Promoted> {
  const known = await calls.list(deployment);
  const found = known.find((each) => each.build === build);
  if (build !== null && found === undefined) throw unknownBuild({ deployment, build }, known);
  if (ramp === 0 && build !== null && found?.status !== 'ramping')
    throw new ToolError(`The build ${build} gets no share of the new runs, so no ramp ends.`);
  // The server would accept it, and every new run would stand still.
  if (ramp !== 0 && !(await calls.hasWorker(deployment, build)))
    throw new ToolError(
      `No worker ${build === null ? 'without a build' : `of the build ${build}`} polls now. Start its workers first.`,
    );
  // Promoted once more, the current build would be drained by a server that was last changed by
  // another program.
  if (ramp !== null || found?.status !== 'current') await calls.promote(deployment, build, ramp);
  // A ramp to another build, or to workers without one, would go on beside it.
  if (ramp === null && (await calls.isRamped(deployment))) await calls.promote(deployment, null, 0);
  return { deployment, build, ramp, was: found?.status ?? null };
}
