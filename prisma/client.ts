/**
 * The one place that connects to Postgres: Prisma for reading models, and single statements
 * straight over its pool.
 */
import { createHash } from 'node:crypto';
import { PrismaPg } from '@prisma/adapter-pg';
import type pg from 'pg';
import { PrismaClient } from './generated/client.ts';
import { openPool, type ConnectionSource } from './pool.ts';
import { clientOf as clientClassOf } from './servers.ts';

/**
 * One statement with its values, prepared once a connection: `sql<Row>\`SELECT … ${value}\``.
 * Answers the rows as the driver makes them: json parsed, numeric and bigint as text, timestamptz
 * as Date. The errors are the driver's, with Postgres' `code`.
 */
export type Sql = <Row = never>(
  text: TemplateStringsArray,
  ...values: readonly SqlValue[]
) => Promise<Row[]>;
export type SqlValue = string | number | boolean | null;

/** Vouches for an audit row that this process writes: hex, or null without a key. */
export type AuditMac = (row: object) => string | null;

export interface Database extends PrismaClient {
  /**
   * Everything that is written and what is read in every phase goes this way: it costs a third of
   * Prisma's raw query.
   */
  readonly sql: Sql;
  /**
   * The same, planned for its values each time: for a statement of which conditions fall away where
   * a value is null. Prepared, it comes to be planned as if each of them could be either.
   */
  readonly sqlPlanned: Sql;
  /** Kept beside the statements because whatever writes may have to leave an audit row. */
  readonly auditMac: AuditMac;
  /**
   * False once this process stops: the store then declares no send, whoever asks for one. Kept here
   * so that no way of sending can forget to ask.
   */
  readonly mayBegin: () => boolean;
}

/** What stands between the service and Postgres. */
export type Pooler = 'none' | 'transaction';

/** How long Postgres may still report a statement's end after its limit; then it is an error. */
const ANSWER_GRACE_MS = 5_000;

/** Options of {@link connectDatabase}. */
export interface DatabaseOptions {
  readonly url: string;
  /** Connections of the pool. */
  readonly poolSize?: number;
  /**
   * Gives up on making a connection, and on waiting for one, after this long, so that both are an
   * answer.
   */
  readonly connectTimeoutMs?: number;
  /** Postgres ends a statement after this long; unlimited when left out. */
  readonly statementTimeoutMs?: number;
  /** Postgres ends a session that leaves a transaction open for this long. */
  readonly idleInTransactionMs?: number;
  /** Silence after which TCP probes whether the other side is still there. */
  readonly keepAliveMs?: number;
  /**
   * A pooler gives each transaction another session: no statement is prepared, and the settings of
   * sessions are the role's own in the database.
   */
  readonly pooler?: Pooler;
  readonly applicationName?: string;
  /** Settings of every session, which functions of the database read with `current_setting`. */
  readonly sessionSettings?: Readonly<Record<string, string>>;
  /** Makes the MAC of each audit row before it is written; without it rows have none. */
  readonly auditMac?: AuditMac;
  /** Whether a send may still begin; always, when left out. */
  readonly mayBegin?: () => boolean;
  /** Called with each new connection. */
  readonly onConnect?: (connection: pg.PoolClient) => void;
}

/**
 * A client over a pool of its own; call `$disconnect()` when done. Nothing is connected until the
 * first query.
 */
export function connectDatabase(options: DatabaseOptions): Database {
  const { pooler = 'none', statementTimeoutMs, connectTimeoutMs = 5_000 } = options;
  const settings = pooler === 'transaction' ? {} : settingsOf(options);
  const source = openPool({
    client: clientClassOf(withSettings(options.url, settings), {
      connectTimeoutMs,
      keepAliveMs: options.keepAliveMs ?? 10_000,
      answerTimeoutMs:
        statementTimeoutMs === undefined ? undefined : statementTimeoutMs + ANSWER_GRACE_MS,
    }),
    config: {
      // A lone movement must not pay for a new connection after each pause of ten seconds.
      idleTimeoutMillis: 300_000,
      application_name: options.applicationName ?? 'fund-movement-orchestrator',
    },
    connections: options.poolSize ?? 10,
    patienceMs: connectTimeoutMs,
  });
  // An idle connection that breaks is replaced by the pool; one in use fails the statement that
  // uses it.
  source.pool.on('error', () => undefined);
  if (options.onConnect !== undefined) source.pool.on('connect', options.onConnect);
  const { auditMac = () => null, mayBegin = () => true } = options;
  return clientOf(source, { auditMac, mayBegin }, pooler === 'none');
}

/** The settings of every session; see `sessionFaults` of service/database.ts. */
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
 * The same connections for one who may hold only so many of them at a time, so that the others find
 * some free whatever it does. It ends with the client that it is a share of, which its own
 * `$disconnect()` leaves open.
 */
export function shareConnections(db: Database, connections: number): Database {
  const known = sources.get(db);
  if (known === undefined) throw new Error('only a client of connectDatabase can be shared');
  return clientOf(known.source.share(connections), db, known.prepared);
}

function clientOf(
  source: ConnectionSource,
  { auditMac, mayBegin }: Pick<Database, 'auditMac' | 'mayBegin'>,
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
    ...{ auditMac, mayBegin },
    // Prisma would end only a pool that it has used itself, and statements go past it.
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
 * Prepared once a connection under this name: parsing and planning is most of what a small
 * statement costs.
 */
function nameOf(text: string): string {
  return createHash('sha1').update(text).digest('hex');
}

/**
 * The address with start-up options of a session. Those that it brings itself would silently
 * replace ours, so they are joined.
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
