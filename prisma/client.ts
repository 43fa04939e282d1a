/** The one place that makes a Prisma client. */
import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from './generated/client.ts';

export type Database = PrismaClient;

/** Options of {@link connectDatabase}. */
export interface DatabaseOptions {
  readonly url: string;
  /** Connections of the pool. */
  readonly poolSize?: number;
  /** Gives up on getting a connection after this long, so that an unreachable database is an answer. */
  readonly connectTimeoutMs?: number;
  readonly applicationName?: string;
}

/** A client over a pool of its own; call `$disconnect()` when done. Nothing is connected until the first query. */
export function connectDatabase(options: DatabaseOptions): Database {
  const adapter = new PrismaPg({
    connectionString: options.url,
    max: options.poolSize ?? 10,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
    application_name: options.applicationName ?? 'fund-movement-orchestrator',
    keepAlive: true,
  });
  return new PrismaClient({ adapter });
}
