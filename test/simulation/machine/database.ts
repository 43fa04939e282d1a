/**
 * The database of a world: a real Postgres, whose statements are steps of the machine. A statement
 * can fail before or after its effect, end with its process, and be held open, so that others wait
 * for its locks.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import pg from 'pg';
import { inProcess, type Machine, type Process } from './machine.ts';

/** What befalls a statement. */
export type StatementFault =
  | 'lost before' // the connection breaks, and the statement has not arrived
  | 'lost after' // the connection breaks, and the statement has been carried out
  | 'conflict' // a serialization failure: nothing is written
  | 'dies before' // the process ends, and the statement has not arrived
  | 'dies after' // the process ends, and the statement has been carried out
  | 'freezes before' // the process stands still, and the statement arrives when it goes on
  | 'held' // the transaction stays open while others go on
  | 'held, then lost' // and its answer is lost before it commits
  | 'held, then dies'; // and its process ends before the commit

export interface Statement {
  readonly process: Process | null;
  readonly text: string;
  readonly values: readonly unknown[];
}

/** A fault of a statement. */
export interface Suffered {
  readonly fault: StatementFault;
  /** To be called before it has its effect; with whether a change of rows is struck. */
  readonly strikes: (hasWritten: boolean) => void;
}

/** A node of a movement has another state, as {@link FENCE_SEAMS} reports it. */
export interface Moved {
  readonly movement_id: string;
  readonly node_key: string;
  readonly state: string;
}

interface Connection {
  readonly client: pg.Client;
  /** What its transaction has moved so far. */
  moved: Moved[];
}

interface Blocked {
  readonly done: Promise<unknown>;
  readonly connection: Connection;
  readonly deliver: () => Promise<void>;
}

export interface DatabaseWorld {
  readonly machine: Machine;
  readonly url: string;
  /** What happens to this statement; null: nothing. */
  readonly fault: (statement: Statement) => Suffered | null;
  /** The process has died in the middle of a statement. */
  readonly died: (process: Process) => void;
  /** The process stands still before a statement of its own. */
  readonly froze: (process: Process) => void;
  /** A transaction that moved a node was committed. */
  readonly moved?: (moved: Moved) => void;
}

/** So often a statement is held for up to 400 ms, in which others' requests are answered. */
const HELD_LONG = 0.3;
const BROKEN = 'Connection terminated unexpectedly';
const NOT_ARRIVED: ReadonlySet<StatementFault> = new Set([
  ...(['lost before', 'conflict', 'dies before'] as const),
]);

/** All connections of all processes of a world. */
export class Statements {
  readonly #world: DatabaseWorld;
  readonly #free: Connection[] = [];
  readonly #all: pg.Client[] = [];
  #watcher: pg.Client | null = null;
  #blocked: Blocked[] = [];
  /** The servers' process ids of the connections with an open transaction. */
  readonly #holders = new Set<number>();
  /** Statements that have been run. */
  #count = 0;
  /** The file that the database reads its clock from; null until the first connection. */
  #clock: number | null = null;
  #clockSetTo = -1;
  /** What the clock of the database is ahead of the true time, in milliseconds. */
  skewMs = 0;

  constructor(world: DatabaseWorld) {
    this.#world = world;
  }

  /** Runs a statement of the calling process, in its turn. */
  run(query: pg.QueryConfig): Promise<pg.QueryResult> {
    const process = inProcess.getStore() ?? null;
    return new Promise((resolve, reject) => {
      const answer = {
        resolve: (result: pg.QueryResult) => {
          if (process?.state !== 'dead') resolve(result);
        },
        reject: (error: unknown) => {
          if (process?.state !== 'dead')
            reject(error instanceof Error ? error : new Error(String(error)));
        },
      };
      this.#post(query, process, answer);
    });
  }

  #post(query: pg.QueryConfig, process: Process | null, answer: Answer, isSafe = false): void {
    this.#world.machine.post({
      process,
      label: `sql ${nameOf(query.text)}`,
      // Of two that wait for locks, Postgres would decide which goes on first.
      isPossible: () => this.#blocked.length === 0,
      go: () => this.#go(query, process, answer, isSafe),
    });
  }

  /** Runs a statement of the simulation itself, at once. */
  async ask<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    const connection = await this.#take();
    try {
      this.#setClock();
      return (await connection.client.query<Row>(text, values)).rows;
    } finally {
      this.#release(connection);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((client) => client.end()));
    if (this.#clock !== null) closeSync(this.#clock);
    this.#clock = null;
  }

  async #go(
    query: pg.QueryConfig,
    process: Process | null,
    answer: Answer,
    isSafe: boolean,
  ): Promise<void> {
    const { fault, died, froze } = this.#world;
    const suffered = isSafe
      ? null
      : fault({ process, text: query.text, values: query.values ?? [] });
    if (suffered?.fault === 'freezes before') {
      suffered.strikes(false);
      if (process !== null) froze(process);
      this.#post(query, process, answer, true);
      return;
    }
    if (suffered !== null && NOT_ARRIVED.has(suffered.fault)) {
      suffered.strikes(false);
      if (suffered.fault === 'conflict') answer.reject(conflict());
      else if (suffered.fault === 'lost before' || process === null)
        answer.reject(new Error(BROKEN));
      else died(process);
      return;
    }
    this.#count += 1;
    const connection = await this.#take();
    this.#setClock();
    if (suffered === null) {
      await this.#finish(connection, query, async (result) => {
        this.#release(connection);
        if (result instanceof Error) answer.reject(result);
        else answer.resolve(result as pg.QueryResult);
      });
      return;
    }
    await connection.client.query('BEGIN');
    if (suffered.fault === 'lost after' || suffered.fault === 'dies after')
      await this.#finish(connection, query, async (result) => {
        suffered.strikes(!(result instanceof Error) && (await this.#hasWritten(connection)));
        await this.#end(connection, result instanceof Error);
        if (suffered.fault === 'lost after' || process === null) answer.reject(new Error(BROKEN));
        else died(process);
      });
    else await this.#hold(connection, query, process, answer, suffered);
  }

  /** Runs the statement, and leaves the commit to a later step. */
  async #hold(
    connection: Connection,
    query: pg.QueryConfig,
    process: Process | null,
    answer: Answer,
    { fault, strikes }: Suffered,
  ): Promise<void> {
    const { machine, died } = this.#world;
    const { client } = connection;
    this.#holders.add(pidOf(client));
    await this.#finish(connection, query, async (result) => {
      const isFailed = result instanceof Error;
      const hasWritten = !isFailed && (await this.#hasWritten(connection));
      const before = this.#count;
      if (fault === 'held, then lost') answer.reject(new Error(BROKEN));
      const until =
        machine.now + (machine.dice.chance(HELD_LONG) ? machine.dice.between(0, 400) : 0);
      // Whoever froze meanwhile still commits: its transaction is on its way.
      machine.post({
        process: null,
        label: `${process?.name ?? '-'} commits what it held`,
        isPossible: () => machine.now >= until,
        go: async () => {
          // What others did meanwhile, they did without it, or waited for it.
          if (fault !== 'held' || this.#count > before) strikes(hasWritten);
          if (fault === 'held, then dies' && process !== null) died(process);
          // The server may have had all of it when its client died.
          const isUndone = process?.state === 'dead' && machine.dice.chance(0.5);
          this.#holders.delete(pidOf(client));
          await this.#end(connection, isUndone || isFailed);
          if (isFailed) answer.reject(result);
          else answer.resolve(result as pg.QueryResult);
          await this.#unblock();
        },
      });
    });
  }

  /** Ends the open transaction, and gives the connection back. */
  async #end(connection: Connection, isUndone: boolean): Promise<void> {
    this.#setClock();
    await connection.client.query(isUndone ? 'ROLLBACK' : 'COMMIT');
    if (isUndone) connection.moved = [];
    this.#release(connection);
  }

  /** Whether the open transaction has changed or locked a row. */
  async #hasWritten({ client }: Connection): Promise<boolean> {
    const { rows } = await client.query<{ written: boolean }>(
      'SELECT pg_current_xact_id_if_assigned() IS NOT NULL AS written',
    );
    return rows[0]?.written === true;
  }

  /** Runs the statement to its end, or until it waits itself for a lock that somebody holds. */
  async #finish(
    connection: Connection,
    query: pg.QueryConfig,
    then: (result: unknown) => Promise<void>,
  ): Promise<void> {
    const done = connection.client
      .query(query)
      .catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
    const deliver = async (): Promise<void> => {
      const result = await done;
      if (result instanceof Error) connection.moved = [];
      this.#world.machine.note(`${valuesOf(query)} ${rowsOf(result)}`);
      await then(result);
    };
    if (this.#holders.size === 0) return deliver();
    if (await this.#isBlocked(connection.client, done)) {
      this.#world.machine.log('  waits for a lock');
      this.#blocked.push({ done, connection, deliver });
    } else await deliver();
  }

  async #isBlocked(client: pg.Client, done: Promise<unknown>): Promise<boolean> {
    this.#watcher ??= (await this.#connect()).client;
    let isDone = false;
    void done.then(() => (isDone = true));
    for (;;) {
      const { rows } = await this.#watcher.query<{ pids: readonly number[] }>({
        name: 'blocking',
        text: 'SELECT pg_blocking_pids($1) AS pids',
        values: [pidOf(client)],
      });
      if (isDone) return false;
      // Any other lock is one of the server's own, and soon gone.
      if (rows[0]?.pids.some((pid) => this.#holders.has(pid)) === true) return true;
    }
  }

  /** What waited for a lock goes on, in the order in which it came, or waits for the next one. */
  async #unblock(): Promise<void> {
    const waited = this.#blocked;
    this.#blocked = [];
    for (const each of waited)
      if (await this.#isBlocked(each.connection.client, each.done)) this.#blocked.push(each);
      else await each.deliver();
  }

  async #take(): Promise<Connection> {
    return this.#free.pop() ?? (await this.#connect());
  }

  /** Its transaction is over, and what it moved is seen by others. */
  #release(connection: Connection): void {
    for (const moved of connection.moved) this.#world.moved?.(moved);
    connection.moved = [];
    this.#free.push(connection);
  }

  async #connect(): Promise<Connection> {
    const client = new pg.Client({ connectionString: this.#world.url });
    await client.connect();
    this.#all.push(client);
    const connection: Connection = { client, moved: [] };
    client.on('notice', ({ message }) => {
      const [mark, movement_id = '', node_key = '', state = ''] = (message ?? '').split(' ');
      if (mark === MOVED) connection.moved.push({ movement_id, node_key, state });
    });
    if (this.#clock === null) {
      const { rows } = await client.query<{ path: string }>(
        `SELECT current_setting('data_directory') || '/' || simulated_clock_file() AS path`,
      );
      this.#clock = openSync(rows[0]?.path ?? '', 'w');
    }
    return connection;
  }

  /** Written to a file, since a statement before each statement would cost as much as that one. */
  #setClock(): void {
    const at = this.#world.machine.now + this.skewMs;
    if (at === this.#clockSetTo || this.#clock === null) return;
    this.#clockSetTo = at;
    writeSync(this.#clock, String(at), 0);
  }
}

const MOVED = 'simulated-move';

interface Answer {
  readonly resolve: (result: pg.QueryResult) => void;
  readonly reject: (error: unknown) => void;
}

/** A number of a transaction, like a position in the server's log, tells of all its databases. */
function valuesOf({ text, values = [] }: pg.QueryConfig): string {
  return text.includes('xmin') ? '' : JSON.stringify(values);
}

function rowsOf(result: unknown): string {
  return result instanceof Error
    ? result.message
    : JSON.stringify((result as pg.QueryResult).rows)
        .replace(/"[0-9A-F]+\/[0-9A-F]+"/g, '""')
        .replace(/"xmin":"[0-9]+"/g, '"xmin":""');
}

function conflict(): Error {
  return Object.assign(new Error('could not serialize access'), { code: '40001' });
}

function pidOf(client: pg.Client): number {
  return Number(Reflect.get(client, 'processID'));
}

/**
 * The server's real clock is not the simulation's. Simulated clocks are hours apart, and sends
 * would be waited for as long: the database counts as never ahead of a process.
 */
const REAL_CLOCK = 'clock_timestamp()';
const NEVER_AHEAD = `'epoch'::timestamptz`;

/** A pool as the service knows it, over the world's connections. */
export class SimulatedPool extends pg.Pool {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    super();
    this.#statements = statements;
    const run = (query: string | pg.QueryConfig, values?: unknown[]): Promise<pg.QueryResult> => {
      const sent =
        typeof query === 'string' ? { text: query, ...(values ? { values } : {}) } : query;
      return this.#statements.run({ ...sent, text: sent.text.replace(REAL_CLOCK, NEVER_AHEAD) });
    };
    this.query = run as typeof this.query;
  }
}

/** The first words of a statement that tell it from others. */
function nameOf(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, 64);
}

/**
 * The clock and the ids of the database, read from the simulation, and records of the moves of
 * states, for the coverage, and of the order of commits, for the judges; run once in a new
 * database.
 */
export const DATABASE_SEAMS = `
  CREATE FUNCTION simulated_clock_file() RETURNS text LANGUAGE sql STABLE AS $$
    SELECT 'simulated_clock.' || current_database()
  $$;
  CREATE VIEW simulated_clock AS
    SELECT pg_read_file(simulated_clock_file())::bigint AS last_value;
  CREATE SEQUENCE simulated_ids;
  CREATE OR REPLACE FUNCTION svc_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
    SELECT to_timestamp(last_value / 1000.0) FROM simulated_clock
  $$;
  CREATE OR REPLACE FUNCTION svc_new_id(at timestamptz) RETURNS uuid LANGUAGE sql VOLATILE AS $$
    SELECT (lpad(to_hex(floor(extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7000'
      || '8' || lpad(to_hex(nextval('simulated_ids')), 15, '0'))::uuid
  $$;
  CREATE UNLOGGED TABLE simulated_moves (move text NOT NULL);
  CREATE FUNCTION simulated_move() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_TABLE_NAME = 'movements' THEN
      INSERT INTO simulated_moves
        VALUES (format('movement %s to %s', OLD.request_state, NEW.request_state));
    ELSE
      INSERT INTO simulated_moves VALUES (format('node %s to %s', OLD.state, NEW.state));
    END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER simulated_move AFTER UPDATE OF request_state ON movements FOR EACH ROW
    WHEN (OLD.request_state <> NEW.request_state) EXECUTE FUNCTION simulated_move();
  CREATE TRIGGER simulated_move AFTER UPDATE OF state ON movement_nodes FOR EACH ROW
    WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION simulated_move();
  -- What was committed, in the order of the commits: these triggers run when a transaction ends.
  CREATE SEQUENCE simulated_order;
  CREATE UNLOGGED TABLE simulated_acts (nr bigint NOT NULL, clock bigint NOT NULL,
    kind text NOT NULL, subject text NOT NULL, node_key text, attempt integer, value text NOT NULL);
  CREATE FUNCTION simulated_act() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE row jsonb := to_jsonb(NEW);
  BEGIN
    INSERT INTO simulated_acts
      SELECT nextval('simulated_order'), last_value, TG_TABLE_NAME,
        coalesce(row ->> TG_ARGV[0], ''), row ->> 'node_key', (row ->> 'attempt')::integer,
        row ->> TG_ARGV[1]
      FROM simulated_clock;
    RETURN NULL;
  END $$;
  CREATE CONSTRAINT TRIGGER simulated_act AFTER UPDATE ON movements
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.request_state <> NEW.request_state)
    EXECUTE FUNCTION simulated_act('movement_id', 'request_state');
  CREATE CONSTRAINT TRIGGER simulated_act AFTER UPDATE ON movement_nodes
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.state <> NEW.state)
    EXECUTE FUNCTION simulated_act('movement_id', 'state');
  CREATE CONSTRAINT TRIGGER simulated_act AFTER UPDATE ON cutover
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION simulated_act('id', 'mode');
  CREATE CONSTRAINT TRIGGER simulated_act AFTER INSERT OR UPDATE ON executors
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    EXECUTE FUNCTION simulated_act('executor_key', 'status');
  CREATE CONSTRAINT TRIGGER simulated_act AFTER INSERT OR UPDATE ON signers
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    EXECUTE FUNCTION simulated_act('signer_key', 'status');
  CREATE CONSTRAINT TRIGGER simulated_act AFTER INSERT OR UPDATE ON allowed_addresses
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION simulated_act('address', 'active');
`;

/** Reports each move of a node with its transaction, so that faults know where they strike. */
export const FENCE_SEAMS = `
  CREATE FUNCTION simulated_fence() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    RAISE NOTICE '${MOVED} % % %', NEW.movement_id, NEW.node_key, NEW.state;
    RETURN NULL;
  END $$;
  CREATE TRIGGER simulated_fence AFTER UPDATE OF state ON movement_nodes FOR EACH ROW
    WHEN (OLD.state <> NEW.state AND (NEW.own_plan ->> 'has_side_effect')::boolean)
    EXECUTE FUNCTION simulated_fence();
`;
