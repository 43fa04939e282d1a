/** `fundadmin policies`: what policies of automatic approval would have done. */
import type { Command } from 'commander';
import { command, time } from '../command.ts';
import { DATABASE_OPTION } from '../database.ts';
import type { ToolIo } from '../io.ts';
import { report, type TryOptions } from './try.ts';

/** Adds the group `policies` to the program. */
export function addPolicyCommands(program: Command, io: ToolIo): void {
  const policies = program.command('policies').description('Policies of automatic approval.');
  command(policies, 'try', 'reads')
    .description(
      'Report what a policy would have approved or made wait in a time that is over, as if it had been active; nothing is approved or stored. Its window counts from --from on: start one window earlier for exact figures. Approval rules, balances, and what was switched off are not taken into account.',
    )
    .option('--policy <id>', 'the id of a stored policy; else --file')
    .option('--file <file>', 'a file with the policy as JSON, - for standard input; else --policy')
    .requiredOption('--from <timestamp>', 'movements created from then on', time)
    .requiredOption('--to <timestamp>', 'and before this', time)
    .option(...DATABASE_OPTION)
    .action(async (options: TryOptions) => {
      io.out(`${JSON.stringify(await report(options, io), null, 2)}\n`);
    });
}
