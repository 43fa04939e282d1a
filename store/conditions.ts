/** Reads the data that the conditions of a movement may use. */
import type { ConditionNode } from '../domain/conditions/scope.ts';
import type { GraphEdge } from '../domain/graph/types.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Intent } from '../domain/plan/types.ts';
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';

/** The plan's edges, the intent, and every node's outcome so far. */
export interface ConditionScope {
  readonly edges: readonly GraphEdge[];
  readonly intent: Intent;
  readonly input_params: JsonObject;
  readonly nodes: Readonly<Record<string, ConditionNode>>;
}

/**
 * Returns the data of conditions, before a node with conditions on its outgoing edges is settled.
 * Throws when the movement does not exist.
 */
export async function readConditionScope(
  db: Database,
  movementId: string,
): Promise<ConditionScope> {
  const rows = await run(
    () =>
      db.sql<{
        answer: ConditionScope | null;
      }>`SELECT read_condition_scope(${movementId}::uuid) AS answer`,
  );
  const scope = rows[0]?.answer;
  if (scope == null) throw new Error(`no movement ${movementId}`);
  return scope;
}
