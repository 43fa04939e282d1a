/** Commands that no run has seen yet, and which process may send them to Temporal. */
import type { About } from '../domain/messages.ts';
import type { CommandKind } from '../domain/transition.ts';
import { newId } from '../platform/ids.ts';
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';

export interface DueCommand extends About {
  readonly command_id: string;
  readonly movement_id: string;
  readonly kind: CommandKind;
  /** The trace of the request that created the movement, as a W3C traceparent; null: none. */
  readonly trace_parent: string | null;
  readonly waited_seconds: number;
}

/**
 * Leases due commands, for each movement only the oldest, and counts each lease as a wake. A lease
 * lasts twice as long with every wake (up to a minute), and at least as long as the waiting
 * commands need (up to ten minutes). It ends by itself: a relay that stops blocks no command, and a
 * burst of commands is not sent twice.
 */
export async function claimCommands(db: Database, limit: number): Promise<readonly DueCommand[]> {
  return run(
    () => db.sql<DueCommand>`
      UPDATE commands SET wakes = wakes + 1,
        claimed_until = svc_now() + command_lease(wakes + 1, false, (SELECT command_backlog()))
      FROM movements m WHERE m.movement_id = commands.movement_id AND command_id IN (
        SELECT c.command_id FROM commands c
        -- The subquery calls svc_now() once; a call for each row would keep Postgres from using the
        -- index.
        WHERE c.applied_at IS NULL AND c.wakes >= 0 AND c.claimed_until <= (SELECT svc_now())
          AND (SELECT true FROM commands o WHERE o.movement_id = c.movement_id
            AND o.applied_at IS NULL
            AND (o.created_at, o.command_id) < (c.created_at, c.command_id) LIMIT 1) IS NULL
        ORDER BY c.claimed_until LIMIT ${limit} FOR UPDATE SKIP LOCKED)
      RETURNING command_id::text, m.movement_id::text, kind,
        m.asset, trim_scale(m.amount)::text AS amount, m.template_key, m.strategy_id,
        extract(epoch FROM (SELECT svc_now()) - commands.created_at)::double precision
          AS waited_seconds,
        (SELECT p.trace_parent FROM movement_plans p
          WHERE p.movement_id = m.movement_id) AS trace_parent`,
  );
}

/**
 * Leases for `seconds` the commands that this process sends itself, so that no relay sends them.
 * Returns those that it still has to send: neither applied nor taken by a relay.
 */
export async function keepCommands(
  db: Database,
  commandIds: readonly string[],
  seconds: number,
): Promise<readonly string[]> {
  const rows = await run(
    () => db.sql<{ command_id: string }>`
      UPDATE commands SET claimed_until = greatest(claimed_until,
        svc_now() + make_interval(secs => ${seconds}::double precision))
      WHERE command_id = ANY (${`{${commandIds.join(',')}}`}::uuid[])
        AND applied_at IS NULL AND wakes = 0
      RETURNING command_id::text`,
  );
  return rows.map(({ command_id }) => command_id);
}

/**
 * Records that Temporal has taken these commands, so that they are not sent again before their runs
 * had time to load them. This includes earlier commands of the same movements, since one load reads
 * all of them. A lease never becomes shorter.
 */
export async function noteTaken(db: Database, commandIds: readonly string[]): Promise<void> {
  await run(
    () => db.sql`
      UPDATE commands c SET claimed_until = greatest(c.claimed_until,
        svc_now() + command_lease(c.wakes, true, (SELECT command_backlog())))
      FROM commands taken WHERE taken.command_id = ANY (${`{${commandIds.join(',')}}`}::uuid[])
        AND c.movement_id = taken.movement_id AND c.created_at <= taken.created_at
        AND c.applied_at IS NULL`,
  );
}

/**
 * Stores a wake of an open movement. The relay sends it until a run has loaded the movement, and
 * starts a run where there is none. Not before two seconds, so that a run that is about to close
 * has closed. A second wake does no harm.
 */
export async function writeWake(db: Database, movementId: string): Promise<void> {
  await run(
    () => db.sql`
      INSERT INTO commands (command_id, movement_id, kind, created_at, claimed_until)
      SELECT ${newId()}::uuid, movement_id, 'wake', clock.at, clock.at + interval '2 seconds'
      FROM movements, (SELECT svc_now() AS at OFFSET 0) clock
      WHERE movement_id = ${movementId}::uuid AND ended_at IS NULL`,
  );
}
