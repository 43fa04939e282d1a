/** Lists the builds of the workers, with the runs that stay on each. */
import type { BuildState, Builds } from '../../platform/temporal-builds.ts';

export interface ListedBuild extends BuildState {
  readonly open_runs: number;
}

/** Returns every build of the deployment, newest first. */
export async function listBuilds(
  calls: Pick<Builds, 'list' | 'countOpen'>,
  deployment: string,
): Promise<readonly ListedBuild[]> {
  const listed: ListedBuild[] = [];
  for (const build of await calls.list(deployment))
    listed.push({ ...build, open_runs: await calls.countOpen(build) });
  return listed;
}
