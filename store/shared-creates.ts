/** Creates of movements that share one statement, and so one transaction and one commit. */
import type { JsonObject } from '../domain/json.ts';
import type { MovementHead } from '../domain/transition.ts';
import type { Database } from '../prisma/client.ts';
import { databaseFault, mayBeWritten, sqlState } from './faults.ts';
import { shared } from './shared-reads.ts';

/** Maximum number of statements at the same time, and of creates in one statement. */
const CREATES = { calls: 4, most: 8 };
/** Characters of the largest document that shares: a statement has at most 256 thousand. */
const LARGEST = 32_000;
/** SQLSTATE of Postgres: the statement took too long, which may be due to another create. */
const QUERY_CANCELED = '57014';
/** SQLSTATE of Postgres: a lock was not free within the statement's limit for locks. */
const LOCK_NOT_AVAILABLE = '55P03';

/** What `create_movement` returns. */
export interface CreateAnswer {
  readonly created: boolean;
  readonly movement_id: string;
  readonly request?: JsonObject;
  readonly holder?: string;
  readonly created_at?: string;
  readonly expires_at?: string;
  readonly approved?: Pick<
    MovementHead,
    'request_state' | 'approval_status' | 'reservation_status'
  >;
  readonly auto_approve_result?: JsonObject;
}

/** The rows that one create returns: exactly one. */
export type CreateRows = { answer: CreateAnswer }[];

/** What decides whether a create shares, and its place in the statement. */
interface CreateFacts {
  readonly client_scope: string;
  readonly idempotency_key: string | null;
  readonly unique_reference?: boolean;
  readonly created_by: JsonObject;
}

interface Create {
  readonly doc: string;
  /** Different for different idempotency keys. */
  readonly order: string;
}

/**
 * Returns the call of `create_movement` for one create. Its first use may share a statement; a
 * later use, after a deadlock, goes alone.
 */
export function createCall(db: Database, facts: CreateFacts): (doc: string) => Promise<CreateRows> {
  const order = JSON.stringify([facts.client_scope, facts.idempotency_key]);
  let shares = mayShare(facts);
  return async (doc) => {
    if (!shares || doc.length > LARGEST) return createAlone(db, doc);
    shares = false;
    return (await createShared(db, { doc, order })) ?? createAlone(db, doc);
  };
}

/**
 * A statement takes the locks of its creates in the order of their idempotency keys, so that no two
 * statements wait for each other. No order fits a create with a second such lock: that of an
 * agent's authority, or a unique reference.
 */
function mayShare({ created_by, unique_reference }: CreateFacts): boolean {
  return created_by['role'] !== 'agent' && unique_reference !== true;
}

function createAlone(db: Database, doc: string): Promise<CreateRows> {
  return db.sql<{ answer: CreateAnswer }>`SELECT create_movement(${doc}::jsonb) AS answer`;
}

/** Returns null for a create that was not written here and must go alone. */
const createShared = shared<Create, CreateRows | null>(createAll, CREATES);

async function createAll(
  db: Database,
  creates: readonly Create[],
): Promise<readonly (CreateRows | null)[]> {
  const sorted = [...creates].sort((a, b) => (a.order < b.order ? -1 : Number(a.order > b.order)));
  const docs = `[${sorted.map(({ doc }) => doc).join(',')}]`;
  try {
    // The function is called in the order of the inner subquery's rows, and those are read once the
    // limit for each lock is set. The limit ends with the statement, as its transaction does.
    const rows = await db.sql<{ answer: CreateAnswer; nr: number }>`
      SELECT create_movement(d.value) AS answer, d.nr
      FROM (SELECT set_config('lock_timeout', '500ms', true) AS time_limit OFFSET 0) AS locks
      CROSS JOIN LATERAL (
        SELECT e.value, e.nr::integer AS nr
        FROM jsonb_array_elements(${docs}::jsonb) WITH ORDINALITY AS e (value, nr)
        WHERE locks.time_limit IS NOT NULL ORDER BY e.nr
      ) AS d`;
    return creates.map((create) => rows.filter(({ nr }) => sorted[nr - 1] === create));
  } catch (error) {
    // Perhaps it was written: each create looks up its own movement. Or no connection was free or
    // the database is away: alone, each would wait as long for the same error.
    if (mayBeWritten(error) || failsAlone(error)) throw error;
    // Nothing was written. The error of a create that came alone is its own.
    if (creates.length === 1 && sqlState(error) !== LOCK_NOT_AVAILABLE) throw error;
    // Another create may be the cause, or a lock. Who needs the lock waits for it outside of the
    // few statements that are shared: four such waits in them would stop all creates.
    return creates.map(() => null);
  }
}

/** Returns whether no connection is free or the database is away, for one create as for several. */
function failsAlone(error: unknown): boolean {
  const fault = databaseFault(error);
  return fault === 'busy' || (fault === 'unreachable' && sqlState(error) !== QUERY_CANCELED);
}
