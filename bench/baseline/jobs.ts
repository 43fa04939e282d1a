/** The one small table of the hand-written workflow. */
import type { Database } from '../../prisma/client.ts';

/** Made by the bench itself: it is no part of the service's schema. */
export const CREATE_JOBS = `
  CREATE TABLE bench_jobs (job_id uuid PRIMARY KEY, step integer NOT NULL DEFAULT 0,
    updated_at timestamptz NOT NULL DEFAULT now())`;

/** One small guarded write, through the same client as the service's. */
export async function writeStep(db: Database, jobId: string, step: number): Promise<void> {
  await db.sql`UPDATE bench_jobs SET step = ${step}, updated_at = now()
    WHERE job_id = ${jobId}::uuid AND step < ${step}`;
}
