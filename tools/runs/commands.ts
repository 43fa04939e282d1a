/** `fundadmin runs`: the builds of the workers, and on which of them runs start and stay. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { WAYS_TO_LEAVE, type WayToLeave } from '../../domain/builds.ts';
import { BUILD_ID, DEPLOYMENT_NAME } from '../../platform/config/kinds.ts';
import { ConfigError, readDeployment } from '../../platform/config.ts';
import type { Builds } from '../../platform/temporal-builds.ts';
import { command } from '../command.ts';
import { ToolError, type ToolIo } from '../io.ts';

interface Deployment {
  readonly deployment?: string;
}

interface Promote extends Deployment {
  readonly build?: string;
  readonly unversioned?: true;
  readonly ramp?: number;
}

interface Drain extends Deployment {
  readonly build: string;
  readonly by?: WayToLeave;
  readonly dryRun?: true;
  readonly waitSeconds: number;
}

/** Adds the group `runs`; its commands use the server settings of this environment. */
export function runCommands(program: Command, io: ToolIo): void {
  const runs = program
    .command('runs')
    .description('The builds of the workers, and the runs in Temporal that stay on each.');
  addBuilds(runs, io);
  addPromote(runs, io);
  addDrain(runs, io);
}

const DEPLOYMENT = [
  '--deployment <name>',
  'the deployment of the workers; SVC_TEMPORAL_DEPLOYMENT_NAME when left out',
  parsed(DEPLOYMENT_NAME),
] as const;
const BUILD = ['--build <build>', 'the build', parsed(BUILD_ID)] as const;

function addBuilds(runs: Command, io: ToolIo): void {
  command(runs, 'builds', 'reads')
    .description('List the builds that workers have registered, newest first, with their runs.')
    .option(...DEPLOYMENT)
    .action(async (options: Deployment) => {
      const { listBuilds } = await import('./builds.ts');
      const deployment = deploymentOf(options, io);
      await print(io, (builds) => listBuilds(builds, deployment));
    });
}

function addPromote(runs: Command, io: ToolIo): void {
  command(runs, 'promote', 'moves', { recordsWho: false })
    .description(
      'Start new runs on this build. Open runs stay on theirs; those of the build before are drained. Going back to an older build is the same command, and ends a ramp.',
    )
    .option(...BUILD)
    .option('--unversioned', 'instead of a build: workers that have none')
    .option('--ramp <percent>', 'only this share of the new runs, 1 to 100; 0 ends it', percent)
    .option(...DEPLOYMENT)
    .action(async (options: Promote) => {
      const { build = null, unversioned = false, ramp = null } = options;
      if ((build === null) !== unversioned)
        throw new ToolError('Give either --build <build> or --unversioned.', { exitCode: 2 });
      const { promoteBuild } = await import('./promote.ts');
      const deployment = deploymentOf(options, io);
      await print(io, (builds) => promoteBuild(builds, { deployment, build, ramp }));
    });
}

function addDrain(runs: Command, io: ToolIo): void {
  command(runs, 'drain', 'moves', { recordsWho: false })
    .description(
      'Signal all runs of a build to leave it, until none is left. A run with a send under way leaves after it. Workers do the same once a minute for a build that the server drains. Exit status 1 when runs are left.',
    )
    .requiredOption(...BUILD)
    .addOption(
      new Option('--by <way>', 'how they leave; else as the server can').choices(WAYS_TO_LEAVE),
    )
    .option('--dry-run', 'only count the runs')
    .option('--wait-seconds <seconds>', 'how long to go on', seconds, 600)
    .option(...DEPLOYMENT)
    .action(async (options: Drain) => {
      const { build, by = null, dryRun = false, waitSeconds } = options;
      const { drainBuild } = await import('./drain.ts');
      const of = { deployment: deploymentOf(options, io), build };
      const { left } = await print(io, (builds) =>
        drainBuild(builds, of, { by, dryRun, waitSeconds }),
      );
      if (!dryRun && left > 0)
        throw new ToolError(
          `${String(left)} runs are still on ${build}. Keep its workers, and run the command again.`,
        );
    });
}

/** Runs `work`, prints its result as JSON, and returns it. */
async function print<T>(io: ToolIo, work: (builds: Builds) => Promise<T>): Promise<T> {
  // Loaded only here: loading Temporal's library takes longer than other commands run.
  const { withTemporal } = await import('../temporal/connection.ts');
  const result = await withTemporal(io, ({ builds }) => work(builds));
  io.out(`${JSON.stringify(result, null, 2)}\n`);
  return result;
}

function deploymentOf({ deployment }: Deployment, io: ToolIo): string {
  try {
    const name = deployment ?? readDeployment(io.env);
    if (name !== null) return name;
  } catch (error) {
    throw error instanceof ConfigError ? new ToolError(error.message, { exitCode: 2 }) : error;
  }
  throw new ToolError('Give the deployment in --deployment or SVC_TEMPORAL_DEPLOYMENT_NAME.', {
    exitCode: 2,
  });
}

/** Returns a parser for an option, from the kind of the setting with the same values. */
function parsed({ schema }: typeof BUILD_ID): (text: string) => string {
  return (text) => {
    const { success, data, error } = schema.safeParse(text);
    if (success) return data;
    throw new InvalidArgumentError(error.issues.map(({ message }) => message).join('; '));
  };
}

function percent(text: string): number {
  if (!/^(\d{1,2}|100)$/.test(text))
    throw new InvalidArgumentError('It must be a whole number, 0 to 100.');
  return Number(text);
}

function seconds(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('It must be a number of seconds.');
  return Number(text);
}
