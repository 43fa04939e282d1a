/** `fundadmin reservations`: verifies reserved amounts. */
import type { Command } from 'commander';
import { command } from '../command.ts';
import { DATABASE_OPTION, withDatabase, type DatabaseOption } from '../database.ts';
import { ToolError, type ToolIo } from '../io.ts';
import { verifyReservations } from './verify.ts';

/** Adds the group `reservations` to the program. */
export function reservationCommands(program: Command, io: ToolIo): void {
  const group = program
    .command('reservations')
    .description('Amounts that are held for movements and capital transfers.');
  command(group, 'verify', 'reads')
    .description(
      'Recompute every hold and what is used of budgets from plans and history, and each pool from its holds. Prints one JSON value; exit status 1 when something differs.',
    )
    .option(...DATABASE_OPTION)
    .action(async (options: DatabaseOption) => {
      const result = await withDatabase(options, io, verifyReservations);
      io.out(`${JSON.stringify(result, null, 2)}\n`);
      if (!result.ok)
        throw new ToolError(
          `${String(result.faults)} holds, pools or budgets are not what they should be.`,
        );
    });
}
