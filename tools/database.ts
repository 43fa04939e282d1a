/** The database of a command: where it is, and a connection for as long as the command runs. */
import { readDatabaseAddress } from '../domain/database-address.ts';
import { ServiceError } from '../domain/errors.ts';
import { createAuditMacs, type AuditMacs } from '../platform/audit-chain.ts';
import { ConfigError, readSetting } from '../platform/config.ts';
import type { SettingName, Values } from '../platform/config/settings.ts';
import { connectDatabase, type Database } from '../prisma/client.ts';
import { ToolError, type ToolIo } from './io.ts';

/** Spread into a command's options by `.option(...DATABASE_OPTION)`. */
export const DATABASE_OPTION = [
  '--database-url <url>',
  'the database; SVC_DATABASE_URL when left out',
] as const;

export interface DatabaseOption {
  readonly databaseUrl?: string;
}

/** The address that the option gives, else the environment. */
export function databaseUrl(options: DatabaseOption, io: ToolIo): string {
  const url = options.databaseUrl ?? setting(io, 'SVC_DATABASE_URL') ?? '';
  if (!/^postgres(ql)?:\/\//.test(url)) {
    throw new ToolError(
      'Give the database as postgresql:// in --database-url or SVC_DATABASE_URL.',
      { exitCode: 2 },
    );
  }
  const address = readDatabaseAddress(url);
  if ('faults' in address)
    throw new ToolError(`The address of the database: ${address.faults.join('; ')}.`, {
      exitCode: 2,
    });
  return url;
}

/**
 * One setting of the environment, or of the file that it names; a fault in it is the caller's to
 * mend.
 */
export function setting<N extends SettingName>(io: ToolIo, name: N): Values[N] | undefined {
  try {
    return readSetting(name, io.env);
  } catch (error) {
    throw error instanceof ConfigError ? new ToolError(error.message, { exitCode: 2 }) : error;
  }
}

/** By the service's SVC_AUDIT_KEY, else its SVC_SECRETS_KEY; without both they make no MAC. */
export function auditMacs(io: ToolIo): AuditMacs {
  const own = setting(io, 'SVC_AUDIT_KEY') ?? [];
  return createAuditMacs(own.length > 0 ? [] : (setting(io, 'SVC_SECRETS_KEY') ?? []), own);
}

/** Says so where nothing will vouch for the audit row of `what`. */
export function warnUnvouched(io: ToolIo, what: string): void {
  if (!auditMacs(io).keyed)
    io.err(`SVC_SECRETS_KEY is not set: \`audit verify\` will report the row of this ${what}.\n`);
}

/**
 * Runs `work` on a connection; what the database refuses becomes a {@link ToolError}. With a key of
 * the service ({@link auditMacs}) the audit rows that `work` writes are vouched for as its own are.
 */
export async function withDatabase<T>(
  options: DatabaseOption,
  io: ToolIo,
  work: (db: Database) => Promise<T>,
): Promise<T> {
  const url = databaseUrl(options, io);
  const auditMac = auditMacs(io).ofRow;
  const pooler = setting(io, 'SVC_DATABASE_POOLER') ?? 'none';
  const db = connectDatabase({ url, poolSize: 2, applicationName: 'fundadmin', auditMac, pooler });
  try {
    return await work(db);
  } catch (error) {
    throw databaseRefusal(error);
  } finally {
    await db.$disconnect();
  }
}

/** Faults of the database in a sentence; anything else as it is. */
export function databaseRefusal(error: unknown): unknown {
  if (error instanceof ServiceError)
    return new ToolError(`The database does not answer (${error.code}).`, { cause: error });
  if (!(error instanceof Error) || error instanceof ToolError || !('code' in error)) return error;
  return new ToolError(`The database refused: ${error.message}`, { cause: error });
}
