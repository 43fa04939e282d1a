/** Which movements a change request of the kind `movement_action` acts on. */
import { isObject } from '../json.ts';

/** A movement, and the hash of its plan when the request was made. */
export interface NamedMovement {
  readonly movement_id: string;
  readonly plan_hash: string;
}

/**
 * Returns the movements that a change request acts on, from its subject and its row before. Empty
 * for a request that acts on none; null when they cannot be read.
 */
export function namedMovements(subject: string, before: unknown): readonly NamedMovement[] | null {
  if (subject !== 'movements') return [];
  const listed: unknown = isObject(before) ? before['movements'] : undefined;
  if (!Array.isArray(listed) || listed.length === 0) return null;
  const named = listed.flatMap((each: unknown) => {
    if (!isObject(each)) return [];
    const { movement_id, plan_hash } = each;
    return typeof movement_id === 'string' && typeof plan_hash === 'string'
      ? [{ movement_id, plan_hash }]
      : [];
  });
  return named.length === listed.length ? named : null;
}
