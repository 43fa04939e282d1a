/** Commands that no run has seen yet, and open movements whose run may be gone. */
import type { About } from '../domain/messages.ts';
import type { CommandKind } from '../domain/transition.ts';
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';

export interface DueCommand extends About {
  readonly command_id: string;
  readonly movement_id: string;
  readonly kind: CommandKind;
}

/**
 * Leases due commands, the oldest of each movement only, and counts the wake. A lease ends by
 * itself after a pause that doubles with every wake (to a minute), so a dead relay strands nothing.
 */
export async function claimCommands(db: Database, limit: number): Promise<readonly DueCommand[]> {
  return run(
    () => db.sql<DueCommand>`
      UPDATE commands SET wakes = wakes + 1,
        claimed_until = svc_now() + make_interval(secs => least(60, power(2, wakes + 1)))
      FROM movements m WHERE m.movement_id = commands.movement_id AND command_id IN (
        SELECT c.command_id FROM commands c
        -- The clock in a subquery: called for each row it would keep the index from being used.
        WHERE c.applied_at IS NULL AND c.wakes >= 0 AND c.claimed_until <= (SELECT svc_now())
          AND (SELECT true FROM commands o WHERE o.movement_id = c.movement_id
            AND o.applied_at IS NULL
            AND (o.created_at, o.command_id) < (c.created_at, c.command_id) LIMIT 1) IS NULL
        ORDER BY c.claimed_until LIMIT ${limit} FOR UPDATE SKIP LOCKED)
      RETURNING command_id::text, m.movement_id::text, kind,
        m.asset, trim_scale(m.amount)::text AS amount, m.template_key`,
  );
}

/**
 * Movements that need a run and have not moved for `idleSeconds`, each looked at once a minute at
 * most.
 */
export async function claimIdle(
  db: Database,
  options: { readonly idleSeconds: number; readonly limit: number },
): Promise<readonly (About & { readonly movement_id: string })[]> {
  return run(
    () => db.sql<About & { readonly movement_id: string }>`
      UPDATE movements SET swept_at = svc_now() WHERE movement_id IN (
        SELECT m.movement_id FROM movements m WHERE m.movement_id = ANY (ARRAY(
          -- Two ranges of one index: asked for together they would be the whole of it.
          (SELECT movement_id FROM movements
            WHERE ended_at IS NULL AND swept_at IS NULL
              AND updated_at <= (SELECT svc_now()) - make_interval(
              secs => ${options.idleSeconds}::double precision)
            LIMIT ${options.limit})
          UNION ALL
          (SELECT movement_id FROM movements
            WHERE ended_at IS NULL AND swept_at <= (SELECT svc_now()) - make_interval(
              secs => ${Math.max(options.idleSeconds, 1) * 4}::double precision)
              AND updated_at <= (SELECT svc_now()) - make_interval(
              secs => ${options.idleSeconds}::double precision)
            ORDER BY swept_at NULLS FIRST LIMIT ${options.limit})))
          AND m.ended_at IS NULL
        ORDER BY m.swept_at NULLS FIRST LIMIT ${options.limit} FOR UPDATE SKIP LOCKED)
      RETURNING movement_id::text, asset, trim_scale(amount)::text AS amount, template_key`,
  );
}
