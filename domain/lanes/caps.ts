/**
 * The caps on the cost of a transaction that is signed with a nonce for which another transaction
 * was signed before: the chain's caps, or the caps that an operator raised for this nonce lane.
 * Signing and display both use this rule.
 */
import { compare, multiply } from '../money.ts';
import type { Actor } from '../roles.ts';

/** A chain's caps in the venues file. */
export interface Caps {
  readonly max_gas_cost_wei: string;
  /** Null when the chain has no such cap. */
  readonly max_fee_per_gas_gwei: string | null;
}

/** The raised caps of one nonce lane; null leaves a cap unchanged. */
export interface RaisedCaps {
  readonly max_gas_cost_wei: string | null;
  readonly max_fee_per_gas_gwei: string | null;
}

/** A raise that is in force now. */
export interface LaneRaise extends RaisedCaps {
  readonly reason: string;
  readonly raised_by: Actor;
  /** ISO 8601. */
  readonly raised_at: string;
  readonly until: string;
}

/** How many times the chain's cap a raised cap may be. */
export const MOST_RAISE = '10';

/** Returns for each cap the larger of the chain's and the lane's value, at most {@link mostOf}. */
export function capsInForce(chain: Caps, raise: RaisedCaps | null): Caps {
  const { max_gas_cost_wei, max_fee_per_gas_gwei } = chain;
  return {
    max_gas_cost_wei: larger(max_gas_cost_wei, raise?.max_gas_cost_wei ?? null),
    max_fee_per_gas_gwei:
      max_fee_per_gas_gwei === null
        ? null
        : larger(max_fee_per_gas_gwei, raise?.max_fee_per_gas_gwei ?? null),
  };
}

/**
 * Returns whether a raise stays within its bounds. A cap that the chain does not have cannot be
 * raised.
 */
export function isWithinBounds(chain: Caps, raise: RaisedCaps): boolean {
  const within = (own: string | null, raised: string | null): boolean =>
    raised === null || (own !== null && compare(raised, mostOf(own)) <= 0);
  return (
    within(chain.max_gas_cost_wei, raise.max_gas_cost_wei) &&
    within(chain.max_fee_per_gas_gwei, raise.max_fee_per_gas_gwei)
  );
}

/** Returns the largest value to which a chain's cap may be raised. */
export function mostOf(own: string): string {
  return multiply(own, MOST_RAISE);
}

function larger(own: string, raised: string | null): string {
  if (raised === null || compare(raised, own) <= 0) return own;
  const most = mostOf(own);
  return compare(raised, most) > 0 ? most : raised;
}
