/**
 * The other side: jobs of the hand-written workflow, started and signalled through the Temporal
 * client.
 */
import type { Client } from '@temporalio/client';
import type pg from 'pg';
import { newId } from '../../platform/ids.ts';
import {
  BASELINE_QUEUE,
  BASELINE_STEPS,
  GO,
  HAND_WRITTEN,
  type HandWritten,
} from '../baseline/messages.ts';
import { forEach } from './each.ts';
import type { Side } from './side.ts';

const NAMES: Readonly<Record<HandWritten, string>> = {
  regular: `hand-written, ${BASELINE_STEPS} regular activities`,
  careful: `hand-written with care, ${BASELINE_STEPS / 2} local and ${BASELINE_STEPS / 2} eager activities`,
};

export function handWrittenSide({
  pool,
  client,
  shape = 'regular',
}: {
  readonly pool: pg.Pool;
  readonly client: Client;
  readonly shape?: HandWritten;
}): Side {
  return {
    name: NAMES[shape],
    parts: ['postgres', 'temporal', 'baseline'],
    prepare: async (count) => {
      const ids = Array.from({ length: count }, newId);
      await pool.query('INSERT INTO bench_jobs (job_id) SELECT unnest($1::uuid[])', [ids]);
      await forEach(ids, (id) =>
        client.workflow.start(HAND_WRITTEN[shape], {
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
