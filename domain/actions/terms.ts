/**
 * What a node's context says about the requirements of its send (`requires` of its action type).
 */
import type { PathTerms } from '../bridges/path-ready.ts';
import type { RequirementSpec } from './spec.ts';

/** Requirements that the database checks again when the send leaves. */
export type RequirementKind = Exclude<RequirementSpec['kind'], 'minter'>;

export interface RequirementTerms {
  /** For a node of a bridge whose paths are in the bridge registry: its path. */
  readonly bridge_path?: PathTerms;
  /** Of a node of the perps venue. */
  readonly perp?: PerpTerms;
  /** Of a burn that only `destination_caller` may mint: who signs the plan's own mint of it. */
  readonly minter?: {
    readonly signer_key: string;
    readonly address: string;
  };
}

/** The terms among the members of a context. */
export function termsIn({ bridge_path, perp, minter }: RequirementTerms): RequirementTerms {
  return {
    ...(bridge_path === undefined ? {} : { bridge_path }),
    ...(perp === undefined ? {} : { perp }),
    ...(minter === undefined ? {} : { minter }),
  };
}

/** The perps venue's part in a node's context. Addresses are in lower case. */
export interface PerpTerms {
  /** Null where no venue is bound to a chain of this worker. */
  readonly venue_key: string | null;
  readonly master_address: string;
  /** Of the movement's strategy. */
  readonly sub_account_address?: string;
  /** In units of the venue's asset. */
  readonly max_agent_balance?: string;
  /**
   * The most that the master's own account may hold: the least `max_agent_balance` of the
   * strategies that work with it. Absent: none of them has one.
   */
  readonly account_bound?: string;
  /** The service's clock, in milliseconds since 1970. */
  readonly now_ms: number;
  /**
   * For an action that is signed for the venue: the attempt's nonce, and the first signature with
   * it.
   */
  readonly action?: { readonly nonce: number; readonly signature?: string };
}
