/** The builds of the workers on a stack of a test, as the service and `fundadmin` use them. */
import type { Client } from '@temporalio/client';
import { createBuilds, type Builds } from '../../platform/temporal-builds.ts';
import { eventually } from './eventually.ts';

export const DEPLOYMENT = 'fund-workers';

/** The settings of a worker of this build. */
export const settingsOf = (build: string): Readonly<Record<string, string>> => ({
  SVC_TEMPORAL_DEPLOYMENT_NAME: DEPLOYMENT,
  SVC_TEMPORAL_BUILD_ID: build,
});

export function buildsOf(client: Client): Builds {
  return createBuilds('default', (work) => work({ connection: client.connection, client }));
}

/** Promotes the build once workers of it poll; the server knows it a little later. */
export async function promote(
  builds: Builds,
  build: string,
  ramp: number | null = null,
): Promise<void> {
  await eventually(async () => ((await builds.hasWorker(DEPLOYMENT, build)) ? true : null), {
    what: () => `workers of the build ${build} to poll`,
  });
  await eventually(() => builds.promote(DEPLOYMENT, build, ramp).then(() => true), {
    what: () => `the build ${build} to be promoted`,
  });
}
