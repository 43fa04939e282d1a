/** The database of a command: `--database-url`, else the service's own setting. */
import { createAuditMacs } from '../platform/audit-chain.ts';
import { connectDatabase, type Database } from '../prisma/client.ts';
import { ConfigError, readSetting } from '../platform/config.ts';
import type { SettingName, Values } from '../platform/config/settings.ts';
import { ToolError, type ToolIo } from './io.ts';

export const DATABASE_OPTION = ['--database-url <url>', 'the database; SVC_DATABASE_URL when left out'] as const;

/** The address, or a fault that names both places it may come from. */
export function databaseUrlOf(options: { readonly databaseUrl?: string | undefined }, io: ToolIo): string {
  const url = options.databaseUrl ?? setting(io, 'SVC_DATABASE_URL');
  if (url === undefined) throw new ToolError('Give --database-url or set SVC_DATABASE_URL.', { exitCode: 2 });
  if (!/^postgres(ql)?:\/\//.test(url)) throw new ToolError('The database address must be a postgresql:// URL.', { exitCode: 2 });
  return url;
}

/** One setting of the environment, or undefined; a fault in it is the caller's to mend. */
export function setting<N extends SettingName>(io: ToolIo, name: N): Values[N] | undefined {
  try {
    return readSetting(name, io.env);
  } catch (error) {
    throw error instanceof ConfigError ? new ToolError(error.message, { exitCode: 2 }) : error;
  }
}

/**
 * Runs `work` with a small pool that is closed afterwards. With the service's SVC_SECRETS_KEY the audit rows
 * that it writes are vouched for as the service's own are.
 */
export async function withDatabase<T>(url: string, io: ToolIo, work: (db: Database) => Promise<T>): Promise<T> {
  const auditMac = createAuditMacs(setting(io, 'SVC_SECRETS_KEY') ?? []).ofRow;
  const db = connectDatabase({ url, poolSize: 2, applicationName: 'fundadmin', auditMac });
  try {
    return await work(db);
  } finally {
    await db.$disconnect();
  }
}
