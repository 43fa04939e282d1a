/**
 * The servers of one address: which server is tried, how a connection is made, and which
 * connections must no longer be used. When a database moves to another server, nothing needs to be
 * changed here: a broken connection is replaced by one to the first server that accepts writes.
 */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import pg from 'pg';
import { readDatabaseAddress, type DatabaseAddress } from '../domain/database-address.ts';

/** An address that cannot be used. The message says what to do, without parts of the address. */
export class DatabaseAddressError extends Error {
  override readonly name = 'DatabaseAddressError';
}

/** The server accepts no writes: a standby, or a primary that was demoted. Nothing was sent. */
export class ReadOnlyServerError extends Error {
  override readonly name = 'ReadOnlyServerError';
  /** The code with which Postgres refuses a write. */
  readonly code = '25006';
  constructor() {
    super('the server of the database takes no writes');
  }
}

/** Limits that apply to every connection. */
export interface ConnectionLimits {
  /** Time limit for connecting, for all servers of the address together. */
  readonly connectTimeoutMs: number;
  /** Silence after which the operating system checks whether the server is still there. */
  readonly keepAliveMs?: number | undefined;
  /**
   * A statement without an answer for this long is ended with its connection: a server whose
   * machine has failed sends no error.
   */
  readonly answerTimeoutMs?: number | undefined;
}

/** Parses an address, or throws {@link DatabaseAddressError}. */
export function databaseAddress(url: string): DatabaseAddress {
  const address = readDatabaseAddress(url);
  if ('faults' in address) throw new DatabaseAddressError(address.faults.join('; '));
  return address;
}

/**
 * Opens one connection, to the first server that accepts writes; the caller must end it. A
 * connection that breaks fails the query that uses it, and that query's error is the one to report.
 */
export async function connectOnce(url: string, config: pg.ClientConfig = {}): Promise<pg.Client> {
  const connectTimeoutMs = config.connectionTimeoutMillis ?? 10_000;
  const Client = clientOf(url, { connectTimeoutMs });
  for (let left = Client.servers; ; left -= 1) {
    const client = new Client(config);
    client.on('error', () => undefined);
    try {
      await client.connect();
      return client;
    } catch (error) {
      if (left <= 1) throw error;
    }
  }
}

/** Returns the driver's TLS settings; reads the files now. */
export function tlsOf({ tls }: DatabaseAddress): ConnectionOptions | false {
  if (tls.mode === 'off') return false;
  const ca = tls.ca === null ? {} : { ca: certificates(tls.ca) };
  const own =
    tls.cert === null || tls.key === null
      ? {}
      : { cert: certificates(tls.cert), key: fileOf(tls.key) };
  return { ...ca, ...own, rejectUnauthorized: tls.mode === 'verified' };
}

function fileOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code = 'unreadable' } = error as NodeJS.ErrnoException;
    throw new DatabaseAddressError(`the file ${path} cannot be read (${code})`);
  }
}

function certificates(path: string): string {
  const text = fileOf(path);
  try {
    new X509Certificate(text);
  } catch {
    throw new DatabaseAddressError(`the file ${path} holds no certificate in PEM`);
  }
  return text;
}

/**
 * Returns a class of connections for one pool. Each connects to the server that answered last; if
 * that one fails, the next is tried. TLS files are read for each connection, so that renewed files
 * are used; if a file can no longer be read, the earlier content is used.
 */
export function clientOf(url: string, limits: ConnectionLimits): ClientClass {
  const address = databaseAddress(url);
  let ssl = tlsOf(address);
  const { servers, readOnlyWillDo } = address;
  let current = 0;
  /** Increases when the database has moved: earlier connections are then discarded. */
  let era = 0;

  const renewed = (): ConnectionOptions | false => {
    try {
      ssl = tlsOf(address);
    } catch {
      // The file is being replaced; the earlier content stays in use.
    }
    return ssl;
  };

  return class extends pg.Client {
    static readonly servers = servers.length;
    readonly #server = current;
    readonly #era = era;
    #readOnly = false;

    // The driver passes the settings of the pool, which its types do not declare.
    constructor(config?: pg.ClientConfig) {
      super({
        ...config,
        connectionString: servers[current],
        ssl: renewed(),
        keepAlive: true,
        keepAliveInitialDelayMillis: limits.keepAliveMs,
        query_timeout: limits.answerTimeoutMs,
        connectionTimeoutMillis: Math.ceil(limits.connectTimeoutMs / servers.length),
      });
      // Postgres reports these parameters at the start of a session and whenever they change.
      const states = new Map<string, boolean>();
      reportsOf(this).on('parameterStatus', ({ parameterName, parameterValue }) => {
        if (!['in_hot_standby', 'default_transaction_read_only'].includes(parameterName)) return;
        states.set(parameterName, parameterValue === 'on');
        this.#readOnly = !readOnlyWillDo && [...states.values()].includes(true);
      });
    }

    /**
     * Whether the connection was made before the database moved, or its server no longer
     * accepts writes.
     */
    get isOutdated(): boolean {
      return this.#readOnly || this.#era !== era;
    }

    /** Reads from a statement's error whether the database has moved. */
    sawFault(error: unknown): void {
      const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
      if (typeof code === 'string' && MOVED.has(code) && this.#era === era) era += 1;
    }

    override connect(): Promise<pg.Client>;
    override connect(callback: (error: Error) => void): void;
    override connect(callback?: (error: Error) => void): Promise<pg.Client> | undefined {
      if (callback === undefined)
        return new Promise((resolve, reject) => {
          this.connect((error: Error | null) => {
            if (error) reject(error);
            else resolve(this);
          });
        });
      super.connect((error: Error | null | undefined) => {
        const isStandby = !error && this.#readOnly;
        if (isStandby) void this.end().catch(() => undefined);
        const fault = isStandby ? new ReadOnlyServerError() : error;
        if (fault && this.#server === current) current = (current + 1) % servers.length;
        // The driver treats a missing error as success.
        callback(fault as Error);
      });
      return undefined;
    }
  };
}

/** SQLSTATEs read_only_sql_transaction, admin_shutdown, crash_shutdown. */
const MOVED = new Set(['25006', '57P01', '57P02']);

export interface ServerClient extends pg.Client {
  readonly isOutdated: boolean;
  sawFault(error: unknown): void;
}
export interface ClientClass {
  new (config?: pg.ClientConfig): ServerClient;
  /** Number of servers to try. */
  readonly servers: number;
}

interface Reports {
  on(
    event: 'parameterStatus',
    then: (report: { readonly parameterName: string; readonly parameterValue: string }) => void,
  ): void;
}
/** Returns the driver's messages, which its types do not declare. */
function reportsOf(client: pg.Client): Reports {
  return (client as unknown as { readonly connection: Reports }).connection;
}
