/** Which movement an idempotency key was used for. */
import type { JsonObject } from '../domain/json.ts';
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';
import { object } from './json.ts';

export interface KeyUse {
  readonly movement_id: string;
  /** The normalised request that used the key. */
  readonly request: JsonObject;
}

/** The movement that used the key within the client's scope, or null. */
export async function readKeyUse(
  db: Database,
  clientScope: string,
  key: string,
): Promise<KeyUse | null> {
  const row = await run(() =>
    db.movement.findFirst({
      where: { client_scope: clientScope, idempotency_key: key },
      select: { movement_id: true, request: true },
    }),
  );
  return row === null ? null : { movement_id: row.movement_id, request: object(row.request) };
}
