/** What a node's context says of what its send requires (`requires` of its action type). */
import type { PathTerms } from '../bridges/path-ready.ts';
import type { RequirementSpec } from './spec.ts';

/** What a send may require that the database has to find again when it leaves. */
export type RequirementKind = Exclude<RequirementSpec['kind'], 'minter'>;

export interface RequirementTerms {
  /** Of a node of a lane whose paths are in the bridge registry: what it says of its path. */
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

/** What the context of a node of the perps venue has of it. Addresses are in lower case. */
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
  /** Of what is signed for the venue: the attempt's nonce, and what was signed first with it. */
  readonly action?: { readonly nonce: number; readonly signature?: string };
}
