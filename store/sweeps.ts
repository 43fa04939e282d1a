/** Finds open movements whose run may not exist, and limits how often they are checked. */
import type { About } from '../domain/messages.ts';
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';

export interface Swept extends About {
  readonly movement_id: string;
}

/** A movement with the transaction that wrote its row last. */
export interface Listed extends Swept {
  readonly xmin: string;
}

/**
 * Claims movements that need a run and have not changed for `idleSeconds`. Each is claimed at most
 * once in four times that period. A movement that waits for approval is claimed only shortly before
 * its approval expires; until then its run only displays it, and {@link takeWaitingTurn} handles
 * it. One that no sweep has seen since its last command was read is of {@link listUnwoken}. A last
 * change that lies ahead is of a database clock that was set back since, so it counts as long ago.
 */
export async function claimIdle(
  db: Database,
  options: { readonly idleSeconds: number; readonly limit: number },
): Promise<readonly Swept[]> {
  const again = Math.max(options.idleSeconds, 1) * 4;
  const idle = await run(
    () => db.sql<Listed>`
      SELECT movement_id::text, asset, trim_scale(amount)::text AS amount, template_key,
        strategy_id, xmin::text
      FROM movements m WHERE m.movement_id = ANY (ARRAY(
          -- Never swept movements and swept ones are two queries, each of which reads one range of
          -- an index; a single query would scan the whole index.
          (SELECT movement_id FROM movements o
            WHERE ended_at IS NULL AND request_state <> 'PENDING_APPROVAL' AND swept_at IS NULL
              AND (updated_at <= (SELECT svc_now()) - make_interval(
              secs => ${options.idleSeconds}::double precision)
              OR updated_at > (SELECT svc_now()) + interval '10 seconds')
              AND EXISTS (SELECT FROM commands c
                WHERE c.movement_id = o.movement_id AND c.applied_at IS NULL)
            LIMIT ${options.limit})
          UNION ALL
          (SELECT movement_id FROM movements
            WHERE ended_at IS NULL AND request_state <> 'PENDING_APPROVAL'
              AND swept_at <= (SELECT svc_now()) - make_interval(
              secs => ${again}::double precision)
              AND (updated_at <= (SELECT svc_now()) - make_interval(
              secs => ${options.idleSeconds}::double precision)
              OR updated_at > (SELECT svc_now()) + interval '10 seconds')
            ORDER BY swept_at NULLS FIRST LIMIT ${options.limit})
          UNION ALL
          -- Movements that wait for approval are included only shortly before their approval
          -- expires.
          (SELECT movement_id FROM movements
            WHERE request_state = 'PENDING_APPROVAL'
              AND expires_at <= (SELECT svc_now()) + make_interval(
              secs => ${again}::double precision)
              AND (swept_at IS NULL OR swept_at <= (SELECT svc_now()) - make_interval(
              secs => ${again}::double precision))
              AND (updated_at <= (SELECT svc_now()) - make_interval(
              secs => ${options.idleSeconds}::double precision)
              OR updated_at > (SELECT svc_now()) + interval '10 seconds')
            ORDER BY expires_at LIMIT ${options.limit})))
        AND m.ended_at IS NULL
      ORDER BY m.swept_at NULLS FIRST, m.movement_id LIMIT ${options.limit}`,
  );
  const claimed = new Set(await noteSwept(db, idle));
  return idle.filter(({ movement_id }) => claimed.has(movement_id));
}

/**
 * Returns movements that have stood still for `idleSeconds`, whose commands were all read, and that
 * no sweep has seen since (`load_movement` sets `swept_at` to null). They are not claimed: a
 * process that ends before it has woken them leaves them to the next one, and two wakes do no harm.
 */
export async function listUnwoken(
  db: Database,
  options: { readonly idleSeconds: number; readonly limit: number },
): Promise<readonly Listed[]> {
  return run(
    () => db.sql<Listed>`
      SELECT movement_id::text, asset, trim_scale(amount)::text AS amount, template_key,
        strategy_id, xmin::text
      FROM movements m
      WHERE ended_at IS NULL AND request_state <> 'PENDING_APPROVAL' AND swept_at IS NULL
        AND (updated_at <= (SELECT svc_now()) - make_interval(
        secs => ${options.idleSeconds}::double precision)
        OR updated_at > (SELECT svc_now()) + interval '10 seconds')
        -- Those with open commands are woken by the relay, at its pace.
        AND NOT EXISTS (SELECT FROM commands c
          WHERE c.movement_id = m.movement_id AND c.applied_at IS NULL)
      LIMIT ${options.limit}`,
  );
}

/**
 * Notes that these were swept, and returns their ids. Leaves out one whose row is locked, or was
 * written since it was listed: a load may have read a command in between.
 */
export async function noteSwept(
  db: Database,
  listed: readonly Listed[],
): Promise<readonly string[]> {
  if (listed.length === 0) return [];
  const list = (items: readonly string[]): string => `{${items.join(',')}}`;
  const rows = await run(
    () => db.sql<{ movement_id: string }>`
      UPDATE movements SET swept_at = svc_now() WHERE movement_id IN (
        SELECT m.movement_id
        FROM unnest(${list(listed.map(({ movement_id }) => movement_id))}::uuid[],
          ${list(listed.map(({ xmin }) => xmin))}::text[]) AS l (id, writer)
        JOIN movements m ON m.movement_id = l.id AND m.xmin::text = l.writer
        ORDER BY m.movement_id FOR UPDATE OF m SKIP LOCKED)
      RETURNING movement_id::text`,
  );
  return rows.map(({ movement_id }) => movement_id);
}

/**
 * Returns the trace of the request that created the movement, as a W3C traceparent; null: it was
 * created without tracing.
 */
export async function readTraceParent(db: Database, movementId: string): Promise<string | null> {
  const [row] = await run(
    () => db.sql<{ readonly trace_parent: string | null }>`
      SELECT trace_parent FROM movement_plans WHERE movement_id = ${movementId}::uuid`,
  );
  return row?.trace_parent ?? null;
}

/** A turn: the right of one process to do a rare task now. */
export interface Turn {
  readonly turn: string;
}

/**
 * Takes the turn to check all movements that wait for approval; null while no turn is due. After a
 * turn is taken, the next one is due in `restSeconds`.
 */
export async function takeWaitingTurn(db: Database, restSeconds: number): Promise<Turn | null> {
  const [row] = await run(
    () => db.sql<Turn>`
      UPDATE turns SET turn = turn + 1,
        due_at = svc_now() + make_interval(secs => ${restSeconds}::double precision)
      WHERE name = 'sweep_waiting' AND due_at <= svc_now() RETURNING turn::text`,
  );
  return row ?? null;
}

/** Returns a failed turn, which may be taken again with its number after `againSeconds`. */
export async function returnWaitingTurn(
  db: Database,
  { turn }: Turn,
  againSeconds: number,
): Promise<void> {
  await run(
    () => db.sql`
      UPDATE turns SET turn = turn - 1,
        due_at = svc_now() + make_interval(secs => ${againSeconds}::double precision)
      WHERE name = 'sweep_waiting' AND turn = ${turn}::bigint`,
  );
}

/** The position of the last movement of a page. */
export interface WaitingPlace {
  readonly at: string;
  readonly id: string;
}

/** Some movements in order, and the position of the next page; null on the last page. */
export interface Page<Row> {
  readonly movements: readonly Row[];
  readonly next: WaitingPlace | null;
}

const BEGINNING: WaitingPlace = {
  at: '-infinity',
  id: '00000000-0000-0000-0000-000000000000',
};

/** Returns the next page of movements that wait for approval, older than `idleSeconds`. */
export async function listWaiting(
  db: Database,
  after: WaitingPlace | null,
  options: { readonly idleSeconds: number; readonly limit: number },
): Promise<Page<Swept>> {
  const { at, id } = after ?? BEGINNING;
  const rows = await run(
    () => db.sql<Swept & { readonly at: string }>`
      SELECT movement_id::text, created_at::text AS at, asset, trim_scale(amount)::text AS amount,
        template_key, strategy_id
      FROM movements WHERE request_state = 'PENDING_APPROVAL'
        AND (created_at, movement_id) > (${at}::timestamptz, ${id}::uuid)
        AND created_at <= (SELECT svc_now()) - make_interval(
        secs => ${options.idleSeconds}::double precision)
      ORDER BY created_at, movement_id LIMIT ${options.limit}::integer`,
  );
  return pageOf(rows, options.limit);
}

/** Returns how many movements have not ended: each of them should have a run. */
export async function countOpen(db: Database): Promise<number> {
  const [row] = await run(
    () => db.sql<{ readonly open: number }>`
      SELECT count(*)::integer AS open FROM movements WHERE ended_at IS NULL`,
  );
  if (row === undefined) throw new Error('the count of open movements returned no row');
  return row.open;
}

/** An open movement. */
export interface Open extends About {
  readonly movement_id: string;
  readonly state: string;
  /**
   * It waits for an approval, or at a gate while none of its nodes is at work and its run has
   * nothing to decide.
   */
  readonly waits_for_person: boolean;
}

const NEWEST: WaitingPlace = {
  at: 'infinity',
  id: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
};

/** Returns the next page of all movements that have not ended, newest first. */
export async function listOpen(
  db: Database,
  before: WaitingPlace | null,
  limit: number,
): Promise<Page<Open>> {
  const { at, id } = before ?? NEWEST;
  // The nodes at work are those that `walk` gives a runner. At an UNKNOWN one the run must still
  // change the movement's state. A BLOCKED node with a settled group of edges waits for the run's
  // decision, except for two kinds that wait for the gate as well: a post-action, and the target of
  // a cancel that no settled edge starts. A bridge's second leg goes on after a failure of another
  // node even if a gate is before it. OFFSET and HAVING keep Postgres from reading the nodes of
  // all movements at once.
  const rows = await run(
    () => db.sql<Open & { readonly at: string }>`
      SELECT movement_id::text, request_state AS state, created_at::text AS at, asset,
        trim_scale(amount)::text AS amount, template_key, strategy_id,
        request_state = 'PENDING_APPROVAL' OR request_state = 'WAITING_MANUAL_ACTION'
          AND NOT EXISTS (SELECT FROM movement_nodes n
            WHERE n.movement_id = movements.movement_id
              AND n.state IN ('READY', 'SUBMITTING', 'SUBMITTED', 'OBSERVING', 'UNKNOWN')
              AND NOT (n.node_kind = 'manual_gate' AND n.state = 'READY')
            OFFSET 0)
          AND NOT EXISTS (SELECT FROM movement_plans p
            CROSS JOIN LATERAL jsonb_array_elements(p.plan_frame -> 'edges') AS e (edge)
            JOIN movement_nodes f
              ON f.movement_id = p.movement_id AND f.node_key = e.edge ->> 'from'
            JOIN movement_nodes t
              ON t.movement_id = p.movement_id AND t.node_key = e.edge ->> 'to'
            WHERE p.movement_id = movements.movement_id AND t.state = 'BLOCKED'
              AND t.node_kind <> 'post_action' AND e.edge ->> 'edge_type' <> 'on_cancel'
            GROUP BY t.node_key, t.on_cancel_target, e.edge ->> 'join_key'
            HAVING bool_and(f.state IN ('COMPLETED', 'FAILED', 'SKIPPED', 'CANCELLED'))
              AND (NOT t.on_cancel_target OR bool_or(f.state = CASE
                WHEN e.edge ->> 'edge_type' IN ('on_failure', 'on_timeout') THEN 'FAILED'
                ELSE 'COMPLETED' END)))
          AND NOT EXISTS (SELECT FROM movement_nodes t
            JOIN movement_nodes f ON f.movement_id = t.movement_id AND f.node_key = t.brings
            JOIN movement_nodes x ON x.movement_id = t.movement_id AND x.state = 'FAILED'
            WHERE t.movement_id = movements.movement_id AND t.state = 'BLOCKED'
              AND f.state = 'COMPLETED' OFFSET 0) AS waits_for_person
      FROM movements WHERE ended_at IS NULL
        AND (created_at, movement_id) < (${at}::timestamptz, ${id}::uuid)
      ORDER BY created_at DESC, movement_id DESC LIMIT ${limit}::integer`,
  );
  return pageOf(rows, limit);
}

/** Returns the rows with the position after which the next page starts; null on the last page. */
function pageOf<Row extends { readonly movement_id: string; readonly at: string }>(
  rows: readonly Row[],
  limit: number,
): Page<Row> {
  const last = rows.at(-1);
  const isWhole = last !== undefined && rows.length === limit;
  return { movements: rows, next: isWhole ? { at: last.at, id: last.movement_id } : null };
}

/** Returns all capital transfers that have not ended; they are few. */
export async function listOpenTransfers(
  db: Database,
): Promise<readonly { readonly transfer_id: string; readonly state: string }[]> {
  return run(
    () => db.sql<{ readonly transfer_id: string; readonly state: string }>`
      SELECT transfer_id::text, request_state AS state FROM capital_transfers
      WHERE ended_at IS NULL ORDER BY transfer_id`,
  );
}
