/** The service's side: movements of one template, created and approved through the API. */
import type { Client } from '@temporalio/client';
import type pg from 'pg';
import { movementWorkflowId } from '../../domain/messages.ts';
import { until } from '../until.ts';
import type { ProcessName } from '../parts.ts';
import type { PartName } from '../stack.ts';
import type { TemplateBody } from '../templates.ts';
import type { BenchApi, CreatedMovement } from './api.ts';
import { forEach } from './each.ts';
import type { Side } from './side.ts';

export interface MovementSide extends Side {
  /** Ends movements that wait, by rejecting them. */
  clear(ids: readonly string[]): Promise<void>;
  /** Movements that somebody else created, so that this side may tell and clear them. */
  adopt(made: readonly CreatedMovement[]): void;
}

export interface MovementSideOptions {
  readonly api: BenchApi;
  readonly pool: pg.Pool;
  readonly client: Client;
  readonly template: TemplateBody;
  /** Processes that work for it beside the service's own. */
  readonly besides?: readonly ProcessName[];
}

export function movementSide({
  api,
  pool,
  client,
  template,
  besides = [],
}: MovementSideOptions): MovementSide {
  const created = new Map<string, CreatedMovement>();
  const known = (id: string): CreatedMovement => {
    const movement = created.get(id);
    if (movement === undefined) throw new Error(`movement ${id} was not created here`);
    return movement;
  };
  const parts: PartName[] = ['postgres', 'temporal', 'worker', 'api', ...besides];
  return {
    name: template.template_key,
    parts,
    prepare: async (count) => {
      const made = await forEach([...Array(count).keys()], () => api.create(template));
      for (const movement of made) created.set(movement.movement_id, movement);
      await allSeen(pool);
      return made.map((movement) => movement.movement_id);
    },
    tell: (id) => api.approve(known(id)),
    done: async (ids) => {
      const { rows } = await pool.query<{ state: string; count: number }>(
        'SELECT request_state AS state, count(*)::int AS count FROM movements WHERE movement_id = ANY ($1::uuid[]) AND ended_at IS NOT NULL GROUP BY 1',
        [ids],
      );
      const failed = rows.find((row) => row.state !== 'COMPLETED');
      if (failed !== undefined)
        throw new Error(
          `${failed.count} movements of ${template.template_key} ended ${failed.state}`,
        );
      return rows[0]?.count ?? 0;
    },
    closed: async (id) => void (await client.workflow.getHandle(movementWorkflowId(id)).result()),
    adopt: (made) => {
      for (const movement of made) created.set(movement.movement_id, movement);
    },
    clear: async (ids) => {
      await forEach(ids, (id) => api.reject(known(id)));
      await allSeen(pool);
    },
  };
}

/** Every command was seen by a run: the movements' runs wait, or have ended. */
export async function allSeen(pool: pg.Pool): Promise<void> {
  await until(
    async () => {
      const { rows } = await pool.query<{ left: number }>(
        'SELECT count(*)::int AS left FROM commands WHERE applied_at IS NULL',
      );
      return rows[0]?.left === 0;
    },
    { everyMs: 100, limitMs: 600_000, what: 'the runs to see every command' },
  );
}
