/** `fundadmin config`: checks the environment's settings before a service starts with them. */
import Table from 'cli-table3';
import { Option, type Command } from 'commander';
import { examineSettings } from '../../platform/config/read.ts';
import { PROCESS_ROLES, type ProcessRole } from '../../platform/config/role.ts';
import { command } from '../command.ts';
import { ToolError, type ToolIo } from '../io.ts';
import { effectiveSettings, type EffectiveSetting } from './effective.ts';

interface CheckOptions {
  readonly json?: true;
  readonly offline?: boolean;
  readonly role: ProcessRole;
}

/** Adds the group `config` to the program. */
export function addConfigCommands(program: Command, io: ToolIo): void {
  const config = program.command('config').description('Look at the settings of this environment.');
  command(config, 'check', 'reads')
    .description(
      'Show the settings that a service would start with here; exit status 1 and every fault when it would not start or not be ready: settings, the files and keys that they name, Postgres and its migrations, Temporal.',
    )
    .option('--json', 'answer JSON')
    .option('--offline', 'look at settings and files alone, not at Postgres and Temporal')
    .addOption(
      new Option('--role <role>', 'of the process; it opens only the secrets of its role')
        .choices(PROCESS_ROLES)
        .default('all'),
    )
    .action((options: CheckOptions) => check(options, io));
}

/**
 * Checks the settings. With --json the output is JSON also when there are faults, so that a script
 * can always parse it.
 */
async function check({ json, offline = false, role }: CheckOptions, io: ToolIo): Promise<void> {
  const { duties, values, texts, temporal, faults: ofSettings } = examineSettings(io.env, role);
  const { startFaults } = await import('../../service/start-faults.ts');
  const faults = [...ofSettings, ...(await startFaults(values, temporal, { offline, duties }))];
  const ok = faults.length === 0;
  const settings = effectiveSettings(texts);
  if (json === true) io.out(`${JSON.stringify(ok ? { ok, settings } : { ok, faults }, null, 2)}\n`);
  else if (ok) io.out(`${tableOf(settings)}\n`);
  if (ok) return;
  throw new ToolError(
    json === true
      ? `A service would not start: ${String(faults.length)} faults.`
      : ['A service would not start:', ...faults.map((fault) => `  - ${fault}`)].join('\n'),
  );
}

function tableOf(settings: readonly EffectiveSetting[]): string {
  const table = new Table({ head: ['setting', 'value', 'from'], style: { head: [], border: [] } });
  for (const { name, value, source } of settings) table.push([name, value ?? '', source]);
  return table.toString();
}
