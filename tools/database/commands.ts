/** `fundadmin database …` */
import type { Command } from 'commander';
import { grantService } from '../../prisma/grant.ts';
import { DATABASE_OPTION, databaseRefusal, databaseUrl, type DatabaseOption } from '../database.ts';
import type { ToolIo } from '../io.ts';

/** Commands about the database itself. */
export function databaseCommands(program: Command, io: ToolIo): void {
  const group = program.command('database').description('What the service may do in its database.');
  group
    .command('grant')
    .description(
      "Grant a login role what the service needs and take from it what it has beyond that; run it as the tables' owner.",
    )
    .requiredOption('--role <name>', 'the role that the service connects as')
    .option(...DATABASE_OPTION)
    .action(async (options: DatabaseOption & { readonly role: string }) => {
      try {
        await grantService(databaseUrl(options, io), options.role);
      } catch (error) {
        throw databaseRefusal(error);
      }
      io.out(`${JSON.stringify({ ok: true, role: options.role })}\n`);
    });
}
