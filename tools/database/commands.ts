/** `fundadmin database`: migrations and rights of the database. */
import { InvalidArgumentError, type Command } from 'commander';
import { grantService } from '../../prisma/grant.ts';
import { applyMigrations, MigrationError } from '../../prisma/migrate.ts';
import { readMigrationState, schemaFault } from '../../prisma/migration-state.ts';
import { command } from '../command.ts';
import { databaseRefusal, setting } from '../database.ts';
import { ToolError, type ToolIo } from '../io.ts';

const OWNER_OPTION = [
  '--database-url <url>',
  'the database as its owner, not through a pooler; SVC_DATABASE_OWNER_URL when left out',
] as const;

interface OwnerOption {
  readonly databaseUrl?: string;
}

interface MigrateOptions extends OwnerOption {
  readonly grantTo?: string;
  readonly lockSeconds: number;
  readonly tries: number;
}

/** Adds the group `database` to the program. */
export function databaseCommands(program: Command, io: ToolIo): void {
  const group = program
    .command('database')
    .description('Tables of the database, and what the service may do in it.');
  command(group, 'migrate', 'narrows', { recordsWho: false })
    .description(
      'Apply the migrations that the database lacks, in order; run it as the owner, before the new release starts. Safe to repeat and to run at once.',
    )
    .option(
      '--grant-to <role>',
      'grant this role what the service needs with each migration, as `grant` does; processes that run need it',
    )
    .option(
      '--lock-seconds <seconds>',
      'how long a migration waits for a lock, and others behind it',
      positive,
      3,
    )
    .option('--tries <number>', 'how often a migration is tried that gets no lock', positive, 20)
    .option(...OWNER_OPTION)
    .action((options: MigrateOptions) => migrate(options, io));
  command(group, 'status', 'reads')
    .description(
      'Which migrations are applied, missing or not of this build, as JSON; exit status 1 when the service would not start. Also with SVC_DATABASE_URL.',
    )
    .option(...OWNER_OPTION)
    .action((options: OwnerOption) => status(options, io));
  command(group, 'grant', 'narrows', { recordsWho: false })
    .description(
      "Grant a login role what the service needs and take from it what it has beyond that; run it as the tables' owner.",
    )
    .requiredOption('--role <name>', 'the role that the service connects as')
    .option(...OWNER_OPTION)
    .action(async (options: OwnerOption & { readonly role: string }) => {
      await asTool(grantService(ownerUrl(options, io), options.role));
      io.out(`${JSON.stringify({ ok: true, role: options.role })}\n`);
    });
}

async function migrate(options: MigrateOptions, io: ToolIo): Promise<void> {
  const url = ownerUrl(options, io);
  const applied = await asTool(
    applyMigrations(url, {
      grantTo: options.grantTo,
      lockTimeoutMs: options.lockSeconds * 1_000,
      tries: options.tries,
      report: (line) => {
        io.err(`${line}\n`);
      },
    }),
  );
  // Also where no migration was missing.
  if (options.grantTo !== undefined) await asTool(grantService(url, options.grantTo));
  io.out(`${JSON.stringify({ ok: true, applied })}\n`);
}

async function status(options: OwnerOption, io: ToolIo): Promise<void> {
  const url = ownerUrlOf(options, io) ?? setting(io, 'SVC_DATABASE_URL') ?? missingUrl();
  const state = await asTool(readMigrationState(url));
  const fault = schemaFault(state);
  io.out(`${JSON.stringify({ ok: fault === null, ...state }, null, 2)}\n`);
  if (fault !== null) throw new ToolError(fault);
}

/**
 * Returns the URL of the database for its owner. Never uses the service's own URL: the service's
 * role owns no table, and that URL may lead to a pooler.
 */
function ownerUrl(options: OwnerOption, io: ToolIo): string {
  return ownerUrlOf(options, io) ?? missingUrl();
}

function ownerUrlOf({ databaseUrl }: OwnerOption, io: ToolIo): string | undefined {
  const url = databaseUrl ?? setting(io, 'SVC_DATABASE_OWNER_URL');
  return url === undefined || /^postgres(ql)?:\/\//.test(url) ? url : missingUrl();
}

function missingUrl(): never {
  throw new ToolError(
    'Name the database as its owner, postgresql://…, in SVC_DATABASE_OWNER_URL (or SVC_DATABASE_OWNER_URL_FILE) or --database-url.',
    { exitCode: 2 },
  );
}

async function asTool<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof MigrationError) throw new ToolError(error.message, { cause: error });
    throw databaseRefusal(error);
  }
}

function positive(text: string): number {
  if (/^[1-9][0-9]{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number above 0.');
}
