/**
 * `fundadmin`: commands that use the database directly, not the API. Results go to standard output,
 * everything else to standard error. Exit status: 0 done, 1 refused or a check found faults, 2
 * wrong usage.
 */
import { Command, CommanderError } from 'commander';
import { VERSION } from '../platform/version.ts';
import { addAllowlistCommands } from './allowlist/commands.ts';
import { addApprovalCommands } from './approvals/commands.ts';
import { addPasskeyCommands } from './approvals/passkeys.ts';
import { auditCommands } from './audit/commands.ts';
import { addBridgeCommands } from './bridge/commands.ts';
import { leavesOf, mustNameWho, nameOf, powerOf } from './command.ts';
import { addConfigCommands } from './config/commands.ts';
import { countCommands } from './counts/commands.ts';
import { addConsoleCommands } from './console/commands.ts';
import { addDashboardCommands } from './dashboard/commands.ts';
import { databaseCommands } from './database/commands.ts';
import { ToolError, type ToolIo } from './io.ts';
import { addKeyCommands } from './keys/commands.ts';
import { movementCommands } from './movements/commands.ts';
import { addPolicyCommands } from './policies/commands.ts';
import { reservationCommands } from './reservations/commands.ts';
import { restoreCommands } from './restore/commands.ts';
import { runCommands } from './runs/commands.ts';
import { temporalCommands } from './temporal/commands.ts';
import { addVenueCommands } from './venues/commands.ts';
import { addWebhookCommands } from './webhooks/commands.ts';

/** The groups of commands. A new group needs one line here and a folder in tools/. */
const GROUPS: readonly ((program: Command, io: ToolIo) => void)[] = [
  addAllowlistCommands,
  addApprovalCommands,
  addPasskeyCommands,
  auditCommands,
  addBridgeCommands,
  addConfigCommands,
  addConsoleCommands,
  countCommands,
  addDashboardCommands,
  databaseCommands,
  addKeyCommands,
  movementCommands,
  addPolicyCommands,
  reservationCommands,
  restoreCommands,
  runCommands,
  temporalCommands,
  addVenueCommands,
  addWebhookCommands,
];

/** Returns the program with all its groups of commands. Throws when a command declares no power. */
export function fundadminProgram(io: ToolIo): Command {
  const program = new Command('fundadmin')
    .description('Operate the fund movement orchestrator where its database is.')
    .version(VERSION)
    .exitOverride()
    .configureOutput({ writeOut: io.out, writeErr: io.err });
  const own: ToolIo = { ...io };
  program.hook('preAction', (_program, made) => {
    own.command = { name: nameOf(made), options: made.opts(), recordsWho: mustNameWho(made) };
  });
  for (const add of GROUPS) add(program, own);
  for (const [name, leaf] of leavesOf(program))
    if (powerOf(leaf) === undefined) throw new Error(`the command ${name} declares no power`);
  return program;
}

/** Runs one command line (without node and script) and returns the exit status. */
export async function fundadmin(args: readonly string[], io: ToolIo): Promise<number> {
  try {
    // The specification uses both spellings of this option.
    const known = args.map((arg) => arg.replace(/^--key_id(?=$|=)/, '--key-id'));
    await fundadminProgram(io).parseAsync(known, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (!(error instanceof ToolError)) throw error;
    io.err(`${error.message}\n`);
    return error.exitCode;
  }
}
