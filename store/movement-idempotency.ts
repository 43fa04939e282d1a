/** Finds the movement for which an idempotency key or a unique reference was used. */
import type { JsonObject } from '../domain/json.ts';
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';

export interface KeyUse {
  readonly movement_id: string;
  /** The normalised request that used the key. */
  readonly request: JsonObject;
}

/** Returns the movement that used the key within the client's scope, or null. */
export async function readKeyUse(
  db: Database,
  clientScope: string,
  key: string,
): Promise<KeyUse | null> {
  const rows = await run(
    () => db.sql<KeyUse>`
      SELECT m.movement_id, joined_request(p.own_request, p.input_params, p.labels) AS request
        FROM movements m JOIN movement_plans p USING (movement_id)
        WHERE m.client_scope = ${clientScope} AND m.idempotency_key = ${key}`,
  );
  return rows[0] ?? null;
}

/** The movement that holds a unique reference. */
export interface ReferenceUse {
  readonly movement_id: string;
  /** The movement's template, which decides who may read the movement. */
  readonly holder: string;
}

/** Returns the movement that holds the reference as unique within the client's scope, or null. */
export async function readReferenceUse(
  db: Database,
  clientScope: string,
  reference: string,
): Promise<ReferenceUse | null> {
  const rows = await run(
    () => db.sql<ReferenceUse>`
      SELECT movement_id, template_key AS holder FROM movements
        WHERE unique_reference AND client_scope = ${clientScope}
          AND external_reference = ${reference}`,
  );
  return rows[0] ?? null;
}
