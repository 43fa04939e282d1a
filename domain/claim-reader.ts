/**
 * Reads at its source the claim that a person names who completes a node: a payment, a message, a
 * packet or a record. What a person writes alone claims nothing.
 */
import type { JsonObject, JsonValue } from './json.ts';
import { compare, readDecimal } from './money.ts';

/** A node that a person completes, with what they say has completed it. */
export interface NamedClaim {
  readonly movement_id: string;
  readonly action_type: string;
  readonly config: JsonObject;
  readonly asset: string;
  /** Decimal string in units of the asset. */
  readonly amount: string;
  /** The output that the person states. */
  readonly output: JsonObject;
  readonly external_ref: string | null;
  readonly prepared_action: JsonObject;
  /** The output that the node itself has recorded. */
  readonly recorded: JsonObject;
  /** The node that this node names (`match_from`), once that node has completed. */
  readonly matched: {
    readonly external_ref: string | null;
    readonly output: JsonObject | null;
  } | null;
  /** The address that the node sends from; null: no signer is bound, or the node sends nothing. */
  readonly from: string | null;
}

/** Why the source does not prove the claim. */
type UnprovenClaim = 'not_found' | 'not_final' | 'failed' | 'differs' | 'endpoints_differ';

export type ReadClaim =
  /** Fields of the node's output, as the source shows them. */
  | { readonly ok: true; readonly output: JsonObject }
  | {
      readonly ok: false;
      readonly reason: UnprovenClaim;
      readonly problem: string;
      /** What the source shows in place of what was named. */
      readonly found?: JsonObject;
    };

export interface ClaimReader {
  readonly action_types: readonly string[];
  /**
   * The venues whose credentials the reader needs; only a worker has these. Null: it needs none,
   * and every process may read.
   */
  readonly venues: readonly string[] | null;
  /** @throws ExecutorFault if the source does not answer, or is not bound here. */
  read(named: NamedClaim, signal: AbortSignal): Promise<ReadClaim>;
}

/** Returns that the source does not prove the claim. */
export function unprovenClaim(
  reason: UnprovenClaim,
  problem: string,
  found?: JsonObject,
): Extract<ReadClaim, { readonly ok: false }> {
  return { ok: false, reason, problem, ...(found === undefined ? {} : { found }) };
}

/**
 * Returns the fields in which the source shows another value than a person states; empty if it
 * agrees with all that the person states.
 */
export function differingFields(stated: JsonObject, shown: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(shown).filter(([field, value]) => {
      const said = stated[field];
      return said !== undefined && !isSame(said, value);
    }),
  );
}

/** Compares amounts by their value, and texts without regard to case. */
function isSame(one: JsonValue, other: JsonValue): boolean {
  if (typeof one === 'string' && typeof other === 'string') {
    const [a, b] = [readDecimal(one), readDecimal(other)];
    if (a !== null && b !== null) return compare(a, b) === 0;
    return one.toLowerCase() === other.toLowerCase();
  }
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return one === other;
  const fields = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...fields].every((field) => {
    const [a, b] = [(one as JsonObject)[field], (other as JsonObject)[field]];
    return a !== undefined && b !== undefined && isSame(a, b);
  });
}
