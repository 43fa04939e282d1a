/**
 * The database of a world: a real Postgres, whose statements are steps of the machine. A statement
 * can fail before or after its effect, end with its process, and be held open, so that others wait
 * for its locks.
 */
import pg from 'pg';
import { inProcess, type Machine, type Process } from './machine.ts';

/** What befalls a statement. */
export type StatementFault =
  | 'lost before' // the connection breaks, and the statement has not arrived
  | 'lost after' // the connection breaks, and the statement has been carried out
  | 'conflict' // a serialization failure: nothing is written
  | 'dies before' // the process ends, and the statement has not arrived
  | 'dies after' // the process ends, and the statement has been carried out
  | 'held' // the transaction stays open while others go on
  | 'held, then lost' // and its answer is lost before it commits
  | 'held, then dies'; // and its process ends before the commit

export interface Statement {
  readonly process: Process | null;
  readonly text: string;
}

interface Blocked {
  readonly done: Promise<unknown>;
  readonly client: pg.Client;
  readonly deliver: () => Promise<void>;
}

export interface DatabaseWorld {
  readonly machine: Machine;
  readonly url: string;
  /** What happens to this statement; null: nothing. */
  readonly fault: (statement: Statement) => StatementFault | null;
  /** The process has died in the middle of a statement. */
  readonly died: (process: Process) => void;
}

/** So often a statement is held for up to 400 ms, in which others' requests are answered. */
const HELD_LONG = 0.3;
const BROKEN = 'Connection terminated unexpectedly';

/** All connections of all processes of a world. */
export class Statements {
  readonly #world: DatabaseWorld;
  readonly #free: pg.Client[] = [];
  readonly #all: pg.Client[] = [];
  #watcher: pg.Client | null = null;
  #blocked: Blocked[] = [];
  /** The servers' process ids of the connections with an open transaction. */
  readonly #holders = new Set<number>();
  #clockSetTo = -1;
  /** What the clock of the database is ahead of the true time, in milliseconds. */
  skewMs = 0;

  constructor(world: DatabaseWorld) {
    this.#world = world;
  }

  /** Runs a statement of the calling process, in its turn. */
  run(query: pg.QueryConfig): Promise<pg.QueryResult> {
    const { machine } = this.#world;
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
      machine.post({
        process,
        label: `sql ${nameOf(query.text)}`,
        // Of two that wait for locks, Postgres would decide which goes on first.
        isPossible: () => this.#blocked.length === 0,
        go: () => this.#go(query, process, answer),
      });
    });
  }

  /** Runs a statement of the simulation itself, at once. */
  async ask<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    const client = await this.#take();
    try {
      await this.#setClock(client);
      return (await client.query<Row>(text, values)).rows;
    } finally {
      this.#free.push(client);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((client) => client.end()));
  }

  async #go(query: pg.QueryConfig, process: Process | null, answer: Answer): Promise<void> {
    const { fault, died } = this.#world;
    const suffered = fault({ process, text: query.text });
    if (suffered === 'dies before' && process !== null) return died(process);
    if (suffered === 'lost before') return answer.reject(new Error(BROKEN));
    if (suffered === 'conflict')
      return answer.reject(
        Object.assign(new Error('could not serialize access'), { code: '40001' }),
      );
    const client = await this.#take();
    await this.#setClock(client);
    if (suffered === 'held' || suffered === 'held, then lost' || suffered === 'held, then dies') {
      await this.#hold(client, query, process, answer, suffered);
      return;
    }
    await this.#finish(client, query, async (result) => {
      this.#free.push(client);
      if (suffered === 'dies after' && process !== null) died(process);
      else if (suffered === 'lost after') answer.reject(new Error(BROKEN));
      else if (result instanceof Error) answer.reject(result);
      else answer.resolve(result as pg.QueryResult);
    });
  }

  /** Begins, runs the statement, and leaves the commit to a later step. */
  async #hold(
    client: pg.Client,
    query: pg.QueryConfig,
    process: Process | null,
    answer: Answer,
    how: 'held' | 'held, then lost' | 'held, then dies',
  ): Promise<void> {
    const { machine, died } = this.#world;
    await client.query('BEGIN');
    this.#holders.add(pidOf(client));
    await this.#finish(client, query, async (result) => {
      const isFailed = result instanceof Error;
      if (how === 'held, then lost') answer.reject(new Error(BROKEN));
      const until =
        machine.now + (machine.dice.chance(HELD_LONG) ? machine.dice.between(0, 400) : 0);
      // Whoever froze meanwhile still commits: its transaction is on its way.
      machine.post({
        process: null,
        label: `${process?.name ?? '-'} commits what it held`,
        isPossible: () => machine.now >= until,
        go: async () => {
          if (how === 'held, then dies' && process !== null) died(process);
          // The server may have had all of it when its client died.
          const isUndone = process?.state === 'dead' && machine.dice.chance(0.5);
          await client.query(isUndone || isFailed ? 'ROLLBACK' : 'COMMIT');
          this.#holders.delete(pidOf(client));
          this.#free.push(client);
          if (isFailed) answer.reject(result);
          else answer.resolve(result as pg.QueryResult);
          await this.#unblock();
        },
      });
    });
  }

  /** Runs the statement to its end, or until it waits itself for a lock that somebody holds. */
  async #finish(
    client: pg.Client,
    query: pg.QueryConfig,
    then: (result: unknown) => Promise<void>,
  ): Promise<void> {
    const done = client
      .query(query)
      .catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
    const deliver = async (): Promise<void> => {
      const result = await done;
      this.#world.machine.note(`${JSON.stringify(query.values ?? [])} ${rowsOf(result)}`);
      await then(result);
    };
    if (this.#holders.size === 0) return deliver();
    if (await this.#isBlocked(client, done)) {
      this.#world.machine.log('  waits for a lock');
      this.#blocked.push({ done, client, deliver });
    } else await deliver();
  }

  async #isBlocked(client: pg.Client, done: Promise<unknown>): Promise<boolean> {
    this.#watcher ??= await this.#connect();
    let isDone = false;
    void done.then(() => (isDone = true));
    for (;;) {
      const { rows } = await this.#watcher.query<{ pids: readonly number[] }>(
        'SELECT pg_blocking_pids($1) AS pids',
        [pidOf(client)],
      );
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
      if (await this.#isBlocked(each.client, each.done)) this.#blocked.push(each);
      else await each.deliver();
  }

  async #take(): Promise<pg.Client> {
    return this.#free.pop() ?? (await this.#connect());
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.#world.url });
    await client.connect();
    this.#all.push(client);
    return client;
  }

  async #setClock(client: pg.Client): Promise<void> {
    const at = this.#world.machine.now + this.skewMs;
    if (at === this.#clockSetTo) return;
    this.#clockSetTo = at;
    await client.query({
      name: 'clock',
      text: "SELECT setval('simulated_clock', $1::bigint)",
      values: [at],
    });
  }
}

interface Answer {
  readonly resolve: (result: pg.QueryResult) => void;
  readonly reject: (error: unknown) => void;
}

function rowsOf(result: unknown): string {
  return result instanceof Error
    ? result.message
    : // A position in the log of the server tells of all its databases.
      JSON.stringify((result as pg.QueryResult).rows).replace(/"[0-9A-F]+\/[0-9A-F]+"/g, '""');
}

function pidOf(client: pg.Client): number {
  return Number(Reflect.get(client, 'processID'));
}

/** A pool as the service knows it, over the world's connections. */
export class SimulatedPool extends pg.Pool {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    super();
    this.#statements = statements;
    const run = (query: string | pg.QueryConfig, values?: unknown[]): Promise<pg.QueryResult> =>
      this.#statements.run(
        typeof query === 'string' ? { text: query, ...(values ? { values } : {}) } : query,
      );
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
  CREATE SEQUENCE simulated_clock;
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
