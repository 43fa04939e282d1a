/**
 * What a node's context contains about the requirements of its send (`requires` of its action
 * type).
 */
import type { PathTerms } from '../bridges/path-ready.ts';
import type { RequirementSpec } from './spec.ts';

/** Requirements that the database checks again when the node sends. */
export type RequirementKind = Exclude<RequirementSpec['kind'], 'minter'>;

export interface RequirementTerms {
  /** For a node of a bridge with paths in the bridge registry: its path. */
  readonly bridge_path?: PathTerms;
  /** For a node of the perps venue. */
  readonly perp?: PerpTerms;
  /** For a node whose prepared action names a send lane. */
  readonly send_lane?: SendLane;
  /** For a burn that only `destination_caller` may mint: the signer of the plan's own mint. */
  readonly minter?: {
    readonly signer_key: string;
    readonly address: string;
  };
}

/** Returns only the requirement terms of a context. */
export function termsIn({
  bridge_path,
  perp,
  send_lane,
  minter,
}: RequirementTerms): RequirementTerms {
  return {
    ...(bridge_path === undefined ? {} : { bridge_path }),
    ...(perp === undefined ? {} : { perp }),
    ...(send_lane === undefined ? {} : { send_lane }),
    ...(minter === undefined ? {} : { minter }),
  };
}

/** What a node's context contains about the perps venue. Addresses are in lower case. */
export interface PerpTerms {
  /** Null if this worker has no chain that a perps venue is bound to. */
  readonly venue_key: string | null;
  readonly master_address: string;
  /** The sub-account of the movement's strategy. */
  readonly sub_account_address?: string;
  /** Largest balance of the agent, in units of the venue's asset. */
  readonly max_agent_balance?: string;
  /**
   * The most that the master's own account may hold: the smallest `max_agent_balance` of the
   * strategies that use the master. Absent: none of them has a limit.
   */
  readonly account_bound?: string;
  /** Time of the service's clock, in milliseconds since 1970. */
  readonly now_ms: number;
  /**
   * For an action that is signed for the venue: the nonce of this attempt, and the first signature
   * made with that nonce.
   */
  readonly action?: { readonly nonce: number; readonly signature?: string };
}

/**
 * What is known of a send lane: a text that an executor puts into `prepared_action.send_lane` when
 * its venue stores no id of ours. Of all sends with the same text, one at a time is open.
 */
export interface SendLane {
  /** ISO 8601: when this attempt passed its fence. */
  readonly since: string;
  /** The venue's ids of all other sends of the lane, as far as they are known. */
  readonly references: readonly string[];
  /** Number of other recent sends that may have left and whose id at the venue is not known. */
  readonly unexplained: number;
}
