/** The one place that makes a Prisma client. */
import { createHash } from 'node:crypto';
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
  /** Settings of every session, which functions of the database read with `current_setting`. */
  readonly sessionSettings?: Readonly<Record<string, string>>;
}

/** A client over a pool of its own; call `$disconnect()` when done. Nothing is connected until the first query. */
export function connectDatabase(options: DatabaseOptions): Database {
  const adapter = new PrismaPg(
    {
      ...withSettings(options.url, options.sessionSettings ?? {}),
      max: options.poolSize ?? 10,
      connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
      // A lone movement must not pay for a new connection after each pause of ten seconds.
      idleTimeoutMillis: 300_000,
      application_name: options.applicationName ?? 'fund-movement-orchestrator',
      keepAlive: true,
    },
    // Prepared once a connection: parsing and planning is most of what a small statement costs.
    { statementNameGenerator: ({ sql }) => createHash('sha1').update(sql).digest('hex') },
  );
  return new PrismaClient({ adapter });
}

/** Start-up options of a session. Those that the URL brings itself would silently replace ours, so they are joined. */
function withSettings(url: string, settings: Readonly<Record<string, string>>): { connectionString: string; options?: string } {
  const escaped = (text: string): string => text.replace(/[\\\s]/g, (character) => `\\${character}`);
  const ours = Object.entries(settings).map(([name, value]) => `-c ${name}=${escaped(value)}`);
  if (ours.length === 0) return { connectionString: url };
  const theirs = URL.canParse(url) ? new URL(url).searchParams.get('options') : null;
  if (theirs === null) return { connectionString: url, options: ours.join(' ') };
  const joined = new URL(url);
  joined.searchParams.set('options', [theirs, ...ours].join(' '));
  return { connectionString: joined.href };
}
