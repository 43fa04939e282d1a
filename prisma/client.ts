/**
 * Connects to Postgres: Prisma for reading models, and single SQL statements directly over its
 * pool. No other code connects.
 */
import { createHash } from 'node:crypto';
import { PrismaPg } from '@prisma/adapter-pg';
import type pg from 'pg';
import { PrismaClient } from './generated/client.ts';
import { openPool, type ConnectionSource } from './pool.ts';
import { clientOf as clientClassOf } from './servers.ts';

/**
 * Runs one statement with its values, prepared once for each connection: `sql<Row>\`SELECT …
 * ${value}\``. Returns rows as the driver makes them: json parsed, numeric and bigint as text,
 * timestamptz as Date. Errors are the driver's, with Postgres' `code`.
 */
export type Sql = <Row = never>(
  text: TemplateStringsArray,
  ...values: readonly SqlValue[]
) => Promise<Row[]>;
export type SqlValue = string | number | boolean | null;

/** Returns a MAC that proves that this process wrote an audit row: hex, or null without a key. */
export type AuditMac = (row: object) => string | null;

export interface Database extends PrismaClient {
  /**
   * Used for every write and for the reads of every phase: it costs a third of Prisma's raw query.
   */
  readonly sql: Sql;
  /**
   * As `sql`, but planned for its values each time: for a statement whose conditions do not apply
   * when a value is null. A prepared statement would get a plan that must fit every value.
   */
  readonly sqlPlanned: Sql;
  /** Stored here because every write may also have to write an audit row. */
  readonly auditMac: AuditMac;
  /** Whom an audit row names that names no caller; null for the service, which names none. */
  readonly auditActor: string | null;
  /**
   * Returns false once this process is stopping: the store then starts no send. It is stored here
   * so that every code path that sends checks it.
   */
  readonly mayBegin: () => boolean;
}

/** The kind of pooler between the service and Postgres. */
export type Pooler = 'none' | 'transaction';

/**
 * Milliseconds after the statement time-out until the caller gets an error, if Postgres has not
 * ended it.
 */
const ANSWER_GRACE_MS = 5_000;

/** Options of {@link connectDatabase}. */
export interface DatabaseOptions {
  readonly url: string;
  /** Number of connections in the pool. */
  readonly poolSize?: number;
  /** Milliseconds until an attempt to connect, or a wait for a connection, fails. */
  readonly connectTimeoutMs?: number;
  /** Milliseconds after which Postgres ends a statement; unlimited when absent. */
  readonly statementTimeoutMs?: number;
  /** Milliseconds after which Postgres ends a session that leaves a transaction open. */
  readonly idleInTransactionMs?: number;
  /**
   * Milliseconds of silence after which the operating system checks whether the server is still
   * there.
   */
  readonly keepAliveMs?: number;
  /**
   * With a pooler, each transaction may use another session: no statement is prepared, and session
   * settings are those of the database role.
   */
  readonly pooler?: Pooler;
  readonly applicationName?: string;
  /** Settings of every session, which SQL functions read with `current_setting`. */
  readonly sessionSettings?: Readonly<Record<string, string>>;
  /** Called with each audit row before it is written; without this function rows have no MAC. */
  readonly auditMac?: AuditMac;
  /** See {@link Database}; none when absent. */
  readonly auditActor?: string | null;
  /** Returns whether a send may still start; when absent, always true. */
  readonly mayBegin?: () => boolean;
  /** Called with each new connection. */
  readonly onConnect?: (connection: pg.PoolClient) => void;
  /** Gives out the connections; when absent, a pool of `poolSize` connections to `url`. */
  readonly openPool?: typeof openPool;
}

/**
 * Returns a client with its own pool; call `$disconnect()` when done. Connects at the first query.
 */
export function connectDatabase(options: DatabaseOptions): Database {
  const { pooler = 'none', statementTimeoutMs, connectTimeoutMs = 5_000 } = options;
  const settings = pooler === 'transaction' ? {} : settingsOf(options);
  const source = (options.openPool ?? openPool)({
    client: clientClassOf(withSettings(options.url, settings), {
      connectTimeoutMs,
      keepAliveMs: options.keepAliveMs ?? 10_000,
      answerTimeoutMs:
        statementTimeoutMs === undefined ? undefined : statementTimeoutMs + ANSWER_GRACE_MS,
    }),
    config: {
      // After a pause, a single movement must not have to wait for a new connection.
      idleTimeoutMillis: 300_000,
      application_name: options.applicationName ?? 'fund-movement-orchestrator',
    },
    connections: options.poolSize ?? 10,
    patienceMs: connectTimeoutMs,
  });
  // The pool replaces an idle connection that breaks; a broken connection in use fails its
  // statement.
  source.pool.on('error', () => undefined);
  if (options.onConnect !== undefined) source.pool.on('connect', options.onConnect);
  const { auditMac = () => null, auditActor = null, mayBegin = () => true } = options;
  return clientOf(source, { auditMac, auditActor, mayBegin }, pooler === 'none');
}

/** Returns the settings of every session; see `sessionFaults` of service/database.ts. */
export function settingsOf(
  options: Pick<DatabaseOptions, 'sessionSettings' | 'statementTimeoutMs' | 'idleInTransactionMs'>,
): Readonly<Record<string, string>> {
  const { sessionSettings = {}, statementTimeoutMs, idleInTransactionMs } = options;
  return {
    ...sessionSettings,
    ...(statementTimeoutMs === undefined ? {} : { statement_timeout: String(statementTimeoutMs) }),
    ...(idleInTransactionMs === undefined
      ? {}
      : { idle_in_transaction_session_timeout: String(idleInTransactionMs) }),
  };
}

const sources = new WeakMap<
  Database,
  { readonly source: ConnectionSource; readonly prepared: boolean }
>();

/**
 * Returns a client over the same connections that uses at most `connections` of them at a time, so
 * that the others stay free for other users. Its `$disconnect()` leaves the original client open;
 * it ends with that client.
 */
export function shareConnections(db: Database, connections: number): Database {
  const known = sources.get(db);
  if (known === undefined) throw new Error('only a client of connectDatabase can be shared');
  return clientOf(known.source.share(connections), db, known.prepared);
}

function clientOf(
  source: ConnectionSource,
  { auditMac, auditActor, mayBegin }: Pick<Database, 'auditMac' | 'auditActor' | 'mayBegin'>,
  prepared: boolean,
): Database {
  const { pool } = source;
  const adapter = new PrismaPg(
    pool,
    prepared ? { statementNameGenerator: ({ sql }) => nameOf(sql) } : {},
  );
  const client = new PrismaClient({ adapter });
  const disconnect = client.$disconnect.bind(client);
  let ended: Promise<void> | undefined;
  const db = Object.assign(client, {
    sql: sqlOver(pool, prepared),
    sqlPlanned: sqlOver(pool, false),
    ...{ auditMac, auditActor, mayBegin },
    // Prisma would end only a pool that Prisma has used, but statements can use the pool without
    // Prisma.
    $disconnect: async () => {
      await disconnect();
      ended ??= pool.end();
      await ended;
    },
  });
  sources.set(db, { source, prepared });
  return db;
}

function sqlOver(pool: pg.Pool, prepared: boolean): Sql {
  const statements = new WeakMap<
    TemplateStringsArray,
    { readonly name?: string; readonly text: string }
  >();
  return async <Row>(
    parts: TemplateStringsArray,
    ...values: readonly SqlValue[]
  ): Promise<Row[]> => {
    let statement = statements.get(parts);
    if (statement === undefined) {
      const text = parts.reduce((all, part, index) => `${all}$${String(index)}${part}`);
      statement = prepared ? { name: nameOf(text), text } : { text };
      statements.set(parts, statement);
    }
    const { rows } = await pool.query<Row & pg.QueryResultRow>({
      ...statement,
      values: [...values],
    });
    return rows;
  };
}

/**
 * Returns the name under which a statement is prepared, once for each connection: parsing and
 * planning is most of the cost of a small statement.
 */
function nameOf(text: string): string {
  return createHash('sha1').update(text).digest('hex');
}

/**
 * Returns the address with our session settings as start-up options. Options in the address would
 * silently replace ours, so both are joined.
 */
function withSettings(url: string, settings: Readonly<Record<string, string>>): string {
  const escaped = (text: string): string =>
    text.replace(/[\\\s]/g, (character) => `\\${character}`);
  const ours = Object.entries(settings).map(([name, value]) => `-c ${name}=${escaped(value)}`);
  if (ours.length === 0) return url;
  const [base = '', query = ''] = url.split('?', 2);
  const theirs = new URLSearchParams(query).get('options');
  const others = query.split('&').filter((pair) => pair !== '' && !pair.startsWith('options='));
  const options = encodeURIComponent([...(theirs === null ? [] : [theirs]), ...ours].join(' '));
  return `${base}?${[...others, `options=${options}`].join('&')}`;
}
