/** `fundadmin runs` and the Temporal UI's view of a run, as the roll-out uses them. */
import { Client, Connection } from '@temporalio/client';
import { z } from 'zod';
import { movementWorkflowId } from '../../domain/messages.ts';
import { buildsOf, DEPLOYMENT } from '../../test/support/builds.ts';
import { fundadmin } from '../../tools/command-line.ts';
import type { Topology } from './topology.ts';

const buildsSchema = z.array(
  z.object({ build: z.string(), status: z.string(), open_runs: z.number() }),
);
const drainedSchema = z.object({ by: z.string(), left: z.number(), failed: z.number() });

/** A build as `fundadmin runs builds` lists it. */
export type ListedBuild = z.infer<typeof buildsSchema>[number];

export interface BuildTool {
  /** Lists the builds, by name. */
  builds(): Promise<ReadonlyMap<string, ListedBuild>>;
  /** Makes the build the current one, or gives it a share of the new runs, in percent. */
  promote(build: string, ramp?: number): Promise<void>;
  /** Empties the build by `continue`. Rejects when runs are left. */
  drain(build: string): Promise<z.infer<typeof drainedSchema>>;
  /** Returns whether the movement has an open run that stays on the build. The list lags. */
  isOn(build: string, movementId: string): Promise<boolean>;
  /** Returns what the Temporal UI shows of the run now. */
  detailsOf(movementId: string): Promise<string>;
  close(): Promise<void>;
}

/** More open runs than a roll-out has at a time. */
const MOST_RUNS = 1_000;

/** Returns the calls; each rejects with what `fundadmin` printed when it refuses. */
export function createBuildTool(topology: Topology): BuildTool {
  const { env, temporalAddress } = topology.asStack();
  const run = async (...args: readonly string[]): Promise<unknown> => {
    let out = '';
    let err = '';
    const status = await fundadmin(['runs', ...args], {
      env: { ...env, SVC_TEMPORAL_ADDRESS: temporalAddress },
      out: (text) => void (out += text),
      err: (text) => void (err += text),
    });
    if (status !== 0) throw new Error(`fundadmin runs ${args.join(' ')}: ${err}${out}`);
    return JSON.parse(out);
  };
  const connection = Connection.lazy({ address: temporalAddress });
  const client = new Client({ connection });
  const calls = buildsOf(client);
  return {
    builds: async () =>
      new Map(buildsSchema.parse(await run('builds')).map((each) => [each.build, each])),
    promote: async (build, ramp) => {
      const share = ramp === undefined ? [] : ['--ramp', String(ramp)];
      await run('promote', '--build', build, ...share);
    },
    drain: async (build) =>
      drainedSchema.parse(await run('drain', '--build', build, '--by', 'continue')),
    isOn: async (build, movementId) => {
      const open = await calls.listOpen({ deployment: DEPLOYMENT, build }, MOST_RUNS);
      return open.some(({ workflowId }) => workflowId === movementWorkflowId(movementId));
    },
    detailsOf: async (movementId) => {
      const { currentDetails } = await client.workflow
        .getHandle(movementWorkflowId(movementId))
        .query<{ currentDetails: string }>('__temporal_workflow_metadata');
      return currentDetails;
    },
    close: () => connection.close(),
  };
}
