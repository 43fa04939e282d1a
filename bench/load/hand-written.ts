/**
 * The other side: jobs of the hand-written workflow, started and signalled through the Temporal
 * client.
 */
import type { Client } from '@temporalio/client';
import type pg from 'pg';
import { newId } from '../../platform/ids.ts';
import { BASELINE_QUEUE, BASELINE_STEPS, BASELINE_WORKFLOW, GO } from '../baseline/messages.ts';
import { forEach } from './each.ts';
import type { Side } from './side.ts';

export function handWrittenSide({
  pool,
  client,
}: {
  readonly pool: pg.Pool;
  readonly client: Client;
}): Side {
  return {
    name: `hand-written, ${BASELINE_STEPS} regular activities`,
    parts: ['postgres', 'temporal', 'baseline'],
    prepare: async (count) => {
      const ids = Array.from({ length: count }, newId);
      await pool.query('INSERT INTO bench_jobs (job_id) SELECT unnest($1::uuid[])', [ids]);
      await forEach(ids, (id) =>
        client.workflow.start(BASELINE_WORKFLOW, {
          workflowId: baselineWorkflowId(id),
          taskQueue: BASELINE_QUEUE,
          args: [id],
        }),
      );
      return ids;
    },
    tell: (id) => client.workflow.getHandle(baselineWorkflowId(id)).signal(GO),
    done: async (ids) => {
      const { rows } = await pool.query<{ count: number }>(
        'SELECT count(*)::int AS count FROM bench_jobs WHERE job_id = ANY ($1::uuid[]) AND step = $2',
        [ids, BASELINE_STEPS],
      );
      return rows[0]?.count ?? 0;
    },
    closed: async (id) => void (await client.workflow.getHandle(baselineWorkflowId(id)).result()),
  };
}

export function baselineWorkflowId(jobId: string): string {
  return `bench/${jobId}`;
}
