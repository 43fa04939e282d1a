/** `fundadmin movements`: rebuilds the Temporal runs of open movements and capital transfers. */
import type { Command } from 'commander';
import { readNewestRestore } from '../../store/restore.ts';
import { command } from '../command.ts';
import { DATABASE_OPTION, withDatabase, type DatabaseOption } from '../database.ts';
import { ToolError, type ToolIo } from '../io.ts';

interface Options extends DatabaseOption {
  readonly dryRun?: true;
  readonly databaseIntact?: true;
  readonly afterRestore?: string;
}

/** Adds the group `movements` to the program. */
export function movementCommands(program: Command, io: ToolIo): void {
  const movements = program
    .command('movements')
    .description('What is open, and the runs in Temporal that drive it.');
  command(movements, 'rebuild', 'moves', { recordsWho: false })
    .description(
      'After a lost namespace: start a run for every open movement and capital transfer that has none. ' +
        'Safe to repeat, also while the service runs. Prints what it found and started as JSON; exit status 1 when a run could not be started.',
    )
    .option('--dry-run', 'only list the runs that would be started')
    .option(
      '--database-intact',
      'the database has lost nothing: it was not restored or failed over',
    )
    .option(
      '--after-restore <incident>',
      'the database was restored: the incident for which `fundadmin after-restore` was run',
    )
    .option(...DATABASE_OPTION)
    .action(async (options: Options) => {
      const { dryRun = false, databaseIntact = false, afterRestore } = options;
      // Without the step `after-restore`, the new runs would repeat sends that were made after the
      // backup.
      if (!dryRun && databaseIntact === (afterRestore !== undefined))
        throw new ToolError(
          'Say whether the database has lost data: --database-intact when it has lost nothing; else run `fundadmin after-restore --incident <name>` first, and give --after-restore <name>.',
          { exitCode: 2 },
        );
      // Loaded only here: loading Temporal's library takes longer than other commands run.
      const [{ withTemporal }, { rebuildRuns }] = await Promise.all([
        import('../temporal/connection.ts'),
        import('./rebuild.ts'),
      ]);
      const result = await withDatabase(options, io, async (db) => {
        if (afterRestore !== undefined) refuseOther(afterRestore, await readNewestRestore(db));
        return withTemporal(io, (temporal) => rebuildRuns(db, temporal, { dryRun }));
      });
      io.out(`${JSON.stringify(result, null, 2)}\n`);
      const failed = [result.movements, result.capital_transfers].flatMap((of) =>
        Object.keys(of.failed),
      );
      if (failed.length > 0)
        throw new ToolError(
          `${String(failed.length)} runs could not be started. Run the command again once Temporal answers.`,
        );
    });
}

/**
 * Throws when `incident` is not the newest restore: an earlier one does not cover what the database
 * has lost since.
 */
function refuseOther(incident: string, newest: string | null): void {
  if (incident === newest) return;
  const last =
    newest === null
      ? 'after-restore was never run on this database.'
      : `The newest one is of "${newest}"; give that where the database was not restored since.`;
  throw new ToolError(
    `"${incident}" is not the incident of the newest after-restore. ${last} After another restore run \`fundadmin after-restore --incident ${incident}\` first: without it, what was sent after the backup would be sent again.`,
  );
}
