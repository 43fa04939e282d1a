/** `fundadmin dashboard`: manages console operators, their keys and sessions. Prints JSON. */
import { Option, type Command } from 'commander';
import { ENROLLED_ROLES } from '../../store/dashboard-keys.ts';
import { command } from '../command.ts';
import { DATABASE_OPTION, type DatabaseOption } from '../database.ts';
import type { ToolIo } from '../io.ts';
import { COMPROMISED_OPTION, SINCE_OPTION } from '../keys/compromised.ts';
import { end, type EndOptions } from './end.ts';
import {
  confirm,
  endSessionsOf,
  enrol,
  list,
  type EnrolOptions,
  type OperatorOptions,
} from './keys.ts';

const OPERATOR = ['--operator <name>', 'the operator'] as const;

/** Adds the group `dashboard` to the program. */
export function addDashboardCommands(program: Command, io: ToolIo): void {
  const dashboard = program
    .command('dashboard')
    .description('Operators of the console: the keys that their browsers make, and sessions.');
  const print = (value: unknown): void => io.out(`${JSON.stringify(value, null, 2)}\n`);

  command(dashboard, 'enrol', { widens: 'keys' })
    .description(
      'Print the link with which an operator enrols, once and within 15 minutes. The key that the browser makes counts once it is confirmed.',
    )
    .requiredOption(...OPERATOR)
    .addOption(
      new Option('--role <role>', 'what the operator may do')
        .choices(ENROLLED_ROLES)
        .makeOptionMandatory(),
    )
    .option('--allowlist', 'the operator may change the allowlist, too')
    .option('--replace', "end the operator's present key and sessions in the same step")
    .option('--reason <text>', 'why, for --break-glass')
    .option(...DATABASE_OPTION)
    .action(async (options: EnrolOptions) => {
      print(await enrol(options, io));
    });

  command(dashboard, 'confirm', { widens: 'keys' })
    .description(
      "Let a key count whose fingerprint is what the operator's page shows: ask the operator, not the link's mail.",
    )
    .requiredOption(...OPERATOR)
    .requiredOption('--fingerprint <text>', 'the four groups that the page shows')
    .option(...DATABASE_OPTION)
    .action(async (options: OperatorOptions & { fingerprint: string }) => {
      print(await confirm(options, io));
    });

  command(dashboard, 'list', 'reads')
    .description('Every enrolled key, newest first, and the operators of the keys file.')
    .option(...DATABASE_OPTION)
    .action(async (options: DatabaseOption) => {
      print(await list(options, io));
    });

  command(dashboard, 'end', 'narrows')
    .description("End an operator's enrolled key, or the link for one, with all sessions.")
    .requiredOption(...OPERATOR)
    .option(...COMPROMISED_OPTION)
    .option(...SINCE_OPTION)
    .option(
      '--key-id <id>',
      'with --compromised, where the operator has had several keys: which one, as dashboard list shows it; "file" for that of SVC_DASHBOARD_WRITER_KEYS_FILE',
    )
    .option('--reason <text>', 'why; kept in the audit')
    .option(...DATABASE_OPTION)
    .action(async (options: EndOptions) => {
      print(await end(options, io));
    });

  const sessions = dashboard.command('sessions').description('Sessions, which read and no more.');
  command(sessions, 'end', 'narrows')
    .description('End open sessions; the keys stay, and open new ones.')
    .option('--operator <name>', 'of this operator')
    .option('--all', 'of every operator')
    .option(...DATABASE_OPTION)
    .action(async (options: DatabaseOption & { operator?: string; all?: boolean }) => {
      print(await endSessionsOf(options, io));
    });
}
