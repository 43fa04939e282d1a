/**
 * What a transaction with a used nonce of a nonce lane may cost: the caps of its chain, or the caps
 * that a person raised for this lane. Signing and display both use this rule.
 */
import { compare, multiply } from '../money.ts';
import type { Actor } from '../roles.ts';

/** The caps of the venues file. */
export interface Caps {
  readonly max_gas_cost_wei: string;
  /** Null where the chain has none. */
  readonly max_fee_per_gas_gwei: string | null;
}

/** What the caps are raised to for one lane; null leaves one as it is. */
export interface RaisedCaps {
  readonly max_gas_cost_wei: string | null;
  readonly max_fee_per_gas_gwei: string | null;
}

/** A raise that holds now. */
export interface LaneRaise extends RaisedCaps {
  readonly reason: string;
  readonly raised_by: Actor;
  /** ISO 8601. */
  readonly raised_at: string;
  readonly until: string;
}

/** How many times the chain's own cap a raise may allow. */
export const MOST_RAISE = '10';

/** The larger of the chain's cap and the lane's raise, of each, within {@link mostOf}. */
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

/** Whether a raise stays within its bounds; a cap that the chain does not have cannot be raised. */
export function isWithinBounds(chain: Caps, raise: RaisedCaps): boolean {
  const within = (own: string | null, raised: string | null): boolean =>
    raised === null || (own !== null && compare(raised, mostOf(own)) <= 0);
  return (
    within(chain.max_gas_cost_wei, raise.max_gas_cost_wei) &&
    within(chain.max_fee_per_gas_gwei, raise.max_fee_per_gas_gwei)
  );
}

/** How far a cap of a chain may be raised. */
export function mostOf(own: string): string {
  return multiply(own, MOST_RAISE);
}

function larger(own: string, raised: string | null): string {
  if (raised === null || compare(raised, own) <= 0) return own;
  const most = mostOf(own);
  return compare(raised, most) > 0 ? most : raised;
}
