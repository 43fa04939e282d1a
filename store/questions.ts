/**
 * Open questions to executor teams' own workers. An answer is accepted only for an open question,
 * and only while the node has the attempt, epoch and state with which the question was opened.
 */
import { randomUUID } from 'node:crypto';
import type { ExecutorPhase } from '../domain/executor.ts';
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';
import type { PhaseRow } from './phases.ts';

type NodeAttempt = Pick<PhaseRow, 'movement_id' | 'node_key' | 'attempt' | 'epoch' | 'state'>;

/**
 * Opens a question and closes the phase's earlier question; null when the node has changed since it
 * was read. The node's version stays unchanged, because a question decides nothing.
 */
export async function openQuestion(
  db: Database,
  phase: ExecutorPhase,
  node: NodeAttempt,
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

/** Returns whether the question is open and the node has not changed since it was opened. */
export async function isOpenQuestion(
  db: Database,
  phase: ExecutorPhase,
  node: NodeAttempt,
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

/** Closes a question whose answer is recorded, so that no other answer is accepted. */
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

/** Returns whether a submit of this attempt has started. */
export async function hasStartedSubmit(
  db: Database,
  { movement_id, node_key, attempt }: Pick<PhaseRow, 'movement_id' | 'node_key' | 'attempt'>,
): Promise<boolean> {
  const rows = await run(
    () => db.sql<{ started: boolean }>`
      SELECT true AS started FROM timeline_events
      WHERE movement_id = ${movement_id}::uuid AND node_key = ${node_key}
        AND attempt = ${attempt}::integer AND to_state = 'SUBMITTING' LIMIT 1`,
  );
  return rows.length > 0;
}
