/**
 * `fundadmin`: what is done with access to the database, not through the API. Results go to
 * standard output, everything else to standard error. Exit status: 0 done, 1 refused or not in
 * order, 2 wrong usage.
 */
import { Command, CommanderError } from 'commander';
import { VERSION } from '../platform/version.ts';
import { addAllowlistCommands } from './allowlist/commands.ts';
import { auditCommands } from './audit/commands.ts';
import { addBridgeCommands } from './bridge/commands.ts';
import { addConfigCommands } from './config/commands.ts';
import { countCommands } from './counts/commands.ts';
import { addConsoleCommands } from './console/commands.ts';
import { addDashboardCommands } from './dashboard/commands.ts';
import { databaseCommands } from './database/commands.ts';
import { ToolError, type ToolIo } from './io.ts';
import { addKeyCommands } from './keys/commands.ts';
import { movementCommands } from './movements/commands.ts';
import { reservationCommands } from './reservations/commands.ts';
import { restoreCommands } from './restore/commands.ts';
import { temporalCommands } from './temporal/commands.ts';

/** Each group adds its commands; a new group is one line here and a folder beside this file. */
const GROUPS: readonly ((program: Command, io: ToolIo) => void)[] = [
  addAllowlistCommands,
  auditCommands,
  addBridgeCommands,
  addConfigCommands,
  addConsoleCommands,
  countCommands,
  addDashboardCommands,
  databaseCommands,
  addKeyCommands,
  movementCommands,
  reservationCommands,
  restoreCommands,
  temporalCommands,
];

/** The program with all its groups. */
export function fundadminProgram(io: ToolIo): Command {
  const program = new Command('fundadmin')
    .description('Operate the fund movement orchestrator where its database is.')
    .version(VERSION)
    .exitOverride()
    .configureOutput({ writeOut: io.out, writeErr: io.err });
  for (const add of GROUPS) add(program, io);
  return program;
}

/** Runs one command line (without node and script) and answers the exit status. */
export async function fundadmin(args: readonly string[], io: ToolIo): Promise<number> {
  try {
    // The specification writes the option both ways.
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
