/**
 * What a team's own worker was asked: an answer is only taken of a question that is open, under the
 * attempt and epoch and in the state in which it was put.
 */
import { randomUUID } from 'node:crypto';
import type { ExecutorPhase } from '../domain/executor.ts';
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';
import type { PhaseRow } from './phases.ts';

type AskedNode = Pick<PhaseRow, 'movement_id' | 'node_key' | 'attempt' | 'epoch' | 'state'>;

/**
 * Opens the question and closes the one of the same phase before it; null when the node has changed
 * since it was read. It is written past the node's version, since nothing is decided by it.
 */
export async function openQuestion(
  db: Database,
  phase: ExecutorPhase,
  node: AskedNode,
): Promise<string | null> {
  const id = randomUUID();
  const { attempt, epoch, state } = node;
  const question = JSON.stringify({ [phase]: { id, attempt, epoch, state } });
  const rows = await run(
    () => db.sql<{ opened: boolean }>`
      UPDATE movement_nodes SET questions = coalesce(questions, '{}') || ${question}::jsonb
      WHERE movement_id = ${node.movement_id}::uuid AND node_key = ${node.node_key}
        AND attempt = ${attempt}::integer AND submit_epoch = ${epoch}::integer AND state = ${state}
      RETURNING true AS opened`,
  );
  return rows.length === 0 ? null : id;
}

/** Whether the question is open, and the node is still as it was when it was put. */
export async function isOpenQuestion(
  db: Database,
  phase: ExecutorPhase,
  node: AskedNode,
  id: string,
): Promise<boolean> {
  const { attempt, epoch, state } = node;
  const question = JSON.stringify({ [phase]: { id, attempt, epoch, state } });
  const rows = await run(
    () => db.sql<{ open: boolean }>`
      SELECT true AS open FROM movement_nodes
      WHERE movement_id = ${node.movement_id}::uuid AND node_key = ${node.node_key}
        AND attempt = ${attempt}::integer AND submit_epoch = ${epoch}::integer AND state = ${state}
        AND questions @> ${question}::jsonb`,
  );
  return rows.length > 0;
}

/** Its answer is recorded: whoever has another one comes too late. */
export async function closeQuestion(
  db: Database,
  phase: ExecutorPhase,
  { movement_id, node_key }: Pick<PhaseRow, 'movement_id' | 'node_key'>,
  id: string,
): Promise<void> {
  await run(
    () => db.sql`
      UPDATE movement_nodes SET questions = questions - ${phase}::text
      WHERE movement_id = ${movement_id}::uuid AND node_key = ${node_key}
        AND questions -> ${phase}::text ->> 'id' = ${id}`,
  );
}

/** Whether a submit of this attempt has begun, whatever became of it. */
export async function hasBegunSubmit(
  db: Database,
  { movement_id, node_key, attempt }: Pick<PhaseRow, 'movement_id' | 'node_key' | 'attempt'>,
): Promise<boolean> {
  const rows = await run(
    () => db.sql<{ begun: boolean }>`
      SELECT true AS begun FROM timeline_events
      WHERE movement_id = ${movement_id}::uuid AND node_key = ${node_key}
        AND attempt = ${attempt}::integer AND to_state = 'SUBMITTING' LIMIT 1`,
  );
  return rows.length > 0;
}
