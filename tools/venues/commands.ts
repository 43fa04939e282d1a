/** `fundadmin venues`: compares our records with an exchange's own books. */
import { Option, type Command } from 'commander';
import { command, time } from '../command.ts';
import { DATABASE_OPTION } from '../database.ts';
import type { ToolIo } from '../io.ts';
import { FORMATS, reconcileVenue, type ReconcileOptions } from './reconcile.ts';

/** Adds the group `venues` to the program. */
export function addVenueCommands(program: Command, io: ToolIo): void {
  const venues = program.command('venues').description('The accounts that the service uses.');
  command(venues, 'reconcile', 'reads')
    .description(
      "Compare each withdrawal, deposit and transfer in an exchange account's own books with ours. Exit status 1 if one is missing there or differs; a record that is not ours is only listed.",
    )
    .requiredOption('--venue <key>', 'the venue_key of a bound exchange account')
    .requiredOption('--from <timestamp>', 'records from then on', time)
    .requiredOption('--to <timestamp>', 'and before this, at least ten minutes ago', time)
    .addOption(
      new Option('--format <format>', 'one JSON object, or CSV with a line for each record')
        .choices(FORMATS)
        .default('json'),
    )
    .option('--venues-file <path>', "the service's venues file; SVC_VENUES_FILE when left out")
    .option(...DATABASE_OPTION)
    .action(async (options: ReconcileOptions) => {
      await reconcileVenue(options, io);
    });
}
