/** Connects a command to its database while the command runs. */
import { ChangeWaits } from '../domain/approval/change.ts';
import { readDatabaseAddress } from '../domain/database-address.ts';
import { ServiceError } from '../domain/errors.ts';
import { createAuditMacs, type AuditMacs } from '../platform/audit-chain.ts';
import { ConfigError, readSetting } from '../platform/config.ts';
import type { SettingName, Values } from '../platform/config/settings.ts';
import { connectDatabase, type Database } from '../prisma/client.ts';
import { actorOf, requireActor } from './acting.ts';
import { ToolError, type ToolIo } from './io.ts';
import { requestChange } from './waits.ts';

/** The option for the database's URL; used as `.option(...DATABASE_OPTION)`. */
export const DATABASE_OPTION = [
  '--database-url <url>',
  'the database; SVC_DATABASE_URL when left out',
] as const;

export interface DatabaseOption {
  readonly databaseUrl?: string;
}

/** Returns the database's URL from the option, or else from the environment. */
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
 * Returns one setting from the environment, or from the file that the environment names. Throws a
 * {@link ToolError} when the setting is invalid, since the caller can correct it.
 */
export function setting<N extends SettingName>(io: ToolIo, name: N): Values[N] | undefined {
  try {
    return readSetting(name, io.env);
  } catch (error) {
    throw error instanceof ConfigError ? new ToolError(error.message, { exitCode: 2 }) : error;
  }
}

/**
 * Returns the MACs of audit rows, with the key SVC_AUDIT_KEY or else SVC_SECRETS_KEY; without both
 * keys no MAC is made.
 */
export function auditMacs(io: ToolIo): AuditMacs {
  const own = setting(io, 'SVC_AUDIT_KEY') ?? [];
  return createAuditMacs(own.length > 0 ? [] : (setting(io, 'SVC_SECRETS_KEY') ?? []), own);
}

/** Warns when no key is set, since the audit row of `what` then gets no MAC. */
export function warnUnvouched(io: ToolIo, what: string): void {
  if (!auditMacs(io).keyed)
    io.err(`SVC_SECRETS_KEY is not set: \`audit verify\` will report the row of this ${what}.\n`);
}

/**
 * Runs `work` on a connection; a refusal of the database becomes a {@link ToolError}. With a key of
 * the service ({@link auditMacs}), the audit rows that `work` writes get a MAC, like the service's
 * own rows; they name who acts. Throws a {@link ToolError} where that must be known and is not.
 */
export async function withDatabase<T>(
  options: DatabaseOption,
  io: ToolIo,
  work: (db: Database) => Promise<T>,
): Promise<T> {
  const url = databaseUrl(options, io);
  const auditMac = auditMacs(io).ofRow;
  const pooler = setting(io, 'SVC_DATABASE_POOLER') ?? 'none';
  const about = { applicationName: 'fundadmin', auditMac, auditActor: actorOf(io), pooler };
  const db = connectDatabase({ url, poolSize: 2, ...about });
  try {
    await requireActor(db, io);
    return await orWait(db, io, work);
  } catch (error) {
    throw databaseRefusal(error);
  } finally {
    await db.$disconnect();
  }
}

/** Runs `work`; a change that waits for people is requested, or made alone with --break-glass. */
async function orWait<T>(db: Database, io: ToolIo, work: (db: Database) => Promise<T>): Promise<T> {
  // One command may change several rows that wait.
  for (let rows = 0; ; rows += 1)
    try {
      return await work(db);
    } catch (error) {
      if (!(error instanceof ChangeWaits) || rows === MOST_ROWS) throw error;
      await requestChange(db, error.effect, io);
    }
}

const MOST_ROWS = 3;

/** Returns a fault of the database as a {@link ToolError}; any other error unchanged. */
export function databaseRefusal(error: unknown): unknown {
  if (error instanceof ServiceError)
    return new ToolError(`The database does not answer (${error.code}).`, { cause: error });
  if (!(error instanceof Error) || error instanceof ToolError || !('code' in error)) return error;
  return new ToolError(`The database refused: ${error.message}`, { cause: error });
}
