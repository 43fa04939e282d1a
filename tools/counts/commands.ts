/** `fundadmin counts`: verifies and rebuilds the stored counts. */
import type { Command } from 'commander';
import { readCountDifferences, rebuildCounts } from '../../store/counts.ts';
import { command } from '../command.ts';
import { DATABASE_OPTION, withDatabase, type DatabaseOption } from '../database.ts';
import { ToolError, type ToolIo } from '../io.ts';

/** Adds the group `counts` to the program, for counts that the database keeps of its rows. */
export function countCommands(program: Command, io: ToolIo): void {
  const group = program
    .command('counts')
    .description(
      'Counts of states and of how movements ended, which metrics and routes are read from.',
    );
  command(group, 'verify', 'reads')
    .description(
      'Count every row anew and compare. Prints the differences as JSON; exit status 1 when there are any.',
    )
    .option(...DATABASE_OPTION)
    .action(async (options: DatabaseOption) => {
      const differences = await withDatabase(options, io, readCountDifferences);
      io.out(`${JSON.stringify({ ok: differences.length === 0, differences }, null, 2)}\n`);
      if (differences.length > 0)
        throw new ToolError(`${String(differences.length)} counts are not what the rows say.`);
    });
  command(group, 'rebuild', 'narrows', { recordsWho: false })
    .description(
      'Make all counts anew from the rows, as the owner of the tables; whoever writes waits meanwhile.',
    )
    .option(...DATABASE_OPTION)
    .action(async (options: DatabaseOption) => {
      await withDatabase(options, io, rebuildCounts);
      io.out(`${JSON.stringify({ rebuilt: true })}\n`);
    });
}
