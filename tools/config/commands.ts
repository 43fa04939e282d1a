/**
 * `fundadmin config …`: are the settings of this environment in order, before a service is started
 * with them.
 */
import Table from 'cli-table3';
import type { Command } from 'commander';
import { ConfigError } from '../../platform/config.ts';
import { readSettings } from '../../platform/config/read.ts';
import { ToolError, type ToolIo } from '../io.ts';
import { effectiveSettings, type EffectiveSetting } from './effective.ts';

/** Adds the group to the program. */
export function addConfigCommands(program: Command, io: ToolIo): void {
  program
    .command('config')
    .description('Look at the settings of this environment.')
    .command('check')
    .description(
      'Show the settings that a service would start with here; exit status 1 and every fault when it would not start.',
    )
    .option('--json', 'answer JSON')
    .action(({ json }: { readonly json?: true }) => {
      if (json === true) checkAsJson(io);
      else check(io);
    });
}

function check(io: ToolIo): void {
  try {
    const settings = effectiveSettings(readSettings(io.env).texts);
    io.out(`${tableOf(settings)}\n`);
  } catch (error) {
    throw error instanceof ConfigError ? new ToolError(error.message) : error;
  }
}

/**
 * With faults the answer is JSON all the same, so that a script need not read two kinds of output.
 */
function checkAsJson(io: ToolIo): void {
  try {
    const settings = effectiveSettings(readSettings(io.env).texts);
    io.out(`${JSON.stringify({ ok: true, settings }, null, 2)}\n`);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    io.out(`${JSON.stringify({ ok: false, faults: error.faults }, null, 2)}\n`);
    throw new ToolError(`The settings cannot be used: ${String(error.faults.length)} faults.`);
  }
}

function tableOf(settings: readonly EffectiveSetting[]): string {
  const table = new Table({ head: ['setting', 'value', 'from'], style: { head: [], border: [] } });
  for (const { name, value, source } of settings) table.push([name, value ?? '', source]);
  return table.toString();
}
